import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { list, object, string, type JsonObject } from '#base'
import { anySaid, inPieces, runs, SAID_IN_RESPONSES, toEventBytes } from '#testing'
import type { Answer } from './answer.ts'
import { createAnswerReader } from './answer-reader.ts'
import { createItemReferences } from './item-references.ts'
import { readModelRequest } from './request-reader.ts'
import { createResponsesFold } from './responses-fold.ts'
import { turnKey } from './turn-key.ts'

function fold(events: readonly JsonObject[]): Answer | undefined {
  const answer = createResponsesFold()
  for (const event of events) answer.event(event)
  return answer.end()
}

const CREATED = {
  type: 'response.created',
  response: { id: 'resp_1', model: 'gpt-said', status: 'in_progress' },
}

function done(output_index: number, item: JsonObject): JsonObject {
  return { type: 'response.output_item.done', output_index, item }
}

const REASONING = {
  type: 'reasoning',
  id: 'rs_1',
  summary: [
    { type: 'summary_text', text: 'First.' },
    { type: 'summary_text', text: 'Second.' },
  ],
  encrypted_content: 'gAAAA',
}

test('[STR12] items keep beside what was said whatever is needed to make them again', () => {
  const shell = {
    type: 'local_shell_call',
    id: 'lsh_1',
    call_id: 'c3',
    status: 'completed',
    action: { type: 'exec', command: ['ls'] },
  }
  const search = {
    type: 'web_search_call',
    id: 'ws_1',
    status: 'completed',
    action: { type: 'search', query: 'x' },
  }
  const answer = fold([
    CREATED,
    done(0, REASONING),
    done(1, { type: 'function_call', id: 'fc_1', call_id: 'c1', name: 'ls', arguments: '{"a": 1}' }),
    done(2, {
      type: 'custom_tool_call',
      id: 'ctc_1',
      call_id: 'c2',
      name: 'apply_patch',
      input: '*** Begin',
    }),
    done(3, shell),
    done(4, search),
    done(5, { type: 'hologram', id: 'h_1' }),
    done(6, {
      type: 'message',
      id: 'msg_1',
      role: 'assistant',
      phase: 'final',
      content: [
        { type: 'output_text', text: 'Said.', annotations: [{ type: 'url_citation', url: 'https://x' }] },
        { type: 'refusal', refusal: 'No.' },
      ],
    }),
    { type: 'response.completed', response: { id: 'resp_1', status: 'completed', output: [] } },
  ])
  expect(answer?.message.content).toEqual([
    { type: 'thinking', thinking: 'First.\n\nSecond.', openai: REASONING },
    {
      type: 'tool_use',
      id: 'c1',
      name: 'ls',
      input: { a: 1 },
      openai: { type: 'function_call', id: 'fc_1', arguments: '{"a": 1}' },
    },
    {
      type: 'tool_use',
      id: 'c2',
      name: 'apply_patch',
      input: { input: '*** Begin' },
      openai: { type: 'custom_tool_call', id: 'ctc_1' },
    },
    {
      type: 'tool_use',
      id: 'c3',
      name: 'local_shell',
      input: { type: 'exec', command: ['ls'] },
      openai: { type: 'local_shell_call', id: 'lsh_1', status: 'completed' },
    },
    search,
    { type: 'hologram', id: 'h_1' },
    {
      type: 'text',
      text: 'Said.',
      openai: {
        type: 'message',
        id: 'msg_1',
        phase: 'final',
        part: { type: 'output_text', annotations: [{ type: 'url_citation', url: 'https://x' }] },
      },
    },
    {
      type: 'text',
      text: 'No.',
      openai: { type: 'message', id: 'msg_1', phase: 'final', part: { type: 'refusal' } },
    },
  ])
  expect(answer).toMatchObject({
    provider: 'openai',
    outcome: 'whole',
    message: { stop_reason: 'tool_use', model: 'gpt-said' },
  })
})

test('[STR9] what is said of an item in the end wins over its pieces', () => {
  const said = (text: string): JsonObject => ({
    type: 'message',
    id: 'm',
    role: 'assistant',
    content: [{ type: 'output_text', text }],
  })
  const piece = {
    type: 'response.output_text.delta',
    output_index: 0,
    content_index: 0,
    item_id: 'm',
    delta: 'piece',
  }
  const texts = (events: readonly JsonObject[]): unknown => fold([CREATED, ...events])?.message.content
  expect(texts([piece])).toMatchObject([{ type: 'text', text: 'piece' }])
  expect(texts([piece, done(0, said('item'))])).toMatchObject([{ text: 'item' }])
  const completed = {
    type: 'response.completed',
    response: { status: 'completed', output: [said('response')] },
  }
  expect(texts([piece, done(0, said('item')), completed])).toMatchObject([{ text: 'response' }])
})

test('[STR9] items that were cut have the pieces that came', () => {
  const added = (output_index: number, item: JsonObject): JsonObject => ({
    type: 'response.output_item.added',
    output_index,
    item,
  })
  const answer = fold([
    CREATED,
    added(0, { type: 'reasoning', id: 'rs', summary: [] }),
    {
      type: 'response.reasoning_summary_part.added',
      output_index: 0,
      summary_index: 0,
      part: { type: 'summary_text', text: '' },
    },
    { type: 'response.reasoning_summary_text.delta', output_index: 0, summary_index: 0, delta: 'Hm' },
    { type: 'response.reasoning_summary_text.delta', output_index: 0, summary_index: 1, delta: 'Oh' },
    added(1, { type: 'function_call', id: 'fc', call_id: 'c1', name: 'ls', arguments: '' }),
    { type: 'response.function_call_arguments.delta', output_index: 1, delta: '{"pa' },
    added(2, { type: 'custom_tool_call', id: 'ctc', call_id: 'c2', name: 'apply_patch', input: '' }),
    { type: 'response.custom_tool_call_input.delta', item_id: 'ctc', delta: '*** Beg' },
    {
      type: 'response.output_text.delta',
      output_index: 3,
      content_index: 1,
      item_id: 'm',
      delta: 'second part',
    },
  ])
  expect(answer?.outcome).toBe('cut')
  expect(answer?.message).toMatchObject({ id: 'resp_1', stop_reason: null })
  expect(answer?.message.content).toMatchObject([
    { type: 'thinking', thinking: 'Hm\n\nOh' },
    { type: 'tool_use', id: 'c1', input: {}, openai: { arguments: '{"pa' } },
    { type: 'tool_use', id: 'c2', input: { input: '*** Beg' } },
    { type: 'text', text: '' },
    { type: 'text', text: 'second part' },
  ])
})

test('[STR9] an answer that the provider ended early, or broke off, says why', () => {
  const over = (type: string, response: JsonObject): Answer | undefined => fold([CREATED, { type, response }])
  const incomplete = { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }
  expect(over('response.incomplete', incomplete)).toMatchObject({
    outcome: 'whole',
    message: { stop_reason: 'max_tokens' },
  })
  const failed = { status: 'failed', error: { code: 'server_error', message: 'Broken' } }
  expect(over('response.failed', failed)).toMatchObject({
    outcome: 'failed',
    failure: 'server_error: Broken',
    message: { stop_reason: null },
  })
  expect(fold([CREATED, { type: 'error', code: 'rate_limit', message: 'Slow down' }])).toMatchObject({
    outcome: 'failed',
  })
})

test('[STR13] figures of OpenAI are told in the fields of Anthropic, and kept as they were', () => {
  const usage = {
    input_tokens: 1212,
    input_tokens_details: { cached_tokens: 1000, cache_write_tokens: 12 },
    output_tokens: 42,
    output_tokens_details: { reasoning_tokens: 7 },
  }
  const answer = fold([CREATED, { type: 'response.completed', response: { status: 'completed', usage } }])
  expect(answer?.message.usage).toEqual({
    input_tokens: 200,
    output_tokens: 42,
    cache_creation_input_tokens: 12,
    cache_read_input_tokens: 1000,
    openai: usage,
  })
})

/** The item that a block was made of, from nothing but the block. */
function toItem(block: JsonObject): JsonObject {
  const { part, ...rest } = object(block, 'openai') ?? {}
  if (block['type'] === 'tool_use')
    return { call_id: block['id'], name: block['name'], arguments: JSON.stringify(block['input']), ...rest }
  if (block['type'] === 'thinking')
    return { summary: [{ type: 'summary_text', text: block['thinking'] }], ...rest }
  const words = { ...(object({ part }, 'part') ?? { type: 'output_text' }), text: block['text'] }
  return { role: 'assistant', content: [words], ...rest }
}

test('[STR12] every item can be made again from its block', () => {
  fc.assert(
    fc.property(anySaid(), (said) => {
      const reader = createAnswerReader('responses')
      reader.add(toEventBytes(SAID_IN_RESPONSES.toEvents(said, inPieces(4))))
      const content = list(reader.end()?.message, 'content')
      const items = content.map((block) => toItem(object({ block }, 'block') ?? {}))
      expect(items).toEqual(list(SAID_IN_RESPONSES.toBody(said), 'output'))
    }),
    runs(50),
  )
})

test('[STR16] an answer that the next request only names by its items is known again', () => {
  fc.assert(
    fc.property(anySaid(), (said) => {
      const reader = createAnswerReader('responses')
      reader.add(toEventBytes(SAID_IN_RESPONSES.toEvents(said, inPieces(4))))
      const answer = reader.end()
      const references = createItemReferences()
      if (answer) references.remember(answer)
      const output = list(SAID_IN_RESPONSES.toBody(said), 'output')
      const named = output.map((item) => ({ type: 'item_reference', id: string(item, 'id') }))
      const read = readModelRequest('responses', { input: [{ role: 'user', content: 'x' }, ...named] }, '')
      const turn = read && references.resolve(read).turns[1]
      expect(turn?.content).toEqual(answer?.message.content)
      expect(turn && turnKey(turn)).toBe(
        answer && turnKey({ role: 'assistant', content: answer.message.content }),
      )
    }),
    runs(30),
  )
  const unknown = readModelRequest('responses', { input: [{ type: 'item_reference', id: 'msg_0' }] }, '')
  expect(unknown && createItemReferences().resolve(unknown)).toEqual(unknown)
})
