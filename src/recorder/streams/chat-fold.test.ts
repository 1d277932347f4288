import { expect, test } from 'vitest'
import type { JsonObject } from '#base'
import type { Answer } from './answer.ts'
import { createChatFold } from './chat-fold.ts'

function fold(chunks: readonly JsonObject[], isDone = true): Answer | undefined {
  const answer = createChatFold()
  for (const event of chunks) answer.event(event)
  if (isDone) answer.done()
  return answer.end()
}

function chunk(delta: JsonObject, choice: JsonObject = {}): JsonObject {
  return { id: 'c', model: 'm', object: 'chat.completion.chunk', choices: [{ index: 0, delta, ...choice }] }
}

test('[STR10] calls are put together by their number, also where a server numbers none', () => {
  const call = (fields: JsonObject): JsonObject => chunk({ tool_calls: [fields] })
  const numbered = fold([
    call({ index: 0, id: 'a', type: 'function', function: { name: 'ls', arguments: '' } }),
    call({ index: 1, id: 'b', type: 'function', function: { name: 'rm', arguments: '{"x"' } }),
    call({ index: 0, function: { arguments: '{"y":2}' } }),
    call({ index: 1, function: { arguments: ':1}' } }),
  ])
  expect(numbered?.message.content).toEqual([
    { type: 'tool_use', id: 'a', name: 'ls', input: { y: 2 } },
    { type: 'tool_use', id: 'b', name: 'rm', input: { x: 1 } },
  ])
  const bare = fold([
    call({ id: 'a', type: 'function', function: { name: 'ls', arguments: '{' } }),
    call({ function: { arguments: '}' } }),
    call({ id: 'b', type: 'custom', custom: { name: 'patch', input: '***' } }),
  ])
  expect(bare?.message.content).toEqual([
    { type: 'tool_use', id: 'a', name: 'ls', input: {} },
    { type: 'tool_use', id: 'b', name: 'patch', input: { input: '***' }, openai: { type: 'custom' } },
  ])
})

test('[STR10] thoughts of compatible servers, refusals and further choices are kept', () => {
  const answer = fold([
    chunk({ role: 'assistant', reasoning_content: 'Hm' }),
    chunk({ reasoning_content: 'm.' }),
    chunk({ refusal: 'I ' }),
    chunk({ refusal: 'won’t.' }, { finish_reason: 'stop' }),
    {
      ...chunk({ content: 'Other' }),
      choices: [{ index: 1, delta: { content: 'Other' }, finish_reason: 'length' }],
    },
  ])
  expect(answer?.message.content).toEqual([
    { type: 'thinking', thinking: 'Hmm.', openai: { field: 'reasoning_content' } },
    { type: 'text', text: 'I won’t.', openai: { part: { type: 'refusal' } } },
  ])
  expect(answer?.message).toMatchObject({
    stop_reason: 'end_turn',
    openai: {
      finish_reason: 'stop',
      choices: [{ index: 1, finish_reason: 'length', content: [{ type: 'text', text: 'Other' }] }],
    },
  })
})

test('[STR10] a server that never says that it is done is believed when it says why it stopped', () => {
  expect(fold([chunk({ content: 'x' })], false)?.outcome).toBe('cut')
  expect(fold([chunk({ content: 'x' }, { finish_reason: 'length' })], false)).toMatchObject({
    outcome: 'whole',
    message: { stop_reason: 'max_tokens' },
  })
})

test('[STR13] figures of chat completions are told in the fields of Anthropic', () => {
  const usage = { prompt_tokens: 100, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 60 } }
  const answer = fold([chunk({ content: 'x' }), { id: 'c', model: 'm', choices: [], usage }])
  expect(answer?.message.usage).toEqual({
    input_tokens: 40,
    output_tokens: 5,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 60,
    openai: usage,
  })
})
