import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isObject, type JsonObject } from '#base'
import { TARGETS } from '#model'
import { anyConversation, findAnthropicFaults, readLines, runs, toAnyLines, type AnyMessage } from '#testing'
import { findTroubles } from './check.ts'
import { restore } from '../restore.ts'

/** What happens to one block: a field goes or has another value, or the block is no object any more. */
const harm = fc.oneof(
  fc.record({ kind: fc.constant('without' as const), key: fc.nat() }),
  fc.record({
    kind: fc.constant('other' as const),
    key: fc.nat(),
    value: fc.constantFrom<unknown>(null, 42, '', 'words', [], {}, true),
  }),
  fc.record({
    kind: fc.constant('bare' as const),
    value: fc.constantFrom<unknown>(null, 7, 'words', [], {}),
  }),
)
type Harm = (typeof harm)['generate'] extends (...args: never[]) => { readonly value: infer T } ? T : never

/** Every object in a list of blocks, also of those inside of results. */
function harmed(content: unknown, at: number, how: Harm): unknown {
  if (!Array.isArray(content) || content.length === 0) return content
  const blocks: readonly unknown[] = content
  const index = at % blocks.length
  const block = blocks[index]
  const inner = isObject(block) ? block['content'] : undefined
  const isDeep = Array.isArray(inner) && at % 3 === 0
  const other = isDeep
    ? { ...(isObject(block) ? block : {}), content: harmed(inner, at >> 2, how) }
    : harmedBlock(block, how)
  return blocks.with(index, other)
}

function harmedBlock(block: unknown, how: Harm): unknown {
  if (how.kind === 'bare' || !isObject(block)) return how.kind === 'bare' ? how.value : block
  // A block of another type is one that nobody knows yet: that is kept as it is.
  const keys = Object.keys(block).filter((key) => key !== 'type')
  const key = keys[how.key % Math.max(1, keys.length)]
  if (key === undefined) return block
  const { [key]: _gone, ...rest } = block
  return how.kind === 'without' ? rest : { ...rest, [key]: how.value }
}

/** Blocks that a user cannot say in an answer, and an agent not in a prompt. */
function exchanged(messages: readonly AnyMessage[], at: number): readonly AnyMessage[] {
  const [one, other] = [at % messages.length, (at + 1) % messages.length]
  const contents = messages.map(({ content }) => content)
  return messages.map((message, index) =>
    index === one || index === other
      ? { ...message, content: contents[index === one ? other : one] ?? [] }
      : message,
  )
}

/** Types of blocks that are not known here are kept, whatever the validator thinks of them. */
function faultsOf(messages: readonly unknown[]): readonly string[] {
  return findAnthropicFaults(messages).filter(
    (fault) => !/unknown block|in a result|half a character|no messages/u.test(fault),
  )
}

function blocksOf(messages: readonly object[]): readonly JsonObject[] {
  return messages.flatMap((message) => {
    const content = isObject(message) ? message['content'] : undefined
    return Array.isArray(content) ? content.filter(isObject) : []
  })
}

describe('blocks in a form that nobody takes', () => {
  test('[RST12] whatever a block has become, what is restored of it is taken, and its end is told', async () => {
    await fc.assert(
      fc.asyncProperty(
        anyConversation,
        fc.array(fc.tuple(fc.nat(), harm), { maxLength: 4 }),
        async (said, all) => {
          let messages: readonly AnyMessage[] = said
          for (const [at, how] of all) {
            const index = at % messages.length
            messages = messages.map((message, place) =>
              // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- harm is done to what it is
              place === index ? { ...message, content: harmed(message.content, at, how) as string } : message,
            )
          }
          const entries = await readLines(toAnyLines(messages))
          const restored = restore(entries, 'anthropic')
          expect(faultsOf(restored.messages)).toEqual([])
          for (const block of blocksOf(restored.messages)) expect(typeof block['type']).toBe('string')
          for (const target of TARGETS) expect(() => restore(entries, target)).not.toThrow()
        },
      ),
      runs(100),
    )
  })

  test('[RST12] what stands where it does not belong is found, and goes nowhere as it is', async () => {
    await fc.assert(
      fc.asyncProperty(anyConversation, fc.nat(), async (said, at) => {
        const entries = await readLines(toAnyLines(exchanged(said, at)))
        const restored = restore(entries, 'anthropic')
        expect(faultsOf(restored.messages)).toEqual([])
        const isMalformed = findTroubles(entries).some(({ kind }) => kind === 'block-malformed')
        expect(isMalformed).toBe(restored.losses.some(({ kind }) => kind === 'malformed-block'))
      }),
      runs(60),
    )
  })
})
