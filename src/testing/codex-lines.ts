import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Makes lines as Codex 0.166 writes them, with ordinals and times that go on from line to line. */
export interface RolloutMaker {
  readonly meta: (fields?: object) => string
  readonly item: (payload: object, metadata?: object) => string
  readonly prompt: (text: string) => string
  readonly reply: (text: string) => string
  readonly call: (callId: string, input: object) => string
  readonly output: (callId: string, output: unknown) => string
  readonly bill: (responseId: string, usage: object) => string
  /** The sums of a thread, as every version since 0.34 writes them beside its answers or in place of bills. */
  readonly sums: (last: SumFigures, total: SumFigures) => string
  readonly event: (payload: object) => string
  readonly line: (type: string, payload: object) => string
}

export interface SumFigures {
  readonly input: number
  readonly cached?: number
  readonly output: number
  /** Of an estimate, where the other figures are 0. */
  readonly estimate?: number
}

function toFigures({ input, cached = 0, output, estimate = input + output }: SumFigures): object {
  return {
    input_tokens: input,
    cached_input_tokens: cached,
    output_tokens: output,
    reasoning_output_tokens: 0,
    total_tokens: estimate,
  }
}

/** Every line ends in a newline. */
export function createRollout(
  options: { readonly id?: string; readonly cwd?: string; readonly ordinal?: number } = {},
): RolloutMaker {
  const { id = ROLLOUT, cwd = '/home/user/work' } = options
  let ordinal = options.ordinal ?? 0
  const line = (type: string, payload: object, metadata?: object): string => {
    const timestamp = new Date(Date.UTC(2026, 10, 15) + ordinal * 1000).toISOString()
    return `${JSON.stringify({ timestamp, ordinal: ordinal++, type, payload, ...(metadata === undefined ? {} : { metadata }) })}\n`
  }
  const item = (payload: object, metadata?: object): string => line('response_item', payload, metadata)
  const message = (role: string, part: object, kind: string): string =>
    item({
      type: 'message',
      id: `msg_${ordinal}`,
      role,
      content: [part],
      internal_chat_message_metadata_passthrough: { turn_id: 't', content_item_kinds: [kind] },
    })
  return {
    meta: (fields = {}) =>
      line('session_meta', {
        session_id: id,
        id,
        cwd,
        originator: 'test',
        cli_version: '0.166.0',
        ...fields,
      }),
    item,
    prompt: (text) => message('user', { type: 'input_text', text }, 'user.text'),
    reply: (text) => message('assistant', { type: 'output_text', text, annotations: [] }, 'unknown'),
    call: (callId, input) =>
      item({
        type: 'function_call',
        id: `fc_${callId}`,
        name: 'exec_command',
        arguments: JSON.stringify(input),
        call_id: callId,
      }),
    output: (callId, output) => item({ type: 'function_call_output', call_id: callId, output }),
    bill: (responseId, usage) =>
      line('token_usage_record', {
        response_id: responseId,
        usage,
        thread_token_usage: { input_tokens: 1e9 },
      }),
    sums: (last, total) =>
      line('event_msg', {
        type: 'token_count',
        info: {
          total_token_usage: toFigures(total),
          last_token_usage: toFigures(last),
          model_context_window: 258_400,
        },
        rate_limits: null,
      }),
    event: (payload) => line('event_msg', payload),
    line,
  }
}

export const ROLLOUT = '01a1de18-8bda-70d3-afec-0bf95f6c91d7'

/** Puts a rollout where Codex would, and gives its path. */
export function writeRollout(
  codexHome: string,
  text: string,
  {
    name = ROLLOUT,
    folder = 'sessions/2026/11/15',
  }: { readonly name?: string; readonly folder?: string } = {},
): string {
  const path = join(codexHome, folder, `rollout-2026-11-15T07-25-13-${name}.jsonl`)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
  return path
}
