import { expect, test } from 'vitest'
import type { AgentFact } from '../driver.ts'
import { createUpdateReader } from './read-update.ts'
import { openTurn } from './turn.ts'

/** What is told of a prompt that the agent answers with this error. */
async function outcomeOf(error: {
  readonly code?: number
  readonly message: string
  readonly data?: object
}) {
  const facts: AgentFact[] = []
  const turn = openTurn({
    connection: {
      async request() {
        throw Object.assign(new Error(error.message), error)
      },
      notify: async () => {},
      closed: new Promise(() => {}),
      isClosed: () => false,
      close() {},
    },
    sessionId: 's',
    waiting: { prompt: { id: 'p', blocks: [] }, content: [], take() {} },
    reader: createUpdateReader(),
    tell: (fact) => void facts.push(fact),
  })
  await turn.over
  return facts.flatMap((fact) => (fact.kind === 'turn.ended' ? fact.outcome : []))[0]
}

const opencode = (message: string): Parameters<typeof outcomeOf>[0] => ({
  code: -32_603,
  message: `Internal error: ${message}`,
  data: { service: 'session', errorName: 'APIError' },
})

test.each([
  ['a scripted 429', 'limit', true],
  ["This request would exceed your organization's rate limit of 50,000 input tokens", 'limit', true],
  ['You exceeded your current quota, please check your plan', 'limit', true],
  ['Overloaded', 'provider', true],
  ['a scripted 529', 'provider', true],
  ['Internal server error', 'provider', true],
  ['a scripted 500', 'provider', true],
  ['The upstream model is being moved', undefined, true],
  ['prompt is too long: 212429 tokens > 200000 maximum', 'session', false],
  ['messages.1.content.0: text content blocks must be non-empty', 'session', false],
  ['a scripted 400', 'session', false],
  ['invalid x-api-key', 'account', false],
] as const)(
  '[DRV64] opencode, which tells no status: %j is the fault of %s, to be tried again: %s',
  async (words, fault, retry) => {
    expect(await outcomeOf(opencode(words))).toEqual({
      kind: 'failed',
      message: `Internal error: ${words}`,
      status: undefined,
      fault,
      retry,
    })
  },
)

test('[DRV64] the JSON of a provider is told as its sentence, and a lost connection in words', async () => {
  const gemini = {
    code: 400,
    message: '{"error":{"code":400,"message":"Please use a valid role","status":"INVALID_ARGUMENT"}}',
  }
  expect(await outcomeOf(gemini)).toEqual({
    kind: 'failed',
    message: 'Please use a valid role (INVALID_ARGUMENT)',
    status: 400,
    fault: 'session',
    retry: false,
  })
  expect(await outcomeOf({ code: 500, message: 'terminated' })).toEqual({
    kind: 'failed',
    message: 'the connection to the provider was lost in the middle of the answer',
    status: 500,
    fault: 'provider',
    retry: true,
  })
})
