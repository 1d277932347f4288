import type { ServerResponse } from 'node:http'
import { isObject, list, string, type JsonObject } from '#base'
import { toPieces } from '#drivers'
import type { SaidItem } from './model-api-responses.ts'
import type { ModelStep } from './model-api-stream.ts'
import { gone, inHalves, sleep, type StreamFacts } from './model-api-wire.ts'

/**
 * Sends an answer as the Chat Completions API of OpenAI does, with `reasoning_content` for thinking, as the many
 * compatible servers have it. The tools of the cues become those of opencode: `Bash` and `Write`. Any other goes as
 * it is.
 */
export async function sendChat(
  outgoing: ServerResponse,
  steps: readonly ModelStep[],
  facts: StreamFacts & { readonly whole: boolean },
): Promise<void> {
  const first = steps[0]
  if (first?.kind === 'error') return refuse(outgoing, first.status, first.message)
  if (facts.whole) return sendWhole(outgoing, steps, facts)
  outgoing.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
  let words = 0
  let calls = 0

  const send = (fields: object): void => {
    if (!outgoing.destroyed)
      outgoing.write(
        `data: ${JSON.stringify({ ...toHead(facts), object: 'chat.completion.chunk', ...fields })}\n\n`,
      )
  }
  const delta = (value: object, finish: string | null = null): void => {
    send({ choices: [{ index: 0, delta: value, finish_reason: finish }] })
  }
  const pieces = async (key: string, texts: readonly string[], everyMs = 0): Promise<void> => {
    for (const text of texts) {
      if (everyMs > 0) await sleep(everyMs, outgoing)
      if (outgoing.destroyed) return
      words += 1
      delta({ [key]: text })
    }
  }

  delta({ role: 'assistant', content: '' })
  for (const step of steps) {
    if (outgoing.destroyed) return
    switch (step.kind) {
      case 'text':
        await pieces('content', toPieces(step.text), step.everyMs)
        break
      case 'thinking':
        await pieces('reasoning_content', toPieces(step.text), step.everyMs)
        break
      case 'tool': {
        const index = calls++
        const { id, name, input } = toCall(step, facts.number, index)
        delta({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] })
        for (const part of inHalves(JSON.stringify(input)))
          delta({ tool_calls: [{ index, function: { arguments: part } }] })
        break
      }
      case 'pause':
        await sleep(step.ms, outgoing)
        break
      case 'error':
        send({ error: toErrorBody(step.status, step.message) })
        outgoing.end()
        return
      case 'cut':
        await pieces('content', ['This breaks off in '], 5)
        await sleep(20, outgoing)
        outgoing.destroy()
        return
      case 'hang':
        await gone(outgoing)
        return
    }
  }
  delta({}, calls > 0 ? 'tool_calls' : 'stop')
  send({ choices: [], usage: toUsage(words) })
  if (!outgoing.destroyed) outgoing.end('data: [DONE]\n\n')
}

/** Whether a request is one of the Chat Completions API of OpenAI. */
export function isChat(path: string): boolean {
  return /\/chat\/completions(?:\?|$)/u.test(path)
}

/** Reads the conversation of a request of this API. */
export function readChat(body: JsonObject): readonly SaidItem[] {
  return list(body, 'messages').map((message, index): SaidItem => {
    const role = string(message, 'role')
    const whole = string(message, 'content')
    const parts = list(message, 'content').flatMap((part) =>
      isObject(part) ? (string(part, 'text') ?? []) : [],
    )
    return {
      role: role === 'user' || role === 'assistant' ? role : 'other',
      texts: whole === undefined ? parts : [whole],
      callOf: list(message, 'tool_calls').length > 0 ? String(index) : undefined,
    }
  })
}

function sendWhole(outgoing: ServerResponse, steps: readonly ModelStep[], facts: StreamFacts): void {
  const said = steps.flatMap((step) => (step.kind === 'text' ? [step.text] : []))
  const message = { role: 'assistant', content: said.join('') }
  outgoing.writeHead(200, { 'content-type': 'application/json' })
  outgoing.end(
    JSON.stringify({
      ...toHead(facts),
      object: 'chat.completion',
      choices: [{ index: 0, message, finish_reason: 'stop' }],
      usage: toUsage(said.length),
    }),
  )
}

function toHead(facts: StreamFacts): object {
  return { id: `chatcmpl-scripted${String(facts.number)}`, created: 1_794_728_000, model: facts.model }
}

function toCall(
  step: ModelStep & { kind: 'tool' },
  number: number,
  index: number,
): { readonly id: string; readonly name: string; readonly input: unknown } {
  const id = step.id ?? `call_scripted${String(number)}x${String(index)}`
  const command = string(step.input, 'command')
  const filePath = string(step.input, 'file_path')
  if (step.name === 'Bash' && command !== undefined)
    return { id, name: 'bash', input: { command, description: 'The script says so.' } }
  if (step.name === 'Write' && filePath !== undefined)
    return { id, name: 'write', input: { filePath, content: string(step.input, 'content') ?? '' } }
  return { id, name: step.name, input: isObject(step.input) ? step.input : {} }
}

function refuse(outgoing: ServerResponse, status: number, message: string | undefined): void {
  outgoing.writeHead(status, { 'content-type': 'application/json', 'retry-after': '0' })
  outgoing.end(JSON.stringify({ error: toErrorBody(status, message) }))
}

const ERROR_CODES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'invalid_api_key',
  429: 'rate_limit_exceeded',
}

function toErrorBody(status: number, message: string | undefined): object {
  const code = ERROR_CODES[status] ?? 'server_error'
  return { type: code, code, message: message ?? `a scripted ${String(status)}`, param: null }
}

function toUsage(output: number): object {
  return {
    prompt_tokens: 1212,
    prompt_tokens_details: { cached_tokens: 1000 },
    completion_tokens: output + 1,
    completion_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 1213 + output,
  }
}
