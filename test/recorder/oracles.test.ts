import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { GoogleGenAI } from '@google/genai'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import * as fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { field, isObject, list, object, parseJson, string, type JsonObject } from '#base'
import { createAnswerReader, type Answer, type Api } from '#recorder'
import {
  anySaid,
  inPieces,
  listenOnLoopback,
  runs,
  SAID_IN_CHAT,
  SAID_IN_GEMINI,
  SAID_IN_MESSAGES,
  SAID_IN_RESPONSES,
  type StreamEvent,
  toEventBytes,
} from '#testing'

/** The clients of the providers read the same bytes, and say what the answer is. */
let served: Uint8Array = new Uint8Array()
const server = createServer((incoming, outgoing) => {
  incoming.resume()
  incoming.on('end', () => {
    outgoing.writeHead(200, { 'content-type': 'text/event-stream', 'request-id': 'req_1' })
    // In pieces that respect nothing.
    for (let at = 0; at < served.length; at += 701) outgoing.write(served.subarray(at, at + 701))
    outgoing.end()
  })
})
const loopback = await listenOnLoopback(server)
const url = `http://127.0.0.1:${String(loopback.port)}`

afterAll(() => loopback.close())

function heard(api: Api, events: readonly StreamEvent[]): Answer {
  served = toEventBytes(events)
  const reader = createAnswerReader(api, { contentType: 'text/event-stream' })
  reader.add(served)
  const answer = reader.end()
  expect(answer).toBeDefined()
  return answer ?? { provider: 'anthropic', outcome: 'cut', message: { content: [] } }
}

/** As JSON has it: without fields that are not there, and without what an SDK adds to its own objects. */
function plain(value: unknown): unknown {
  return parseJson(JSON.stringify(value))
}

async function askAnthropic(): Promise<unknown> {
  const client = new Anthropic({ apiKey: 'none', baseURL: url, maxRetries: 0 })
  const stream = client.messages.stream({
    model: 'claude-said',
    max_tokens: 10,
    messages: [{ role: 'user', content: 'Begin.' }],
  })
  return plain(await stream.finalMessage())
}

async function expectAnthropic(events: readonly StreamEvent[]): Promise<void> {
  const answer = heard('messages', events)
  const message = await askAnthropic()
  expect(answer.message.content).toEqual(list(message, 'content'))
  expect(answer.message).toMatchObject({
    id: string(message, 'id'),
    model: string(message, 'model'),
    stop_reason: field(message, 'stop_reason'),
    stop_sequence: field(message, 'stop_sequence') ?? null,
  })
  expect(answer.message.usage).toMatchObject(object(message, 'usage') ?? {})
}

test('[STR5] [D2.1] what Anthropic’s own client makes of any stream is what is recorded, block by block', async () => {
  await fc.assert(
    fc.asyncProperty(anySaid(), fc.integer({ min: 1, max: 9 }), async (said, length) => {
      await expectAnthropic(SAID_IN_MESSAGES.toEvents(said, inPieces(length)))
    }),
    runs(12),
  )
})

/** The messages in what Claude Code handed on. */
function messagesIn(name: string): readonly (readonly StreamEvent[])[] {
  const path = join(import.meta.dirname, '../fixtures/claude-streams', `${name}.jsonl`)
  const messages: StreamEvent[][] = []
  for (const line of readFileSync(path, 'utf8').split('\n').filter(Boolean)) {
    const event = object(parseJson(line), 'event')
    if (event === undefined) continue
    if (string(event, 'type') === 'message_start') messages.push([])
    messages.at(-1)?.push({ event: string(event, 'type'), data: event })
  }
  return messages
}

test.each(['multi', 'subagent'])(
  '[STR5] [D2.1] the real streams of %s are read as its client reads them',
  async (name) => {
    const messages = messagesIn(name)
    expect(messages.length).toBeGreaterThan(1)
    for (const events of messages) await expectAnthropic(events)
  },
)

test('[STR5] server tools, citations, redacted thoughts and blocks nobody knows are kept as the client keeps them', async () => {
  const event = (type: string, fields: object): StreamEvent => ({ event: type, data: { type, ...fields } })
  const block = (
    index: number,
    content_block: object,
    ...deltas: readonly object[]
  ): readonly StreamEvent[] => [
    event('content_block_start', { index, content_block }),
    ...deltas.map((delta) => event('content_block_delta', { index, delta })),
    event('content_block_stop', { index }),
  ]
  const citation = { type: 'web_search_result_location', url: 'https://example.org', cited_text: 'x' }
  const result = { type: 'web_search_result', url: 'https://example.org', encrypted_content: 'abc' }
  await expectAnthropic([
    event('message_start', {
      message: {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model: 'claude-said',
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { input_tokens: 5, output_tokens: 1, cache_read_input_tokens: 7, service_tier: 'batch' },
      },
    }),
    ...block(0, { type: 'redacted_thinking', data: 'c2VjcmV0' }),
    ...block(
      1,
      { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} },
      { type: 'input_json_delta', partial_json: '{"query": ' },
      { type: 'input_json_delta', partial_json: '"x"}' },
    ),
    event('ping', {}),
    ...block(2, { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [result] }),
    ...block(
      3,
      { type: 'text', text: '', citations: [] },
      { type: 'text_delta', text: 'Found ' },
      { type: 'citations_delta', citation },
      { type: 'text_delta', text: 'it.' },
    ),
    ...block(4, { type: 'hologram', of: { a: [1, null, 'x'] } }),
    ...block(5, { type: 'tool_use', id: 'toolu_1', name: 'ls', input: {} }),
    event('message_delta', {
      delta: { stop_reason: 'stop_sequence', stop_sequence: 'END' },
      usage: { output_tokens: 99, input_tokens: 6, server_tool_use: { web_search_requests: 1 } },
    }),
    event('message_stop', {}),
  ])
})

function openaiClient(): OpenAI {
  return new OpenAI({ apiKey: 'none', baseURL: `${url}/v1`, maxRetries: 0 })
}

test('[STR9] what OpenAI’s own client makes of any stream of responses is what is recorded, item by item', async () => {
  await fc.assert(
    fc.asyncProperty(anySaid(), fc.integer({ min: 1, max: 9 }), async (said, length) => {
      const answer = heard('responses', SAID_IN_RESPONSES.toEvents(said, inPieces(length)))
      const stream = openaiClient().responses.stream({ model: 'gpt-said', input: 'Begin.' })
      const response: unknown = plain(await stream.finalResponse())
      const output = list(response, 'output').filter(isObject)
      const content = list(answer.message, 'content')
      expect(content).toHaveLength(output.length)
      for (const [at, item] of output.entries()) expectSameItem(content[at], item)
      expect(field(answer.message.usage, 'openai')).toEqual(field(response, 'usage'))
      expect(answer.message).toMatchObject({ id: string(response, 'id'), model: string(response, 'model') })
    }),
    runs(12),
  )
})

function expectSameItem(block: unknown, item: JsonObject): void {
  const kept = object(block, 'openai')
  expect(kept).toMatchObject({ id: item['id'], type: item['type'], status: item['status'] })
  if (item['type'] === 'message') expect(string(block, 'text')).toBe(string(list(item, 'content')[0], 'text'))
  if (item['type'] === 'reasoning') {
    expect(string(block, 'thinking')).toBe(string(list(item, 'summary')[0], 'text'))
    expect(kept).toMatchObject({ encrypted_content: item['encrypted_content'] })
  }
  if (item['type'] !== 'function_call') return
  expect(block).toMatchObject({ type: 'tool_use', id: item['call_id'], name: item['name'] })
  expect(field(block, 'input')).toEqual(parseJson(string(item, 'arguments') ?? ''))
}

test('[STR10] what OpenAI’s own client makes of any stream of chat completions is what is recorded', async () => {
  await fc.assert(
    fc.asyncProperty(anySaid(), fc.integer({ min: 1, max: 9 }), async (said, length) => {
      const answer = heard('chat', SAID_IN_CHAT.toEvents(said, inPieces(length)))
      const stream = openaiClient().chat.completions.stream({
        model: 'gpt-said',
        messages: [{ role: 'user', content: 'Begin.' }],
        stream_options: { include_usage: true },
      })
      const completion: unknown = plain(await stream.finalChatCompletion())
      const message = object(list(completion, 'choices')[0], 'message')
      const content = list(answer.message, 'content')
      expect(content.flatMap((block) => string(block, 'text') ?? []).join('')).toBe(
        string(message, 'content') ?? '',
      )
      const calls = content.filter((block) => string(block, 'type') === 'tool_use')
      expect(calls.map((call) => [string(call, 'id'), string(call, 'name'), field(call, 'input')])).toEqual(
        list(message, 'tool_calls').map((call) => [
          string(call, 'id'),
          string(object(call, 'function'), 'name'),
          parseJson(string(object(call, 'function'), 'arguments') ?? ''),
        ]),
      )
      expect(field(answer.message.usage, 'openai')).toEqual(field(completion, 'usage'))
      expect(answer.message.id).toBe(string(completion, 'id'))
    }),
    runs(12),
  )
})

test('[STR11] what Google’s own client makes of any stream of Gemini is what is recorded', async () => {
  await fc.assert(
    fc.asyncProperty(anySaid(), fc.integer({ min: 1, max: 9 }), async (said, length) => {
      const answer = heard('gemini', SAID_IN_GEMINI.toEvents(said, inPieces(length)))
      const client = new GoogleGenAI({ apiKey: 'none', httpOptions: { baseUrl: url } })
      const stream = await client.models.generateContentStream({ model: 'gemini-said', contents: 'Begin.' })
      let text = ''
      let usage: unknown
      const calls: unknown[] = []
      for await (const chunk of stream) {
        const parts = chunk.candidates?.[0]?.content?.parts ?? []
        text += parts.map((part) => (part.thought === true ? '' : (part.text ?? ''))).join('')
        calls.push(...(chunk.functionCalls ?? []))
        usage = chunk.usageMetadata
      }
      const content = list(answer.message, 'content')
      expect(content.flatMap((block) => string(block, 'text') ?? []).join('')).toBe(text)
      const heardCalls = content.filter((block) => string(block, 'type') === 'tool_use')
      expect(heardCalls.map((call) => ({ name: string(call, 'name'), args: field(call, 'input') }))).toEqual(
        plain(calls),
      )
      expect(field(answer.message.usage, 'gemini')).toEqual(plain(usage))
    }),
    runs(12),
  )
})
