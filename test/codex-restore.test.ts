import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { isObject, list, number, object, parseJson, string, type JsonObject } from '#base'
import type { Entry } from '#model'
import { toAiSdk, toAnthropic, toGemini, toOpenAIChat, toOpenAIResponses, toSaid } from '#restore'
import { createCodexSource } from '#sources'
import {
  findAiSdkFaults,
  findAnthropicFaults,
  findChatFaults,
  findGeminiFaults,
  findResponsesFaults,
} from '#testing'
import { describe, expect, test } from 'vitest'
import { createSourceReader, type SourceReader } from './source-reader.ts'

const fixtures = join(import.meta.dirname, 'fixtures/codex')

interface Case {
  readonly name: string
  readonly path: string
  readonly reader: SourceReader
}

async function casesOf(scenario: string): Promise<readonly Case[]> {
  const source = createCodexSource(join(fixtures, scenario))
  const reader = createSourceReader(source)
  const { sessions } = await source.list()
  return sessions
    .flatMap(({ path, subagents }) => [path, ...subagents.map((subagent) => subagent.path)])
    .map((path) => ({ name: `${scenario} ${path.slice(-18)}`, path, reader }))
}

const cases = (await Promise.all(readdirSync(fixtures).map(casesOf))).flat()

function isPrompt(item: JsonObject): boolean {
  const text = string(list(item, 'content')[0], 'text') ?? ''
  return item['role'] === 'user' && !text.startsWith('<') && !text.startsWith('# AGENTS')
}

/** Items that were lines of their own once. */
const BARE = new Set(['message', 'reasoning', 'function_call', 'function_call_output'])

/**
 * The items of a rollout that the model sees, read by nothing but JSON: what a compaction left, and what came after,
 * without what was taken back.
 */
async function itemsOf({ path, reader }: Case): Promise<readonly JsonObject[]> {
  let items: { readonly ordinal: number; readonly item: JsonObject }[] = []
  for (const reading of await reader.readings(path)) {
    if (reading.kind === 'damage') continue
    const line = parseJson(Buffer.from(reading.entry.raw).toString())
    const payload = object(line, 'payload')
    const ordinal = number(line, 'ordinal') ?? 0
    const type = string(line, 'type') ?? ''
    if (type === 'session_meta') {
      const end = number(object(payload, 'history_base'), 'end_ordinal_exclusive')
      if (end !== undefined) items = items.filter((each) => each.ordinal < end)
    } else if (type === 'compacted') {
      const summary = { type: 'input_text', text: string(payload, 'message') }
      const left = Array.isArray(payload?.['replacement_history'])
        ? list(payload, 'replacement_history').filter(isObject)
        : [
            ...items.map(({ item }) => item).filter(isPrompt),
            { type: 'message', role: 'user', content: [summary] },
          ]
      items = left.map((item) => ({ ordinal, item }))
    } else if (string(payload, 'type') === 'thread_rolled_back') {
      const prompts = items.flatMap(({ item }, index) => (isPrompt(item) ? [index] : []))
      items = items.slice(0, prompts.at(-(number(payload, 'num_turns') ?? 0)))
    } else if (payload === undefined && isObject(line) && BARE.has(type)) items.push({ ordinal, item: line })
    else if (type === 'response_item' && payload !== undefined) {
      if (object(line, 'metadata')?.['compaction_output'] !== true) items.push({ ordinal, item: payload })
    }
  }
  return items.map(({ item }) => item).filter((item) => item['type'] !== 'additional_tools')
}

/** As Codex sends it: without its own notes. */
function toSent(item: JsonObject): JsonObject {
  const { internal_chat_message_metadata_passthrough: _, ...sent } = item
  if (sent['role'] !== 'assistant' || sent['id'] !== undefined) return sent
  // Words that have no id cannot go as an output: they go as text.
  return {
    ...sent,
    content: list(sent, 'content')
      .map((part) => string(part, 'text') ?? '')
      .join(''),
  }
}

function asWords(item: JsonObject): JsonObject {
  if (item['type'] !== 'agent_message') return item
  const content = list(item, 'content').filter((part) => string(part, 'type') !== 'encrypted_content')
  return { type: 'message', role: 'user', content }
}

describe('conversations of Codex, restored', () => {
  test.each(cases)(
    '[CDX10] [E2.1] $name: every item is there again, in order and as it was',
    async (each) => {
      const entries = await each.reader.conversation(each)
      const { input } = toOpenAIResponses(toSaid(entries))
      expect(findResponsesFaults(input)).toEqual([])
      const items = await itemsOf(each)
      const answered = new Set(
        items.map((item) => (String(item['type']).endsWith('_output') ? item['call_id'] : undefined)),
      )
      // Reasoning that came without its encrypted form cannot be sent again.
      const given = items.filter((item) => item['type'] !== 'reasoning' || item['encrypted_content'] !== null)
      // A call that nobody answered is answered now, and what one agent told another goes as the words of a user.
      const made = input.filter(
        (item) => !('output' in item) || !('call_id' in item) || answered.has(item.call_id),
      )
      expect(made).toEqual(given.map(toSent).map(asWords))
    },
  )

  test.each(cases)('[CDX10] [E2.1] [E6.1] $name: other providers take it', async (each) => {
    const said = toSaid(await each.reader.conversation(each))
    expect(findAnthropicFaults(toAnthropic(said).messages)).toEqual([])
    expect(findChatFaults(toOpenAIChat(said).messages)).toEqual([])
    expect(findGeminiFaults(toGemini(said).contents)).toEqual([])
    expect(await findAiSdkFaults(toAiSdk(said).messages)).toEqual([])
  })

  test('[CDX8] [READ14] after a compaction the model sees what it left, exactly, and what came after', async () => {
    const each = cases.find(({ name }) => name.includes('compact') && name.includes('34b093500092'))
    if (each === undefined) throw new Error('the fixture is not there')
    const entries = await each.reader.conversation(each)
    const told = entries.filter(({ kind }) => kind !== 'record').map((entry: Entry) => entry.kind)
    expect(told).toEqual([
      'compaction',
      'prompt',
      'injection',
      'injection',
      'prompt',
      'injection',
      'prompt',
      'reply',
      'reply',
      'prompt',
      'injection',
    ])
    expect(entries[0]).toMatchObject({
      summary: [{ text: expect.stringContaining('Another language model') }],
    })
    expect(entries.find(({ kind }) => kind === 'reply')).toMatchObject({
      model: 'gpt-5.5',
      cwd: '/home/user/work/codex_app',
    })
  })
})
