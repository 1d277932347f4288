import type { SaidPart, SaidShape, StreamEvent } from './said.ts'

/** An answer as OpenAI's Responses API streams it, sends it whole, and is sent it back. */
export const SAID_IN_RESPONSES: SaidShape = {
  api: 'responses',
  path: '/v1/responses',
  toEvents: (said, cut) => [
    event('response.created', { response: { ...RESPONSE, status: 'in_progress', output: [] } }),
    ...said.flatMap((part, index) => toItemEvents(part, index, cut)),
    event('response.completed', { response: toResponse(said) }),
  ],
  toBody: toResponse,
  toRequest: (said) => ({
    model: RESPONSE.model,
    stream: true,
    instructions: 'Be brief.',
    input: [
      { role: 'user', content: [{ type: 'input_text', text: 'Begin.' }] },
      ...said.map(toItem).map((item) => ({ ...item, status: undefined })),
    ],
  }),
}

const RESPONSE = {
  id: 'resp_said',
  object: 'response',
  created_at: 1_790_000_000,
  model: 'gpt-said',
  error: null,
}

function event(type: string, fields: object): StreamEvent {
  return { event: type, data: { type, ...fields } }
}

function toResponse(said: readonly SaidPart[]): object {
  return {
    ...RESPONSE,
    status: 'completed',
    output: said.map(toItem),
    usage: {
      input_tokens: 1212,
      input_tokens_details: { cached_tokens: 1000 },
      output_tokens: 42,
      output_tokens_details: { reasoning_tokens: 7 },
      total_tokens: 1254,
    },
  }
}

interface SaidItem {
  readonly id: string
  readonly [key: string]: unknown
}

function toItem(part: SaidPart, index: number): SaidItem {
  const done = { status: 'completed' }
  if (part.kind === 'text')
    return {
      id: `msg_${String(index)}`,
      type: 'message',
      ...done,
      role: 'assistant',
      content: [{ type: 'output_text', text: part.text, annotations: [] }],
    }
  if (part.kind === 'thinking')
    return {
      id: `rs_${String(index)}`,
      type: 'reasoning',
      ...done,
      summary: [{ type: 'summary_text', text: part.text }],
      encrypted_content: part.signature,
    }
  const args = JSON.stringify(part.input)
  const call = { type: 'function_call', call_id: part.id, name: part.name, arguments: args }
  return { id: `fc_${String(index)}`, ...done, ...call }
}

function toItemEvents(
  part: SaidPart,
  index: number,
  cut: (text: string) => readonly string[],
): readonly StreamEvent[] {
  const item = toItem(part, index)
  const at = { output_index: index, item_id: item.id }
  const inPart = { ...at, content_index: 0 }
  const done = event('response.output_item.done', { output_index: index, item })
  const added = (fields: object): StreamEvent =>
    event('response.output_item.added', {
      output_index: index,
      item: { ...item, status: 'in_progress', ...fields },
    })
  if (part.kind === 'text') {
    const empty = { type: 'output_text', text: '', annotations: [] }
    return [
      added({ content: [] }),
      event('response.content_part.added', { ...inPart, part: empty }),
      ...cut(part.text).map((delta) => event('response.output_text.delta', { ...inPart, delta })),
      event('response.output_text.done', { ...inPart, text: part.text }),
      event('response.content_part.done', { ...inPart, part: { ...empty, text: part.text } }),
      done,
    ]
  }
  if (part.kind === 'thinking') {
    const inSummary = { ...at, summary_index: 0 }
    const empty = { type: 'summary_text', text: '' }
    return [
      added({ summary: [], encrypted_content: '' }),
      event('response.reasoning_summary_part.added', { ...inSummary, part: empty }),
      ...cut(part.text).map((delta) =>
        event('response.reasoning_summary_text.delta', { ...inSummary, delta }),
      ),
      event('response.reasoning_summary_text.done', { ...inSummary, text: part.text }),
      done,
    ]
  }
  return [
    added({ arguments: '' }),
    ...cut(JSON.stringify(part.input)).map((delta) =>
      event('response.function_call_arguments.delta', { ...at, delta }),
    ),
    event('response.function_call_arguments.done', { ...at, arguments: JSON.stringify(part.input) }),
    done,
  ]
}

/** An answer as Chat Completions streams it, sends it whole, and is sent it back. It has one text and one thought. */
export const SAID_IN_CHAT: SaidShape = {
  api: 'chat',
  path: '/v1/chat/completions',
  toEvents: (said, cut) => [
    { data: chunk({ role: 'assistant', content: '' }) },
    ...said.filter((part) => part.kind === 'thinking').flatMap((part) => thoughts(part.text, cut)),
    ...said.filter((part) => part.kind === 'text').flatMap((part) => words(part.text, cut)),
    ...said.filter((part) => part.kind === 'call').flatMap((part, index) => toCallEvents(part, index, cut)),
    { data: { ...chunk({}), choices: [{ index: 0, delta: {}, finish_reason: toFinish(said) }] } },
    { data: { ...COMPLETION, object: 'chat.completion.chunk', choices: [], usage: CHAT_USAGE } },
    { data: '[DONE]' },
  ],
  toBody: (said) => ({
    ...COMPLETION,
    object: 'chat.completion',
    choices: [{ index: 0, message: toChatMessage(said), finish_reason: toFinish(said) }],
    usage: CHAT_USAGE,
  }),
  toRequest: (said) => ({
    model: COMPLETION.model,
    stream: true,
    messages: [
      { role: 'developer', content: 'Be brief.' },
      { role: 'user', content: 'Begin.' },
      toChatMessage(said.filter(({ kind }) => kind !== 'thinking')),
    ],
  }),
}

const COMPLETION = { id: 'chatcmpl-said', created: 1_790_000_000, model: 'gpt-said' }

const CHAT_USAGE = {
  prompt_tokens: 1212,
  completion_tokens: 42,
  total_tokens: 1254,
  prompt_tokens_details: { cached_tokens: 1000 },
}

function chunk(delta: object): object {
  return {
    ...COMPLETION,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason: null }],
  }
}

function thoughts(text: string, cut: (text: string) => readonly string[]): readonly StreamEvent[] {
  return cut(text).map((piece) => ({ data: chunk({ reasoning_content: piece }) }))
}

function words(text: string, cut: (text: string) => readonly string[]): readonly StreamEvent[] {
  return cut(text).map((piece) => ({ data: chunk({ content: piece }) }))
}

function toCallEvents(
  part: Extract<SaidPart, { kind: 'call' }>,
  index: number,
  cut: (text: string) => readonly string[],
): readonly StreamEvent[] {
  const { id, name, input } = part
  const first = { index, id, type: 'function', function: { name, arguments: '' } }
  return [
    { data: chunk({ tool_calls: [first] }) },
    ...cut(JSON.stringify(input)).map((piece) => ({
      data: chunk({ tool_calls: [{ index, function: { arguments: piece } }] }),
    })),
  ]
}

function toChatMessage(said: readonly SaidPart[]): object {
  const text = said.flatMap((part) => (part.kind === 'text' ? [part.text] : [])).join('')
  const thought = said.flatMap((part) => (part.kind === 'thinking' ? [part.text] : [])).join('')
  const calls = said.flatMap((part) =>
    part.kind === 'call'
      ? [
          {
            id: part.id,
            type: 'function',
            function: { name: part.name, arguments: JSON.stringify(part.input) },
          },
        ]
      : [],
  )
  return {
    role: 'assistant',
    content: text === '' ? null : text,
    ...(thought === '' ? {} : { reasoning_content: thought }),
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
  }
}

function toFinish(said: readonly SaidPart[]): string {
  return said.some(({ kind }) => kind === 'call') ? 'tool_calls' : 'stop'
}
