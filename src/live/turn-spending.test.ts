import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { addUsage, contextSize, NO_USAGE, type MessageFact, type Usage } from '#model'
import { runs } from '#testing'
import { createTurnSpending } from './turn-spending.ts'

const figure = fc.nat(5_000)
const usage: fc.Arbitrary<Usage> = fc
  .tuple(figure, figure, figure, figure, figure)
  .map(([input, output, cacheRead, cacheCreation5m, cacheCreation1h]) => ({
    input,
    output,
    cacheRead,
    cacheCreation: cacheCreation5m + cacheCreation1h,
    cacheCreation5m,
    cacheCreation1h,
  }))
const roles = fc.array(fc.constantFrom<MessageFact['role']>('person', 'agent', 'tool'), { maxLength: 8 })

test('[LVS36] what is billed to the messages of a turn is what the turn took, and the last of them fills the window', () => {
  fc.assert(
    fc.property(usage, roles, fc.option(fc.nat(10_000), { nil: undefined }), (took, said, used) => {
      const spending = createTurnSpending()
      for (const [at, role] of said.entries())
        spending.hear({ kind: 'message', id: `m${at}`, role, blocks: [] })
      const context = used === undefined ? {} : { context: { used } }
      const billed = spending.end({ kind: 'answered', usage: took, model: 'm', ...context })
      const agents = said.flatMap((role, at) => (role === 'agent' ? [`m${at}`] : []))
      expect(billed.length === 0).toBe(agents.length === 0)
      if (agents.length === 0) return
      expect(billed.reduce((sum, each) => addUsage(sum, each.usage), NO_USAGE)).toEqual(
        addUsage(NO_USAGE, took),
      )
      expect(billed.at(-1)?.messageId).toBe(agents.at(-1))
      expect(new Set(billed.map(({ messageId }) => messageId)).size).toBe(billed.length)
      const last = billed.at(-1)?.usage ?? NO_USAGE
      if (billed.length === 2 && used !== undefined)
        expect(contextSize(last)).toBe(Math.min(used, contextSize(took)))
      // The next turn begins with nothing.
      expect(spending.end({ kind: 'answered', usage: took })).toEqual([])
    }),
    runs(200),
  )
})
