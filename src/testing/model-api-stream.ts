import type { ServerResponse } from 'node:http'
import { toPieces } from '#drivers'
import { gone, inHalves, sleep, type StreamFacts } from './model-api-wire.ts'

/** What a scripted model does, one thing after the other. */
export type ModelStep =
  | { readonly kind: 'text'; readonly text: string; readonly everyMs?: number | undefined }
  | { readonly kind: 'thinking'; readonly text: string; readonly everyMs?: number | undefined }
  | {
      readonly kind: 'tool'
      readonly name: string
      readonly input: unknown
      readonly id?: string | undefined
    }
  | { readonly kind: 'pause'; readonly ms: number }
  /** Instead of an answer when it comes first, otherwise as an error in the middle of the stream. */
  | { readonly kind: 'error'; readonly status: number; readonly message?: string | undefined }
  /** The connection breaks off, in the middle of a block where there is one. */
  | { readonly kind: 'cut' }
  /** Nothing more comes until the client goes away. */
  | { readonly kind: 'hang' }

const ERROR_TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  529: 'overloaded_error',
}

/** Sends an answer in one piece, to whoever does not ask for a stream: an agent that tries whether a model is there. */
export function sendWhole(outgoing: ServerResponse, steps: readonly ModelStep[], facts: StreamFacts): void {
  const error = steps.find((step) => step.kind === 'error')
  if (error) return sendError(outgoing, error.status, error.message)
  const content = steps.flatMap((step, index): readonly object[] => {
    if (step.kind === 'text') return [{ type: 'text', text: step.text }]
    if (step.kind === 'thinking')
      return [{ type: 'thinking', thinking: step.text, signature: 'c2NyaXB0ZWQ=' }]
    if (step.kind !== 'tool') return []
    const id = step.id ?? `toolu_01Scripted${String(facts.number)}x${String(index)}`
    return [{ type: 'tool_use', id, name: step.name, input: step.input }]
  })
  const calls = steps.some((step) => step.kind === 'tool')
  outgoing.writeHead(200, {
    'content-type': 'application/json',
    'request-id': `req_01Scripted${String(facts.number).padStart(6, '0')}`,
  })
  outgoing.end(
    JSON.stringify({
      id: `msg_01Scripted${String(facts.number).padStart(6, '0')}`,
      type: 'message',
      role: 'assistant',
      model: facts.model,
      content,
      stop_reason: calls ? 'tool_use' : 'end_turn',
      stop_sequence: null,
      usage: toUsage(content.length),
    }),
  )
}

/** Sends an answer as server-sent events, as the Messages API does. Ends when everything is sent or the client is gone. */
export async function sendSteps(
  outgoing: ServerResponse,
  steps: readonly ModelStep[],
  facts: StreamFacts,
): Promise<void> {
  const first = steps[0]
  if (first?.kind === 'error') return sendError(outgoing, first.status, first.message)

  const id = `msg_01Scripted${String(facts.number).padStart(6, '0')}`
  let index = -1
  let words = 0
  outgoing.writeHead(200, {
    'content-type': 'text/event-stream',
    'cache-control': 'no-cache',
    'request-id': `req_01Scripted${String(facts.number).padStart(6, '0')}`,
  })

  const send = (type: string, fields: object): void => {
    if (!outgoing.destroyed)
      outgoing.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`)
  }
  const begin = (block: object): void => {
    index += 1
    send('content_block_start', { index, content_block: block })
  }
  const deltas = async (pieces: readonly object[], everyMs = 0): Promise<void> => {
    for (const delta of pieces) {
      if (everyMs > 0) await sleep(everyMs, outgoing)
      if (outgoing.destroyed) return
      words += 1
      send('content_block_delta', { index, delta })
    }
  }
  const end = (): void => send('content_block_stop', { index })

  send('message_start', {
    message: {
      id,
      type: 'message',
      role: 'assistant',
      model: facts.model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: toUsage(1),
    },
  })
  send('ping', {})

  for (const step of steps) {
    if (outgoing.destroyed) return
    switch (step.kind) {
      case 'text':
        begin({ type: 'text', text: '' })
        await deltas(
          toPieces(step.text).map((text) => ({ type: 'text_delta', text })),
          step.everyMs,
        )
        end()
        break
      case 'thinking':
        begin({ type: 'thinking', thinking: '', signature: '' })
        await deltas(
          toPieces(step.text).map((thinking) => ({ type: 'thinking_delta', thinking })),
          step.everyMs,
        )
        await deltas([{ type: 'signature_delta', signature: 'c2NyaXB0ZWQ=' }])
        end()
        break
      case 'tool': {
        const toolId = step.id ?? `toolu_01Scripted${String(facts.number)}x${String(index + 1)}`
        begin({ type: 'tool_use', id: toolId, name: step.name, input: {} })
        await deltas(
          inHalves(JSON.stringify(step.input)).map((json) => ({
            type: 'input_json_delta',
            partial_json: json,
          })),
        )
        end()
        break
      }
      case 'pause':
        await sleep(step.ms, outgoing)
        break
      case 'error':
        send('error', { error: toErrorBody(step.status, step.message) })
        outgoing.end()
        return
      case 'cut':
        begin({ type: 'text', text: '' })
        await deltas([{ type: 'text_delta', text: 'This breaks off in ' }], 5)
        await sleep(20, outgoing)
        outgoing.destroy()
        return
      case 'hang':
        await gone(outgoing)
        return
    }
  }
  const stop = steps.some((step) => step.kind === 'tool') ? 'tool_use' : 'end_turn'
  send('message_delta', { delta: { stop_reason: stop, stop_sequence: null }, usage: toUsage(words + 1) })
  send('message_stop', {})
  outgoing.end()
}

function sendError(outgoing: ServerResponse, status: number, message: string | undefined): void {
  outgoing.writeHead(status, { 'content-type': 'application/json', 'retry-after': '0' })
  outgoing.end(JSON.stringify({ type: 'error', error: toErrorBody(status, message) }))
}

function toErrorBody(status: number, message: string | undefined): object {
  return { type: ERROR_TYPES[status] ?? 'api_error', message: message ?? `a scripted ${String(status)}` }
}

function toUsage(output: number): object {
  return {
    input_tokens: 12,
    output_tokens: output,
    cache_creation_input_tokens: 200,
    cache_read_input_tokens: 1000,
    cache_creation: { ephemeral_5m_input_tokens: 200, ephemeral_1h_input_tokens: 0 },
    service_tier: 'standard',
  }
}
