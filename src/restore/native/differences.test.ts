import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Block } from '#model'
import { anyConversation, readLines, runs, toAnyLines } from '#testing'
import { toSaid, type Said, type SaidBlock } from '../said.ts'
import { findUntold } from './differences.ts'

/** Something that goes wrong with one block on the way, or nothing where it cannot. */
type Harm = (block: Block) => readonly Block[] | undefined

const HARMS: Readonly<Record<string, Harm>> = {
  'is missing': () => [],
  'is there twice': (block) => [block, block],
  'has other words': (block) => {
    if (block.kind === 'text') return [{ ...block, text: `${block.text}!` }]
    if (block.kind === 'thinking') return [{ ...block, thinking: `${block.thinking}!` }]
    if (block.kind === 'tool-result') return [{ ...block, content: [{ kind: 'text', text: 'aborted' }] }]
    return undefined
  },
  'was called otherwise': (block) =>
    block.kind === 'tool-use' ? [{ ...block, input: { other: block.input } }] : undefined,
  'has another name': (block) => (block.kind === 'tool-use' ? [{ ...block, name: 'Other' }] : undefined),
  'failed or not': (block) =>
    block.kind === 'tool-result' ? [{ ...block, isError: !block.isError }] : undefined,
  'lost what it held beside its words': (block) =>
    block.kind === 'tool-result' && block.content.some(({ kind }) => kind !== 'text')
      ? [{ ...block, content: block.content.filter(({ kind }) => kind === 'text') }]
      : undefined,
  'is another picture or document': (block) =>
    block.kind === 'image' || block.kind === 'document'
      ? [{ ...block, source: { kind: 'url', url: 'https://example.com/other' } }]
      : undefined,
}

function harmed(said: Said, harm: Harm, pick: number): Said | undefined {
  const places = said.messages.flatMap(({ blocks }, message) =>
    blocks.flatMap(({ block }, at) => (harm(block) === undefined ? [] : [[message, at] as const])),
  )
  const place = places[pick % Math.max(1, places.length)]
  if (place === undefined) return undefined
  const messages = said.messages.map((message, index) => ({
    ...message,
    blocks: message.blocks.flatMap((each, at): readonly SaidBlock[] =>
      index === place[0] && at === place[1]
        ? (harm(each.block) ?? []).map((block) => ({ ...each, block }))
        : [each],
    ),
  }))
  return { ...said, messages }
}

describe('reading back what was written', () => {
  test('[NAT14] a session that says the same has no difference', async () => {
    await fc.assert(
      fc.asyncProperty(anyConversation, async (messages) => {
        const said = toSaid(await readLines(toAnyLines(messages)))
        expect(findUntold(said, said, [])).toEqual([])
      }),
      runs(20),
    )
  })

  test.each(Object.keys(HARMS))('[NAT14] a block that %s is told, wherever it stands', async (name) => {
    const harm = HARMS[name] ?? ((): undefined => undefined)
    let harms = 0
    await fc.assert(
      fc.asyncProperty(anyConversation, fc.nat(), async (messages, pick) => {
        const said = toSaid(await readLines(toAnyLines(messages)))
        const other = harmed(said, harm, pick)
        if (other === undefined) return
        harms++
        const untold = findUntold(said, other, [])
        expect(untold.length).toBeGreaterThan(0)
        // One block went wrong: the rest of the session is not accused.
        const accused = new Set(untold.map(({ origin }) => `${origin.entryId} ${String(origin.index)}`))
        expect(accused.size).toBeLessThanOrEqual(4)
      }),
      runs(60),
    )
    expect(harms).toBeGreaterThan(0)
  })

  test('[NAT14] results that answer each other’s calls are told', async () => {
    const call = (id: string, command: string): object => ({
      type: 'tool_use',
      id,
      name: 'Bash',
      input: { command },
    })
    const result = (id: string, content: string): object => ({
      type: 'tool_result',
      tool_use_id: id,
      content,
    })
    const read = async (first: string, second: string, ids: readonly [string, string]): Promise<Said> =>
      toSaid(
        await readLines(
          toAnyLines([
            { role: 'user', content: 'both' },
            { role: 'assistant', content: [call(ids[0], 'one'), call(ids[1], 'two')] },
            { role: 'user', content: [result(ids[0], first), result(ids[1], second)] },
          ]),
        ),
      )
    const said = await read('1', '2', ['toolu_1', 'toolu_2'])
    expect(findUntold(said, await read('1', '2', ['call_1', 'call_2']), [])).toEqual([])
    expect(findUntold(said, await read('2', '1', ['toolu_1', 'toolu_2']), [])).not.toEqual([])
    expect(findUntold(said, await read('2', '1', ['call_1', 'call_2']), [])).not.toEqual([])
  })

  test('[NAT14] a loss that was told stands for its own block and for no other', async () => {
    const said = toSaid(
      await readLines(
        toAnyLines([
          {
            role: 'user',
            content: [
              { type: 'text', text: 'one' },
              { type: 'text', text: 'two' },
            ],
          },
        ]),
      ),
    )
    const [message] = said.messages
    const [first, second] = message?.blocks ?? []
    if (message === undefined || first === undefined || second === undefined) throw new Error('no blocks')
    const without = (gone: SaidBlock): Said => ({
      ...said,
      messages: [{ ...message, blocks: message.blocks.filter((each) => each !== gone) }],
    })
    const told = { kind: 'empty-text', origin: first.origin, how: 'dropped', why: 'it was empty' } as const
    expect(findUntold(said, without(first), [told])).toEqual([])
    expect(findUntold(said, without(second), [told]).map(({ origin }) => origin)).toEqual([second.origin])
  })
})
