import { expect, test } from 'vitest'
import type { JsonObject } from '#base'
import { createMessagesFold } from './messages-fold.ts'
import type { Answer } from './answer.ts'

function fold(events: readonly JsonObject[]): Answer | undefined {
  const answer = createMessagesFold()
  for (const event of events) answer.event(event)
  return answer.end()
}

const START = {
  type: 'message_start',
  message: {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-said',
    content: [],
    usage: {
      input_tokens: 12,
      cache_creation_input_tokens: 200,
      cache_read_input_tokens: 1000,
      cache_creation: { ephemeral_5m_input_tokens: 150, ephemeral_1h_input_tokens: 50 },
      output_tokens: 1,
      service_tier: 'standard',
    },
  },
}

test('[STR6] [D2.1] the figures of the beginning and of the end are one: later ones win, and none is lost', () => {
  const answer = fold([
    START,
    {
      type: 'message_delta',
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: {
        input_tokens: null,
        output_tokens: 42,
        cache_creation: { ephemeral_1h_input_tokens: 51 },
        server_tool_use: { web_search_requests: 2 },
      },
    },
    { type: 'message_delta', delta: {}, usage: { output_tokens: 43 } },
    { type: 'message_stop' },
  ])
  expect(answer?.message.usage).toEqual({
    input_tokens: 12,
    output_tokens: 43,
    cache_creation_input_tokens: 200,
    cache_read_input_tokens: 1000,
    cache_creation: { ephemeral_5m_input_tokens: 150, ephemeral_1h_input_tokens: 51 },
    server_tool_use: { web_search_requests: 2 },
    service_tier: 'standard',
  })
  expect(answer).toMatchObject({ outcome: 'whole', message: { stop_reason: 'end_turn' } })
})

test('[STR7] input that is no JSON, or was cut, is kept as the model wrote it', () => {
  const begun = {
    type: 'content_block_start',
    index: 0,
    content_block: { type: 'tool_use', id: 't', name: 'ls', input: {} },
  }
  const piece = (partial_json: string): JsonObject => ({
    type: 'content_block_delta',
    index: 0,
    delta: { type: 'input_json_delta', partial_json },
  })
  const content = (events: readonly JsonObject[]): unknown => fold([START, begun, ...events])?.message.content
  const call = { type: 'tool_use', id: 't', name: 'ls' }
  expect(content([])).toEqual([{ ...call, input: {} }])
  expect(content([piece(''), piece('{"a":'), piece('[1,2]}')])).toEqual([{ ...call, input: { a: [1, 2] } }])
  expect(content([piece('{"a":'), piece('[1,')])).toEqual([{ ...call, input: {}, partial_json: '{"a":[1,' }])
  expect(content([piece('not JSON')])).toEqual([{ ...call, input: {}, partial_json: 'not JSON' }])
  expect(content([piece('"words"')])).toEqual([{ ...call, input: 'words' }])
})

test('[STR5] deltas that nobody knows are kept with their block, and blocks whose beginning was missed are there', () => {
  const delta = { type: 'aroma_delta', aroma: 'lemon' }
  const answer = fold([
    START,
    { type: 'content_block_start', index: 0, content_block: { type: 'scent', strength: 3 } },
    { type: 'content_block_delta', index: 0, delta },
    { type: 'content_block_delta', index: 2, delta: { type: 'text_delta', text: 'late' } },
    { type: 'a_new_event', of: 'tomorrow' },
  ])
  expect(answer).toMatchObject({ outcome: 'cut', message: { id: 'msg_1', stop_reason: null } })
  expect(answer?.message.content).toEqual([
    { type: 'scent', strength: 3, deltas: [delta] },
    { type: 'text', text: 'late' },
  ])
})

test('[STR8] nothing is heard where no message began', () => {
  expect(fold([])).toBeUndefined()
  expect(
    fold([{ type: 'ping' }, { type: 'error', error: { type: 'overloaded_error', message: 'x' } }]),
  ).toBeUndefined()
})
