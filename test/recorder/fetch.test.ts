import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { afterEach, expect, test } from 'vitest'
import { list, object, parseJson, string } from '#base'
import { recordFetch, type Fetch, type RecordFetchOptions, type RecordingFetch } from '#recorder'
import {
  checkWithEntire,
  inPieces,
  inTurns,
  openModelApi,
  openTempDir,
  SAID_IN_RESPONSES,
  SAID_SHAPES,
  toEventBytes,
  type ModelApi,
  type ModelStep,
  type SaidPart,
} from '#testing'

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

interface Place {
  readonly api: ModelApi
  readonly fetch: RecordingFetch
  lines(): Promise<readonly unknown[]>
  check(): ReturnType<typeof checkWithEntire>
}

async function openPlace(
  turns: readonly (readonly ModelStep[])[],
  options: Partial<RecordFetchOptions> = {},
): Promise<Place> {
  const dir = await openTempDir()
  const api = await openModelApi(inTurns(...turns))
  const fetch = recordFetch(globalThis.fetch, {
    cwd: dir.path,
    agent: 'forgeflare',
    version: '0.0.44',
    register: join(dir.path, 'home'),
    ...options,
  })
  closing.push(
    () => fetch.end(),
    () => api.close(),
    () => dir.remove(),
  )
  const path = (): string => fetch.conversations.list()[0]?.path ?? ''
  return {
    api,
    fetch,
    lines: async () => (await readFile(path(), 'utf8')).split('\n').filter(Boolean).map(parseJson),
    check: async () => await checkWithEntire(path()),
  }
}

/** Who said what, as short as it can be told. */
function outline(lines: readonly unknown[]): readonly string[] {
  return lines.map((line) => {
    const message = object(line, 'message')
    const blocks = list(message, 'content').map(
      (block) =>
        string(block, 'text') ?? string(block, 'name') ?? string(block, 'content') ?? string(block, 'type'),
    )
    return `${string(line, 'type') ?? ''}: ${string(message, 'content') ?? blocks.join(', ')}`
  })
}

const TOOL = { name: 'Read', description: 'Reads', input_schema: { type: 'object' as const } }

async function runAnthropic({ api, fetch }: Place): Promise<void> {
  const client = new Anthropic({ apiKey: 'sk-none', baseURL: api.url, maxRetries: 0, fetch })
  const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'Look at a.txt' }]
  for (let turn = 0; turn < 3; turn += 1) {
    const params = { model: 'claude-said', max_tokens: 100, messages, tools: [TOOL] }
    // Streamed or not, it is the same conversation.
    const answer =
      turn === 2 ? await client.messages.create(params) : await client.messages.stream(params).finalMessage()
    messages.push({ role: 'assistant', content: answer.content })
    const call = answer.content.find((block) => block.type === 'tool_use')
    if (!call) return
    messages.push({
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: call.id, content: 'hello' }],
    })
  }
}

const CALLING: readonly ModelStep[] = [
  { kind: 'thinking', text: 'Let me see.' },
  { kind: 'text', text: 'I look.' },
  { kind: 'tool', name: 'Read', input: { file_path: 'a.txt' } },
]

test('[STR20] a conversation of Anthropic’s client is recorded, each turn once, and Entire counts it', async () => {
  const place = await openPlace([CALLING, CALLING, [{ kind: 'text', text: 'It says hello.' }]])
  await runAnthropic(place)
  await expect.poll(async () => (await place.lines()).length).toBe(6)
  expect(outline(await place.lines())).toEqual([
    'user: Look at a.txt',
    'assistant: thinking, I look., Read',
    'user: hello',
    'assistant: thinking, I look., Read',
    'user: hello',
    'assistant: It says hello.',
  ])
  const report = await place.check()
  expect(report).toMatchObject({
    errors: {},
    prompts: ['Look at a.txt'],
    tokens: { input: 36, cacheRead: 3000, calls: 3 },
  })
  const [, answer] = await place.lines()
  expect(answer).toMatchObject({
    agent: 'forgeflare',
    provider: 'anthropic',
    requestId: 'req_01Scripted000001',
  })
})

test('[STR20] a conversation of OpenAI’s client is recorded, each turn once, and Entire counts it', async () => {
  const place = await openPlace([CALLING, [{ kind: 'text', text: 'It says hello.' }]])
  const client = new OpenAI({
    apiKey: 'sk-none',
    baseURL: `${place.api.url}/v1`,
    maxRetries: 0,
    fetch: place.fetch,
  })
  const tools = [{ type: 'function' as const, name: 'Read', parameters: {}, strict: false }]
  const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: 'Look at a.txt' }]
  for (let turn = 0; turn < 2; turn += 1) {
    const stream = await client.responses.create({ model: 'gpt-said', input, tools, stream: true })
    for await (const event of stream) {
      if (event.type !== 'response.output_item.done') continue
      const { item } = event
      if (item.type === 'message' || item.type === 'reasoning' || item.type === 'function_call')
        input.push(item)
      if (item.type === 'function_call')
        input.push({ type: 'function_call_output', call_id: item.call_id, output: 'hello' })
    }
  }
  await expect.poll(async () => (await place.lines()).length).toBe(4)
  expect(outline(await place.lines())).toEqual([
    'user: Look at a.txt',
    'assistant: thinking, I look., Read',
    'user: hello',
    'assistant: It says hello.',
  ])
  expect(await place.check()).toMatchObject({ errors: {}, tokens: { input: 424, cacheRead: 2000, calls: 2 } })
})

test('[STR20] [STR8] answers that were cut, failed or given up are recorded as far as they came', async () => {
  const text = { kind: 'text', text: 'It begins well.' } as const
  const place = await openPlace([
    [text, { kind: 'cut' }],
    [text, { kind: 'error', status: 529, message: 'too much' }],
    [text, { kind: 'hang' }],
    [{ kind: 'error', status: 429 }],
    [text],
  ])
  const client = new Anthropic({
    apiKey: 'sk-none',
    baseURL: place.api.url,
    maxRetries: 0,
    fetch: place.fetch,
  })
  for (let turn = 0; turn < 5; turn += 1) {
    const messages: Anthropic.MessageParam[] = [{ role: 'user', content: `Attempt ${String(turn)}` }]
    const stream = client.messages.stream({ model: 'claude-said', max_tokens: 9, messages, tools: [TOOL] })
    if (turn === 2) stream.on('text', () => stream.abort())
    const outcome = await stream.finalText().catch(() => 'failed')
    expect(outcome).toBe(turn === 4 ? text.text : 'failed')
    await expect
      .poll(() => place.fetch.conversations.list().reduce((sum, { turns }) => sum + turns, 0))
      .toBe([2, 4, 6, 7, 9][turn])
  }
  const outcomes = await Promise.all(
    place.fetch.conversations.list().map(async ({ path }) => {
      const lines = (await readFile(path, 'utf8')).split('\n').filter(Boolean).map(parseJson)
      const answer = lines.find((line) => string(line, 'type') === 'assistant')
      return [string(answer, 'outcome'), string(answer, 'failure'), outline(lines).at(-1)]
    }),
  )
  expect(outcomes).toEqual([
    ['cut', undefined, 'assistant: It begins well., This breaks off in '],
    ['failed', 'overloaded_error: too much', 'assistant: It begins well.'],
    ['cut', undefined, expect.stringMatching(/^assistant: It/)],
    [undefined, undefined, 'user: Attempt 3'],
    [undefined, undefined, 'assistant: It begins well.'],
  ])
})

const SAID: readonly SaidPart[] = [
  { kind: 'text', text: 'I look.' },
  { kind: 'call', id: 'call_1', name: 'Read', input: { file_path: 'a.txt' } },
]

test.each(SAID_SHAPES.map((shape) => [shape.api, shape] as const))(
  '[STR20] a request of %s and the next one, sent in any form, give one recording',
  async (_, shape) => {
    const bytes = toEventBytes(shape.toEvents(SAID, inPieces(3)))
    const seen: string[] = []
    const upstream: Fetch = async (input, init) => {
      const request = new Request(input, init)
      seen.push(await request.text())
      return new Response(Buffer.from(bytes), { headers: { 'content-type': 'text/event-stream' } })
    }
    const url = `https://example.org${shape.path}`
    const next = JSON.stringify(shape.toRequest(SAID))
    const whole = object({ body: parseJson(next) }, 'body') ?? {}
    const cut = (key: string): object => ({ [key]: list(whole, key).slice(0, shape.api === 'chat' ? 2 : 1) })
    const key = ['messages', 'input', 'contents'].find((name) => name in whole) ?? ''
    const first = JSON.stringify({ ...whole, ...cut(key) })
    const forms: readonly ((body: string) => [string | URL | Request, RequestInit?])[] = [
      (body) => [url, { method: 'POST', body }],
      (body) => [new URL(url), { method: 'POST', body: new TextEncoder().encode(body) }],
      (body) => [url, { method: 'POST', body: new Blob([body]) }],
      (body) => [new Request(url, { method: 'POST', body })],
      (body) => [url, { method: 'POST', body: new Blob([body]).stream(), duplex: 'half' }],
    ]
    for (const form of forms) {
      const fetch = recordFetch(upstream, {
        cwd: (await openDir()).path,
        agent: 'forgeflare',
        version: '1',
        register: (await openDir()).path,
      })
      for (const body of [first, next]) {
        const response = await fetch(...form(body))
        expect(Buffer.from(await response.arrayBuffer()).equals(bytes)).toBe(true)
        await expect.poll(() => fetch.conversations.list()[0]?.turns ?? 0).toBe(body === first ? 2 : 3)
      }
      expect(seen.splice(0)).toEqual([first, next])
      expect(fetch.conversations.list()).toHaveLength(1)
      await fetch.end()
    }
  },
)

async function openDir(): ReturnType<typeof openTempDir> {
  const dir = await openTempDir()
  closing.push(() => dir.remove())
  return dir
}

test('[STR20] what is no conversation passes by, and a recording that fails fails no request', async () => {
  const troubles: string[] = []
  const place = await openPlace([[{ kind: 'text', text: 'Hello.' }]], {
    open: () => Promise.reject(new Error('disk full')),
    onTrouble: ({ message }) => troubles.push(message),
  })
  const client = new Anthropic({
    apiKey: 'sk-none',
    baseURL: place.api.url,
    maxRetries: 0,
    fetch: place.fetch,
  })
  const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'Hi' }]
  await client.messages.countTokens({ model: 'claude-said', messages })
  expect(troubles).toEqual([])
  const answer = await client.messages
    .stream({ model: 'claude-said', max_tokens: 9, messages, tools: [TOOL] })
    .finalText()
  expect(answer).toBe('Hello.')
  await expect.poll(() => troubles.length).toBeGreaterThan(0)
  const bad = await place.fetch(`${place.api.url}/v1/messages`, { method: 'POST', body: 'not JSON' })
  await bad.text()
  expect(troubles.at(-1)).toMatch(/could not be read/)
  const others = await place.fetch(`${place.api.url}/v1/threads/t/messages`, {
    method: 'POST',
    body: '{"role":"user"}',
  })
  await others.text()
  const forms = await place.fetch(`${place.api.url}/forms/responses`, {
    method: 'POST',
    body: '{"answers":[]}',
  })
  await forms.text()
  expect(troubles.filter((message) => message.includes('could not be read'))).toHaveLength(1)
  await expect(place.fetch('no address')).rejects.toBeInstanceOf(TypeError)
  await expect(
    place.fetch('http://127.0.0.1:9/v1/messages', { method: 'POST', body: '{"messages":[]}' }),
  ).rejects.toBeInstanceOf(TypeError)
})

test('[STR20] [STR16] a client that only names the items of an answer goes on with the same conversation', async () => {
  const upstream: Fetch = () =>
    Promise.resolve(new Response(Buffer.from(toEventBytes(SAID_IN_RESPONSES.toEvents(SAID, inPieces(3))))))
  const fetch = recordFetch(upstream, {
    cwd: (await openDir()).path,
    agent: 'forgeflare',
    version: '1',
    register: (await openDir()).path,
  })
  const ask = async (input: readonly object[]): Promise<void> => {
    const body = JSON.stringify({ model: 'gpt-said', input })
    const response = await fetch('https://example.org/v1/responses', { method: 'POST', body })
    await response.text()
  }
  const prompt = { role: 'user', content: 'Begin.' }
  await ask([prompt])
  await expect.poll(() => fetch.conversations.list()[0]?.turns).toBe(2)
  const items = list(SAID_IN_RESPONSES.toBody(SAID), 'output')
  const named = items.map((item) => ({ type: 'item_reference', id: string(item, 'id') }))
  await ask([prompt, ...named, { type: 'function_call_output', call_id: 'call_1', output: 'hello' }])
  await expect.poll(() => fetch.conversations.list().map(({ turns }) => turns)).toEqual([4])
  await fetch.end()
})

test('[STR20] a response that cannot be listened to is given on as it is, and told', async () => {
  const response = new Response('taken')
  response.body?.getReader()
  const troubles: string[] = []
  const fetch = recordFetch(() => Promise.resolve(response), {
    cwd: (await openDir()).path,
    agent: 'forgeflare',
    version: '1',
    register: (await openDir()).path,
    onTrouble: ({ message }) => {
      troubles.push(message)
      throw new Error('a listener that throws')
    },
  })
  const body = JSON.stringify(SAID_IN_RESPONSES.toRequest(SAID))
  expect(await fetch('https://example.org/v1/responses', { method: 'POST', body })).toBe(response)
  expect(troubles).toEqual([expect.stringMatching(/^what was said to example.org is not recorded/)])
  await fetch.end()
})
