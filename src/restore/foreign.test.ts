import { describe, expect, test } from 'vitest'
import { isObject, list, object, string, type JsonObject } from '#base'
import type { Entry } from '#model'
import {
  createLines,
  findAnthropicFaults,
  findForeignSeals,
  findGeminiFaults,
  findResponsesFaults,
  findSignedFaults,
  toJsonl,
  readLines,
} from '#testing'
import { findTroubles } from './troubles/check.ts'
import { toRepaired } from './troubles/repair.ts'
import { restore } from './restore.ts'

interface NaiveMessage {
  readonly role: string
  readonly content: JsonObject[]
}

/** What a client sends that trusts its file: line after line, whoever said it. */
function toNaive(entries: readonly Entry[]): readonly NaiveMessage[] {
  const messages: NaiveMessage[] = []
  for (const entry of entries) {
    const message = object(JSON.parse(new TextDecoder().decode(entry.raw)), 'message')
    const role = string(message, 'role') ?? ''
    const given = message?.['content']
    const content =
      typeof given === 'string' ? [{ type: 'text', text: given }] : list(message, 'content').filter(isObject)
    const last = messages.at(-1)
    if (last?.role === role) last.content.push(...content)
    else messages.push({ role, content: [...content] })
  }
  return messages
}

/** The items of OpenAI in a recording, put together again with no further thought. */
function toNaiveItems(entries: readonly Entry[]): readonly object[] {
  return toNaive(entries).flatMap(({ role, content }) =>
    content.map((block): object => {
      const own = object(block, 'openai')
      if (block['type'] === 'thinking') return { type: 'reasoning', summary: [], ...own }
      if (block['type'] === 'tool_use')
        return { ...own, type: 'function_call', call_id: block['id'], name: block['name'], arguments: '{}' }
      if (block['type'] === 'tool_result')
        return { type: 'function_call_output', call_id: block['tool_use_id'], output: block['content'] }
      return { type: 'message', role, content: block['text'] }
    }),
  )
}

function toNaiveContents(entries: readonly Entry[]): readonly object[] {
  const names = new Map<unknown, unknown>()
  return toNaive(entries).map(({ role, content }) => ({
    role: role === 'assistant' ? 'model' : 'user',
    parts: content.flatMap((block): readonly object[] => {
      if (block['type'] === 'text') return [{ text: block['text'] }]
      if (block['type'] === 'tool_use') {
        names.set(block['id'], block['name'])
        return [{ functionCall: { id: block['id'], name: block['name'], args: block['input'] } }]
      }
      if (block['type'] !== 'tool_result') return []
      const id = block['tool_use_id']
      return [{ functionResponse: { id, name: names.get(id), response: { output: block['content'] } } }]
    }),
  }))
}

const call = (id: string, more: object = {}): object => ({
  type: 'tool_use',
  id,
  name: 'Bash',
  input: {},
  ...more,
})
const thinking = (thought: string, signature: string): object => ({
  type: 'thinking',
  thinking: thought,
  signature,
})

describe('what others signed', () => {
  test('[P05] thinking that was spread over lines, with results between them, is put together as it was given', async () => {
    const make = createLines()
    const answer = [
      thinking('first', 'sig1'),
      call('toolu_a'),
      { type: 'redacted_thinking', data: 'Zm9v' },
      thinking('second', 'sig2'),
      call('toolu_b'),
    ]
    const part = (from: number, to: number): object => ({
      message: { id: 'msg_one', role: 'assistant', model: 'm', content: answer.slice(from, to) },
    })
    const entries = await readLines(
      toJsonl([
        make.prompt('go'),
        make.reply([], part(0, 1)),
        make.reply([], part(1, 2)),
        make.result('toolu_a', 'a'),
        make.reply([], part(2, 3)),
        make.reply([], part(3, 5)),
        make.result('toolu_b', 'b'),
        make.reply([{ type: 'text', text: 'so' }]),
      ]),
    )
    expect(findSignedFaults(toNaive(entries), [answer])).not.toEqual([])
    const { messages, losses } = restore(entries, 'anthropic')
    expect(findSignedFaults(messages, [answer])).toEqual([])
    expect(findAnthropicFaults(messages)).toEqual([])
    expect(losses).toEqual([])
  })

  /** Claude, then Codex, then Gemini, each with what only it can read. */
  const mixed = async (): Promise<readonly Entry[]> => {
    const make = createLines()
    const reasoning = { type: 'reasoning', id: 'rs_1', encrypted_content: 'gAAA', summary: [] }
    return await readLines(
      toJsonl([
        make.prompt('one'),
        make.reply([thinking('hm', 'sig'), call('toolu_1')], { provider: 'claude' }),
        make.result('toolu_1', 'a'),
        make.reply(
          [
            { type: 'thinking', thinking: '', openai: reasoning },
            call('call_2', { openai: { type: 'function_call', id: 'fc_2' } }),
          ],
          { provider: 'codex' },
        ),
        make.result('call_2', 'b'),
        make.reply([call('g3', { gemini: { thoughtSignature: 'ts3' } })], { provider: 'gemini' }),
        make.result('g3', 'c'),
        make.reply([{ type: 'text', text: 'done' }], { provider: 'gemini' }),
      ]),
    )
  }

  test('[P06] to Anthropic only what Anthropic signed', async () => {
    const entries = await mixed()
    expect(findAnthropicFaults(toNaive(entries))).not.toEqual([])
    expect(findForeignSeals(toNaive(entries), ['sig'])).not.toEqual([])
    const { messages, losses } = restore(entries, 'anthropic')
    expect(findAnthropicFaults(messages)).toEqual([])
    expect(findForeignSeals(messages, ['sig'])).toEqual([])
    expect(losses.map(({ kind, how }) => [kind, how])).toEqual([['thinking', 'dropped']])
  })

  test('[P06] [P08] to OpenAI only what OpenAI encrypted', async () => {
    const entries = await mixed()
    expect(findResponsesFaults(toNaiveItems(entries))).not.toEqual([])
    const { messages, losses } = restore(entries, 'openai-responses')
    expect(findResponsesFaults(messages)).toEqual([])
    expect(findForeignSeals(messages, ['gAAA'])).toEqual([])
    expect(JSON.stringify(messages)).toContain('gAAA')
    expect(losses.map(({ kind, how }) => [kind, how])).toEqual([['thinking', 'dropped']])
  })

  test('[P06] [P07] to Gemini only what Gemini signed, and its own word where it signed nothing', async () => {
    const entries = await mixed()
    expect(findGeminiFaults(toNaiveContents(entries))).not.toEqual([])
    const { messages, losses } = restore(entries, 'gemini')
    expect(findGeminiFaults(messages)).toEqual([])
    expect(findForeignSeals(messages, ['ts3', 'skip_thought_signature_validator'])).toEqual([])
    expect(JSON.stringify(messages)).toContain('ts3')
    expect(losses.map(({ kind, how }) => [kind, how])).toEqual([
      ['thinking', 'dropped'],
      ['signature', 'changed'],
      ['thinking', 'dropped'],
      ['signature', 'changed'],
    ])
  })

  test('[P07] a call of Gemini whose signature was not kept', async () => {
    const make = createLines()
    const entries = await readLines(
      toJsonl([
        make.prompt('go'),
        make.reply([call('g1'), call('g2')], { provider: 'gemini' }),
        make.result('g1', 'a'),
        make.result('g2', 'b'),
        make.reply([{ type: 'text', text: 'so' }], { provider: 'gemini' }),
      ]),
    )
    expect(findGeminiFaults(toNaiveContents(entries))).not.toEqual([])
    const { messages, losses } = restore(entries, 'gemini')
    expect(findGeminiFaults(messages)).toEqual([])
    // Of calls that are made together the first one has to have it.
    expect(losses.map(({ kind, how }) => [kind, how])).toEqual([['signature', 'changed']])
  })

  const reasoning = { type: 'reasoning', id: 'rs_1', encrypted_content: 'gAAA', summary: [] }

  test.each([
    ['with nothing behind it', reasoning, []],
    [
      'that was stored and is not sent',
      { ...reasoning, encrypted_content: undefined },
      [{ type: 'text', text: 'so' }],
    ],
  ])('[P08] [E2.3] reasoning %s', async (_what, openai, behind) => {
    const make = createLines()
    const text = toJsonl([
      make.prompt('go'),
      make.reply([{ type: 'thinking', thinking: '', openai }, ...behind], { provider: 'codex' }),
      make.prompt('still there?'),
    ])
    const entries = await readLines(text)
    expect(findResponsesFaults(toNaiveItems(entries))).not.toEqual([])
    const { messages, losses } = restore(entries, 'openai-responses')
    expect(findResponsesFaults(messages)).toEqual([])
    expect(losses.map(({ kind, how }) => [kind, how])).toEqual([['thinking', 'dropped']])
    const troubles = findTroubles(entries)
    expect(troubles.map(({ kind }) => kind)).toEqual(['reasoning-alone'])
    const { lines } = toRepaired(entries, troubles, { sessionId: 'copy', mintId: () => 'new' })
    expect(
      findResponsesFaults(toNaiveItems(await readLines(lines.map((line) => `${line}\n`).join('')))),
    ).toEqual([])
  })
})
