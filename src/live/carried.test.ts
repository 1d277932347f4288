import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { SessionFact } from '#model'
import { runs } from '#testing'
import { carry, carryFact } from './carried.ts'

const LIMIT = 40_000
const note = (bytes: number): string => `[${bytes} left out]`

test('[LVS34] whatever is carried fits, and what is left out is counted and said', () => {
  fc.assert(
    fc.property(
      fc.jsonValue({ maxDepth: 3 }),
      fc.array(fc.tuple(fc.constantFrom('x', 'é', '\u{0}', '€', '😀'), fc.nat(60_000)), { maxLength: 4 }),
      (value, texts) => {
        const given = { kind: 'message', value, blocks: texts.map(([one, times]) => one.repeat(times)) }
        const { value: carried, left } = carry(given, LIMIT, note)
        const size = (some: unknown): number => Buffer.byteLength(JSON.stringify(some))
        expect(size(carried)).toBeLessThanOrEqual(Math.max(LIMIT, size({ ...given, blocks: [] })))
        if (size(given) <= LIMIT) expect([carried, left]).toEqual([given, 0])
        else expect([left > 0, JSON.stringify(carried)]).toEqual([true, expect.stringContaining('left out')])
      },
    ),
    runs(100),
  )
})

test('[LVS34] a fact keeps what it is: who said it, what it answers, and every short text', () => {
  const fact: SessionFact = {
    kind: 'message',
    id: 'm1',
    role: 'tool',
    blocks: [
      {
        kind: 'tool-result',
        toolUseId: 't1',
        content: [{ kind: 'text', text: 'y'.repeat(41_943_040) }],
        isError: false,
      },
      { kind: 'text', text: 'short' },
    ],
  }
  const { value, left } = carryFact(fact)
  const text = `${'y'.repeat(524_288)}…\n[41418752 bytes are not shown here; they are in the transcript]`
  expect(left).toBe(41_418_752)
  expect(value).toEqual({
    ...fact,
    blocks: [
      { kind: 'tool-result', toolUseId: 't1', content: [{ kind: 'text', text }], isError: false },
      { kind: 'text', text: 'short' },
    ],
  })
  const many: SessionFact = { kind: 'unknown', value: Array.from({ length: 3_000_000 }, (_, n) => n) }
  expect(carryFact(many).value).toMatchObject({ kind: 'unknown' })
  expect(JSON.stringify(carryFact(many).value).length).toBeLessThan(8 * 1024 * 1024)
})
