import type { SaidPart, SaidShape, StreamEvent } from './said.ts'

/** An answer as Anthropic's Messages API streams it, sends it whole, and is sent it back. */
export const SAID_IN_MESSAGES: SaidShape = {
  api: 'messages',
  path: '/v1/messages',
  toEvents: (said, cut) => [
    event('message_start', { message: { ...HEAD, content: [], usage: STARTED } }),
    event('ping', {}),
    ...said.flatMap((part, index) => [
      event('content_block_start', { index, content_block: toStart(part) }),
      ...toDeltas(part, cut).map((delta) => event('content_block_delta', { index, delta })),
      event('content_block_stop', { index }),
    ]),
    event('message_delta', { delta: { stop_reason: toStop(said), stop_sequence: null }, usage: ENDED }),
    event('message_stop', {}),
  ],
  toBody: (said) => ({
    ...HEAD,
    content: said.map(toBlock),
    stop_reason: toStop(said),
    stop_sequence: null,
    usage: { ...STARTED, ...ENDED },
  }),
  toRequest: (said) => ({
    model: HEAD.model,
    max_tokens: 100,
    stream: true,
    system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
    messages: [
      { role: 'user', content: 'Begin.' },
      // Clients leave thoughts out, and mark what they send for the cache.
      {
        role: 'assistant',
        content: said
          .filter(({ kind }) => kind !== 'thinking')
          .map((part, index) => (index === 0 ? { ...toBlock(part), cache_control: MARK } : toBlock(part))),
      },
    ],
  }),
}

const MARK = { type: 'ephemeral' }

const HEAD = { id: 'msg_said', type: 'message', role: 'assistant', model: 'claude-said' }

const STARTED = {
  input_tokens: 12,
  cache_creation_input_tokens: 200,
  cache_read_input_tokens: 1000,
  cache_creation: { ephemeral_5m_input_tokens: 150, ephemeral_1h_input_tokens: 50 },
  output_tokens: 1,
  service_tier: 'standard',
}

const ENDED = { output_tokens: 42, server_tool_use: { web_search_requests: 1 } }

function event(type: string, fields: object): StreamEvent {
  return { event: type, data: { type, ...fields } }
}

function toStop(said: readonly SaidPart[]): string {
  return said.some(({ kind }) => kind === 'call') ? 'tool_use' : 'end_turn'
}

function toStart(part: SaidPart): object {
  if (part.kind === 'text') return { type: 'text', text: '' }
  if (part.kind === 'thinking') return { type: 'thinking', thinking: '', signature: '' }
  return { type: 'tool_use', id: part.id, name: part.name, input: {} }
}

function toDeltas(part: SaidPart, cut: (text: string) => readonly string[]): readonly object[] {
  if (part.kind === 'text') return cut(part.text).map((text) => ({ type: 'text_delta', text }))
  if (part.kind === 'call')
    return cut(JSON.stringify(part.input)).map((json) => ({ type: 'input_json_delta', partial_json: json }))
  const thoughts = cut(part.text).map((thinking) => ({ type: 'thinking_delta', thinking }))
  return [...thoughts, { type: 'signature_delta', signature: part.signature }]
}

function toBlock(part: SaidPart): object {
  if (part.kind === 'text') return { type: 'text', text: part.text }
  if (part.kind === 'thinking') return { type: 'thinking', thinking: part.text, signature: part.signature }
  return { type: 'tool_use', id: part.id, name: part.name, input: part.input }
}
