import type { ServerResponse } from 'node:http'
import { field, isObject, list, string, type JsonObject } from '#base'
import { toPieces } from '#drivers'
import type { ModelStep } from './model-api-stream.ts'
import { gone, inHalves, sleep, type StreamFacts } from './model-api-wire.ts'

/**
 * Sends an answer as the Responses API of OpenAI does, as far as Codex looks at it. The tools of the cues become
 * those of Codex: `Bash` a command for which it must ask, `Write` a patch that adds a file. Any other goes as it is.
 */
export async function sendResponse(
  outgoing: ServerResponse,
  steps: readonly ModelStep[],
  facts: StreamFacts,
): Promise<void> {
  const first = steps[0]
  if (first?.kind === 'error') return refuse(outgoing, first.status, first.message)
  const id = `resp_scripted${String(facts.number)}`
  outgoing.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
  let index = -1
  let words = 0
  const output: object[] = []

  const send = (type: string, fields: object): void => {
    if (!outgoing.destroyed)
      outgoing.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`)
  }
  const begin = (item: object): void => {
    index += 1
    send('response.output_item.added', { output_index: index, item })
  }
  const end = (item: object): void => {
    output.push(item)
    send('response.output_item.done', { output_index: index, item })
  }
  const pieces = async (
    type: string,
    {
      texts,
      fields,
      everyMs = 0,
    }: { texts: readonly string[]; fields: object; everyMs?: number | undefined },
  ): Promise<void> => {
    for (const delta of texts) {
      if (everyMs > 0) await sleep(everyMs, outgoing)
      if (outgoing.destroyed) return
      words += 1
      send(type, { output_index: index, ...fields, delta })
    }
  }
  const itemId = (kind: string): string => `${kind}_scripted${String(facts.number)}x${String(index + 1)}`
  const beginText = (): { readonly id: string } & JsonObject => {
    const item = { type: 'message', id: itemId('msg'), role: 'assistant', content: [] }
    begin(item)
    return item
  }

  send('response.created', { response: { id, model: facts.model, status: 'in_progress' } })
  for (const step of steps) {
    if (outgoing.destroyed) return
    switch (step.kind) {
      case 'text': {
        const item = beginText()
        const fields = { item_id: item.id, content_index: 0 }
        await pieces('response.output_text.delta', {
          texts: toPieces(step.text),
          fields,
          everyMs: step.everyMs,
        })
        end({ ...item, status: 'completed', content: [{ type: 'output_text', text: step.text }] })
        break
      }
      case 'thinking': {
        const item = { type: 'reasoning', id: itemId('rs'), summary: [] }
        begin(item)
        const fields = { item_id: item.id, summary_index: 0 }
        send('response.reasoning_summary_part.added', { ...fields, part: { type: 'summary_text', text: '' } })
        await pieces('response.reasoning_summary_text.delta', {
          texts: toPieces(step.text),
          fields,
          everyMs: step.everyMs,
        })
        end({ ...item, summary: [{ type: 'summary_text', text: step.text }], encrypted_content: null })
        break
      }
      case 'tool': {
        const call = {
          id: itemId('fc'),
          call_id: step.id ?? itemId('call'),
          ...toCall(step.name, step.input),
        }
        begin({ ...call, ...('arguments' in call ? { arguments: '' } : { input: '' }) })
        if ('arguments' in call)
          await pieces('response.function_call_arguments.delta', {
            texts: inHalves(call.arguments),
            fields: { item_id: call.id },
          })
        end(call)
        break
      }
      case 'pause':
        await sleep(step.ms, outgoing)
        break
      case 'error':
        send('response.failed', {
          response: { id, status: 'failed', error: toErrorBody(step.status, step.message) },
        })
        outgoing.end()
        return
      case 'cut':
        await pieces('response.output_text.delta', {
          texts: ['This breaks off in '],
          fields: { item_id: beginText().id, content_index: 0 },
          everyMs: 5,
        })
        await sleep(20, outgoing)
        outgoing.destroy()
        return
      case 'hang':
        await gone(outgoing)
        return
    }
  }
  send('response.completed', { response: { id, status: 'completed', output, usage: toUsage(words) } })
  outgoing.end()
}

type Call =
  | {
      readonly type: 'function_call'
      readonly name: string
      readonly namespace?: string
      readonly arguments: string
    }
  | { readonly type: 'custom_tool_call'; readonly name: string; readonly input: string }

function toCall(name: string, input: unknown): Call {
  const command = string(input, 'command')
  const path = string(input, 'file_path')
  if (name === 'Bash' && command !== undefined)
    return {
      type: 'function_call',
      name: 'exec_command',
      arguments: JSON.stringify({
        cmd: command,
        // Whatever Codex holds to be harmless it runs in a sandbox, without asking anybody.
        sandbox_permissions: 'require_escalated',
        justification: 'The script says so.',
      }),
    }
  if (name === 'Write' && path !== undefined) {
    const lines = (string(input, 'content') ?? '').split('\n').map((line) => `+${line}`)
    const patch = ['*** Begin Patch', `*** Add File: ${path}`, ...lines, '*** End Patch', '']
    return { type: 'custom_tool_call', name: 'apply_patch', input: patch.join('\n') }
  }
  const [, namespace, tool] = /^(mcp__[^_]+|collaboration)__(.+)$/.exec(name) ?? []
  if (namespace !== undefined && tool !== undefined)
    return { type: 'function_call', namespace, name: tool, arguments: JSON.stringify(input) }
  return { type: 'function_call', name, arguments: JSON.stringify(input) }
}

/** Whether a request is one of the Responses API of OpenAI. */
export function isResponses(path: string): boolean {
  return /\/v1\/responses(?:\?|$)/u.test(path)
}

/** What was said in a request of this API: who said it, and the calls that are in it. */
export interface SaidItem {
  readonly role: 'user' | 'assistant' | 'other'
  readonly texts: readonly string[]
  /** Names the answer of the model that a call came with. */
  readonly callOf: string | undefined
}

/** Reads the conversation of a request. */
export function readSaid(body: JsonObject): readonly SaidItem[] {
  return list(body, 'input').map((item) => {
    const role = string(item, 'role')
    const isCall = string(item, 'type')?.endsWith('_call') ?? false
    return {
      role: role === 'user' ? 'user' : isCall || role === 'assistant' ? 'assistant' : 'other',
      texts: list(item, 'content').flatMap((part) => (isObject(part) ? (string(part, 'text') ?? []) : [])),
      callOf: isCall ? String(field(item, 'call_id')).split('x')[0] : undefined,
    }
  })
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
    input_tokens: 1212,
    input_tokens_details: { cached_tokens: 1000 },
    output_tokens: output + 1,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 1213 + output,
  }
}
