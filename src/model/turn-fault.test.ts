import { describe, expect, test } from 'vitest'
import { faultOf } from './turn-fault.ts'

describe('[P15] whose fault it is that the model could not be asked', () => {
  test.each([
    [400, 'messages.3.content.0: unexpected `tool_use_id` found in `tool_result` blocks', 'session'],
    [400, '`thinking` blocks in the latest assistant message cannot be modified', 'session'],
    [400, 'prompt is too long: 204000 tokens > 200000 maximum', 'session'],
    [413, 'Request exceeds the maximum size', 'session'],
    [422, 'No tool call found for function call output', 'session'],
    [undefined, 'function call is missing a thought_signature', 'session'],
    [400, 'Your credit balance is too low to access the API', 'account'],
    [400, 'API key not valid. Please pass a valid API key.', 'account'],
    [401, 'invalid x-api-key', 'account'],
    [403, 'forbidden', 'account'],
    [429, 'rate limited', 'limit'],
    [500, 'invalid_request_error inside', 'provider'],
    [529, 'Overloaded', 'provider'],
    [404, 'model: no such model', undefined],
    [undefined, 'socket hang up', undefined],
  ])('[P15] %s %s', (status, message, fault) => {
    expect(faultOf(message, status)).toBe(fault)
  })
})
