import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createAnthropic } from '@ai-sdk/anthropic'
import Anthropic from '@anthropic-ai/sdk'
import {
  Agent,
  Runner,
  setTracingDisabled,
  tool as agentTool,
  type AgentInputItem,
  type Session,
} from '@openai/agents-core'
import { OpenAIResponsesModel } from '@openai/agents-openai'
import {
  generateText,
  stepCountIs,
  streamText,
  tool,
  wrapLanguageModel,
  type LanguageModelMiddleware,
} from 'ai'
import * as fc from 'fast-check'
import OpenAI from 'openai'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { field, parseJson, type JsonObject, isObject } from '#base'
import {
  createAgentsSession,
  recordAnthropic,
  recordMiddleware,
  recordOpenAI,
  type AgentsSession,
} from '#recorder'
import {
  checkWithEntire,
  inTurns,
  openModelApi,
  openTempDir,
  runs,
  type ModelApi,
  type ModelStep,
  type TempDir,
} from '#testing'

let dir: TempDir
let api: ModelApi
beforeEach(async () => {
  dir = await openTempDir()
})
afterEach(async () => {
  await api.close()
  await dir.remove()
})

const about = (): { cwd: string; agent: string; version: string; register: string } => ({
  cwd: dir.path,
  agent: 'weatherman',
  version: '1.2.3',
  register: join(dir.path, 'home'),
})

/** A thought, a call, and after its result an answer. */
const WEATHER: readonly (readonly ModelStep[])[] = [
  [
    { kind: 'thinking', text: 'The tool knows.' },
    { kind: 'text', text: 'I look.' },
    { kind: 'tool', name: 'weather', input: { city: 'Oslo' }, id: 'call_1' },
  ],
  [{ kind: 'text', text: 'It rains in Oslo.' }],
]

async function linesOf(path: string): Promise<readonly JsonObject[]> {
  const text = await readFile(path, 'utf8')
  return text.trimEnd().split('\n').map(parseJson).filter(isObject)
}

/** Who said what, in the order of the lines. */
async function saidIn(path: string): Promise<readonly unknown[]> {
  return (await linesOf(path)).map((line) => {
    const message = field(line, 'message')
    return [line['type'], field(message, 'content')]
  })
}

/** The transcript of the one recording that there is. */
async function onlyPath(): Promise<string> {
  const metadata = join(dir.path, '.entire', 'metadata')
  const names = await readdir(metadata)
  expect(names).toHaveLength(1)
  return join(metadata, names[0] ?? '', 'full.jsonl')
}

const thinking = { type: 'thinking', thinking: 'The tool knows.', signature: 'c2NyaXB0ZWQ=' }
const call = { type: 'tool_use', id: 'call_1', name: 'weather', input: { city: 'Oslo' } }
const EXPECTED = [
  ['user', [{ type: 'text', text: 'How is the weather in Oslo?' }]],
  ['assistant', [thinking, { type: 'text', text: 'I look.' }, call]],
  ['user', [expect.objectContaining({ type: 'tool_result', tool_use_id: 'call_1' })]],
  ['assistant', [{ type: 'text', text: 'It rains in Oslo.' }]],
]

const TOOLS: Anthropic.Tool[] = [
  {
    name: 'weather',
    description: 'Tells it.',
    input_schema: { type: 'object', properties: { city: { type: 'string' } } },
  },
]

describe('the client of Anthropic', () => {
  const ways: Readonly<
    Record<string, (client: Anthropic, messages: Anthropic.MessageParam[]) => Promise<Anthropic.Message>>
  > = {
    'messages.create': async (client, messages) =>
      await client.messages.create({ model: 'm', max_tokens: 100, tools: TOOLS, messages }),
    'messages.stream': async (client, messages) =>
      await client.messages.stream({ model: 'm', max_tokens: 100, tools: TOOLS, messages }).finalMessage(),
  }

  test.each(Object.entries(ways))('[ADP1] records what goes through %s, each turn once', async (_, send) => {
    api = await openModelApi(inTurns(...WEATHER))
    const recorded = recordAnthropic(
      new Anthropic({ apiKey: 'sk-never-written', baseURL: api.url, maxRetries: 0 }),
      about(),
    )
    const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'How is the weather in Oslo?' }]
    const usage: Anthropic.Usage[] = []
    for (;;) {
      const answer = await send(recorded.client, messages)
      usage.push(answer.usage)
      messages.push({ role: 'assistant', content: answer.content })
      if (answer.stop_reason !== 'tool_use') break
      messages.push({
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 'call_1', content: 'rain' }],
      })
    }
    await recorded.end()
    const path = await onlyPath()
    expect(await saidIn(path)).toEqual(EXPECTED)
    const { errors, tokens } = await checkWithEntire(path)
    expect(errors).toEqual({})
    expect(tokens).toEqual({
      input: sum(usage, 'input_tokens'),
      output: sum(usage, 'output_tokens'),
      cacheRead: sum(usage, 'cache_read_input_tokens'),
      cacheCreation: sum(usage, 'cache_creation_input_tokens'),
      calls: 2,
    })
    expect(await readFile(path, 'utf8')).not.toContain('sk-never-written')
  })
})

test('[ADP1] streams of messages.create and of beta.messages are recorded, too', async () => {
  api = await openModelApi(inTurns([{ kind: 'text', text: 'one' }], [{ kind: 'text', text: 'two' }]))
  const recorded = recordAnthropic(
    new Anthropic({ apiKey: 'dummy', baseURL: api.url, maxRetries: 0 }),
    about(),
  )
  const { client } = recorded
  const asked = { model: 'm', max_tokens: 100, tools: TOOLS, stream: true } as const
  const events: string[] = []
  const first = await client.messages.create({ ...asked, messages: [{ role: 'user', content: 'a' }] })
  for await (const { type } of first) events.push(type)
  const more = [
    { role: 'user', content: 'a' },
    { role: 'assistant', content: 'one' },
    { role: 'user', content: 'b' },
  ] as const
  const second = await client.beta.messages.create({ ...asked, messages: [...more] })
  for await (const { type } of second) events.push(type)
  await recorded.end()
  expect(events.filter((type) => type === 'message_stop')).toHaveLength(2)
  expect((await saidIn(await onlyPath())).map((line) => JSON.stringify(line))).toEqual(
    ['a', 'one', 'b', 'two'].map((text, at) =>
      JSON.stringify([at % 2 === 0 ? 'user' : 'assistant', [{ type: 'text', text }]]),
    ),
  )
})

function sum(usage: readonly object[], key: string): number {
  return usage.reduce((total, each) => total + Number(field(each, key) ?? 0), 0)
}

describe('the AI SDK', () => {
  const tools = {
    weather: tool({
      description: 'Tells it.',
      inputSchema: z.object({ city: z.string() }),
      execute: () => 'rain',
    }),
  }

  test.each(['generateText', 'streamText'] as const)('[ADP2] %s is recorded, each turn once', async (way) => {
    api = await openModelApi(inTurns(...WEATHER))
    const middleware = recordMiddleware(about())
    // What is made here is what the SDK asks for.
    const fits: LanguageModelMiddleware = middleware
    const anthropic = createAnthropic({ apiKey: 'dummy', baseURL: `${api.url}/v1` })
    const model = wrapLanguageModel({ model: anthropic('claude-sonnet-4-5'), middleware: fits })
    const options = {
      model,
      tools,
      prompt: 'How is the weather in Oslo?',
      stopWhen: stepCountIs(3),
      maxRetries: 0,
    }
    const result = way === 'generateText' ? await generateText(options) : streamText(options)
    expect(await result.text).toBe('It rains in Oslo.')
    const steps = await result.steps
    await middleware.end()
    const path = await onlyPath()
    expect(await saidIn(path)).toEqual(EXPECTED)
    const { errors, tokens } = await checkWithEntire(path)
    expect(errors).toEqual({})
    const usages = steps.map(({ usage }) => usage)
    expect([tokens.input + tokens.cacheRead + tokens.cacheCreation, tokens.output, tokens.calls]).toEqual([
      sum(usages, 'inputTokens'),
      sum(usages, 'outputTokens'),
      2,
    ])
    const [, reply] = await linesOf(path)
    expect(field(reply?.['message'], 'stop_reason')).toBe('tool_use')
    expect(field(reply?.['message'], 'id')).toMatch(/^msg_01Scripted/)
  })

  test('[ADP3] a stream is passed on as it is, and what was heard of one that is left is recorded', async () => {
    api = await openModelApi(
      inTurns([{ kind: 'text', text: 'one two three four five six', everyMs: 5 }, { kind: 'hang' }]),
    )
    const middleware = recordMiddleware(about())
    const anthropic = createAnthropic({ apiKey: 'dummy', baseURL: `${api.url}/v1` })
    const model = wrapLanguageModel({ model: anthropic('claude-sonnet-4-5'), middleware })
    const gone = new AbortController()
    const { textStream } = streamText({
      model,
      tools,
      prompt: 'Count.',
      abortSignal: gone.signal,
      maxRetries: 0,
      onError: () => {},
    })
    let heard = ''
    try {
      for await (const piece of textStream) {
        heard += piece
        if (heard.endsWith('six')) gone.abort()
      }
    } catch {
      // Leaving is told as an error.
    }
    await middleware.end()
    expect(await saidIn(await onlyPath())).toEqual([
      ['user', [{ type: 'text', text: 'Count.' }]],
      ['assistant', [{ type: 'text', text: heard }]],
    ])
  })
})

describe('the Agents SDK of OpenAI', () => {
  const weather = agentTool({
    name: 'weather',
    description: 'Tells it.',
    parameters: z.object({ city: z.string() }),
    execute: () => Promise.resolve('rain'),
  })

  async function ask(client: OpenAI, session?: Session): Promise<string> {
    setTracingDisabled(true)
    const agent = new Agent({
      name: 'Ann',
      model: new OpenAIResponsesModel(client, 'gpt-5'),
      tools: [weather],
    })
    const result = await new Runner({ tracingDisabled: true }).run(agent, 'How is the weather in Oslo?', {
      stream: true,
      ...(session === undefined ? {} : { session }),
    })
    await result.completed
    return result.finalOutput ?? ''
  }

  test('[ADP4] a client of OpenAI is recorded, each turn once, with exact tokens', async () => {
    api = await openModelApi(inTurns(...WEATHER))
    const recorded = recordOpenAI(
      new OpenAI({ apiKey: 'dummy', baseURL: `${api.url}/v1`, maxRetries: 0 }),
      about(),
    )
    expect(await ask(recorded.client)).toBe('It rains in Oslo.')
    await recorded.end()
    const path = await onlyPath()
    expect((await saidIn(path)).map((line) => (Array.isArray(line) ? line[0] : line))).toEqual([
      'user',
      'assistant',
      'user',
      'assistant',
    ])
    const { errors, tokens } = await checkWithEntire(path)
    expect(errors).toEqual({})
    expect(tokens.calls).toBe(2)
    expect(tokens.output).toBeGreaterThan(0)
  })

  test('[ADP5] its session is a recording, and another one goes on where it was', async () => {
    api = await openModelApi(inTurns(...WEATHER, [{ kind: 'text', text: 'Still rain.' }]))
    const client = new OpenAI({ apiKey: 'dummy', baseURL: `${api.url}/v1`, maxRetries: 0 })
    const session: AgentsSession<AgentInputItem> = await createAgentsSession(about())
    const fits: Session = session
    expect(await ask(client, fits)).toBe('It rains in Oslo.')
    const items = await session.getItems()
    expect(items.map(({ type }) => type)).toEqual([
      'message',
      'reasoning',
      'message',
      'function_call',
      'function_call_result',
      'message',
    ])
    const sessionId = await session.getSessionId()
    await session.end()

    const again = await createAgentsSession<AgentInputItem>({ ...about(), sessionId })
    expect(await again.getItems()).toEqual(items)
    expect(await ask(client, again)).toBe('Still rain.')
    expect(JSON.stringify(api.requests.at(-1)?.body)).toContain('It rains in Oslo.')
    await again.end()
    const { errors } = await checkWithEntire(join(dir.path, '.entire', 'metadata', sessionId, 'full.jsonl'))
    expect(errors).toEqual({})
  })

  test('[ADP5] items come back as they were added, popped and cleared ones do not, and nothing is lost', async () => {
    api = await openModelApi()
    const step = fc.oneof(
      {
        weight: 4,
        arbitrary: fc.record({ do: fc.constant('add' as const), text: fc.string(), extra: fc.jsonValue() }),
      },
      { weight: 2, arbitrary: fc.constant({ do: 'pop' as const }) },
      { weight: 1, arbitrary: fc.constant({ do: 'clear' as const }) },
      { weight: 1, arbitrary: fc.constant({ do: 'reopen' as const }) },
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        let session = await createAgentsSession(about())
        const sessionId = await session.getSessionId()
        let model: JsonObject[] = []
        let added = 0
        for (const each of steps) {
          if (each.do === 'add') {
            const item = {
              type: 'message',
              role: 'user',
              content: each.text,
              providerData: { x: each.extra },
            }
            await session.addItems([item])
            model.push(...[parseJson(JSON.stringify(item))].filter(isObject))
            added++
          }
          if (each.do === 'pop') expect(await session.popItem()).toEqual(model.pop())
          if (each.do === 'clear') {
            await session.clearSession()
            model = []
          }
          if (each.do === 'reopen' && added > 0) {
            await session.end()
            session = await createAgentsSession({ ...about(), sessionId })
          }
          expect(await session.getItems()).toEqual(model)
          expect(await session.getItems(2)).toEqual(model.slice(-2))
        }
        await session.end()
        if (added > 0) {
          const lines = await linesOf(join(dir.path, '.entire', 'metadata', sessionId, 'full.jsonl'))
          expect(lines).toHaveLength(added)
        }
      }),
      runs(10),
    )
  })
})
