import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { string } from '#base'
import { anySaid, inPieces, runs, SAID_SHAPES, toEventBytes } from '#testing'
import { toUnits } from '../proxy/turn-units.ts'
import { createAnswerReader } from './answer-reader.ts'
import { findApi } from './provider-api.ts'
import { readModelRequest } from './request-reader.ts'
import { turnKey } from './turn-key.ts'

describe.each(SAID_SHAPES.map((shape) => [shape.api, shape] as const))('%s', (api, shape) => {
  test('[STR16] an answer is known again in the next request, by its turn and by each of its pieces', () => {
    fc.assert(
      fc.property(anySaid(), fc.integer({ min: 1, max: 9 }), (said, length) => {
        const request = readModelRequest(api, shape.toRequest(said), shape.path)
        const before = request && { ...request, turns: request.turns.slice(0, 1) }
        const reader = createAnswerReader(api, { request: before })
        reader.add(toEventBytes(shape.toEvents(said, inPieces(length))))
        const message = reader.end()?.message
        const content = typeof message?.content === 'string' ? [] : (message?.content ?? [])
        const again = request?.turns[1] ?? { role: 'assistant' as const, content: [] }
        expect(turnKey(again)).toBe(turnKey({ role: 'assistant', content }))
        expect(keysOf(again.content)).toEqual(keysOf(content))
      }),
      runs(100),
    )
  })

  test('[STR16] another answer has another key', () => {
    fc.assert(
      fc.property(anySaid(), fc.constantFrom('Bash', 'ls'), (said, name) => {
        const key = (parts: typeof said): string =>
          turnKey(
            readModelRequest(api, shape.toRequest(parts), shape.path)?.turns[1] ?? {
              role: 'user',
              content: [],
            },
          )
        const more = [...said, { kind: 'call' as const, id: 'another', name, input: { another: true } }]
        expect(key(more)).not.toBe(key(said))
        expect(key([...said, { kind: 'text', text: 'and another word' }])).not.toBe(key(said))
        const other = more.map((part) =>
          part.kind === 'call' ? { ...part, input: { another: false } } : part,
        )
        expect(key(other)).not.toBe(key(more))
      }),
      runs(30),
    )
  })

  test('[STR15] the first words, the system, the model and whether it is streamed are read', () => {
    const request = readModelRequest(api, shape.toRequest([{ kind: 'text', text: 'Said.' }]), shape.path)
    expect(request).toMatchObject({
      api,
      system: 'Be brief.',
      stream: true,
      turns: [
        { role: 'user', content: [{ type: 'text', text: 'Begin.' }] },
        { role: 'assistant', content: [{ type: 'text', text: 'Said.' }] },
      ],
    })
    expect(request?.model).toMatch(/-said$/u)
  })

  test('[STR21] whatever a request says, nothing is thrown', () => {
    const item = fc.oneof(
      fc.jsonValue(),
      fc.record(
        {
          role: fc.constantFrom('user', 'assistant', 'model', 'tool', 'system'),
          type: fc.constantFrom('message', 'function_call', 'function_call_output', 'reasoning', 'x_call'),
          call_id: fc.constantFrom('c1', 'c2'),
          content: fc.jsonValue(),
          parts: fc.oneof(fc.jsonValue(), fc.array(fc.record({ functionResponse: fc.jsonValue() }))),
          output: fc.jsonValue(),
          arguments: fc.jsonValue(),
          summary: fc.jsonValue(),
          tool_calls: fc.jsonValue(),
        },
        { requiredKeys: [] },
      ),
    )
    const items = fc.oneof(fc.jsonValue(), fc.array(item, { maxLength: 6 }))
    fc.assert(
      fc.property(items, fc.jsonValue(), (list, other) => {
        const body = {
          messages: list,
          input: list,
          contents: list,
          system: other,
          instructions: other,
          systemInstruction: other,
        }
        for (const turn of readModelRequest(api, body, '/x')?.turns ?? [])
          expect(turnKey(turn)).toMatch(/^\w{32}$/)
        readModelRequest(api, other, '')
      }),
      runs(150),
    )
    const deep = JSON.parse(`${'{"a":['.repeat(20_000)}${']}'.repeat(20_000)}`) as unknown
    const call = { type: 'function_call_output', call_id: 'c', output: deep, content: deep }
    readModelRequest(
      api,
      { messages: [call], input: [call], contents: [{ parts: [{ functionCall: { args: deep } }] }] },
      '',
    )
  })
})

function keysOf(content: readonly object[]): readonly string[] {
  return toUnits([
    { role: 'assistant', content: content.filter((block) => string(block, 'type') !== 'thinking') },
  ]).map(({ key }) => key)
}

test('[STR15] a request of Messages keeps its blocks, without marks for the cache', () => {
  const mark = { cache_control: { type: 'ephemeral' } }
  const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBO' } }
  const request = readModelRequest(
    'messages',
    {
      system: 'Be kind.',
      messages: [
        {
          role: 'user',
          content: [{ type: 'text', text: 'Look', ...mark }, image, { type: 'hologram', x: 1 }],
        },
        { role: 'assistant', content: 'Yes.' },
        {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: 't',
              is_error: true,
              content: [{ type: 'text', text: 'x', ...mark }],
              ...mark,
            },
            { type: 'text', text: 'Go on' },
          ],
        },
      ],
    },
    '/v1/messages',
  )
  expect(request).toMatchObject({ system: 'Be kind.', stream: false })
  expect(request?.turns).toEqual([
    { role: 'user', content: [{ type: 'text', text: 'Look' }, image, { type: 'hologram', x: 1 }] },
    { role: 'assistant', content: [{ type: 'text', text: 'Yes.' }] },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 't', is_error: true, content: [{ type: 'text', text: 'x' }] },
        { type: 'text', text: 'Go on' },
      ],
    },
  ])
})

test('[STR15] a request of Responses has one turn for what a model gave in a row and one for what its calls gave', () => {
  const search = { type: 'web_search_call', id: 'ws', status: 'completed' }
  const request = readModelRequest(
    'responses',
    {
      model: 'gpt-said',
      previous_response_id: 'resp_0',
      input: [
        { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'Rules.' }] },
        { type: 'additional_tools', tools: [] },
        {
          type: 'message',
          role: 'user',
          content: [
            { type: 'input_text', text: 'Look' },
            { type: 'input_image', image_url: 'data:image/png;base64,iVBO' },
            { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBE' },
          ],
        },
        { role: 'user', content: 'And now.' },
        { type: 'reasoning', id: 'rs', summary: [], encrypted_content: 'gAAA' },
        search,
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Calling.' }] },
        { type: 'function_call', call_id: 'c1', name: 'ls', arguments: '{}' },
        { type: 'custom_tool_call', call_id: 'c2', name: 'apply_patch', input: 'x' },
        { type: 'function_call_output', call_id: 'c1', output: 'a.txt' },
        { type: 'custom_tool_call_output', call_id: 'c2', output: [{ type: 'input_text', text: 'done' }] },
        { type: 'item_reference', id: 'msg_9' },
      ],
    },
    '/v1/responses',
  )
  expect(request).toMatchObject({ system: 'Rules.', follows: 'resp_0', model: 'gpt-said' })
  expect(request?.turns).toEqual([
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Look' },
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBO' } },
        {
          type: 'document',
          source: { type: 'base64', media_type: 'application/pdf', data: 'JVBE' },
          title: 'a.pdf',
          openai: { part: { type: 'input_file' } },
        },
      ],
    },
    { role: 'user', content: [{ type: 'text', text: 'And now.' }] },
    {
      role: 'assistant',
      content: [
        {
          type: 'thinking',
          thinking: '',
          openai: { type: 'reasoning', id: 'rs', encrypted_content: 'gAAA' },
        },
        search,
        { type: 'text', text: 'Calling.' },
        { type: 'tool_use', id: 'c1', name: 'ls', input: {}, openai: { type: 'function_call' } },
        {
          type: 'tool_use',
          id: 'c2',
          name: 'apply_patch',
          input: { input: 'x' },
          openai: { type: 'custom_tool_call' },
        },
      ],
    },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'c1', content: 'a.txt' },
        {
          type: 'tool_result',
          tool_use_id: 'c2',
          content: [{ type: 'text', text: 'done' }],
          openai: { type: 'custom_tool_call_output' },
        },
      ],
    },
    { role: 'assistant', content: [{ type: 'item_reference', id: 'msg_9' }] },
  ])
  expect(readModelRequest('responses', { input: 'Just words' }, '')?.turns).toEqual([
    { role: 'user', content: [{ type: 'text', text: 'Just words' }] },
  ])
})

test('[STR15] a request of Chat Completions has its results in one turn, each with its call', () => {
  const request = readModelRequest(
    'chat',
    {
      messages: [
        { role: 'system', content: 'Rules.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Look' },
            { type: 'image_url', image_url: { url: 'https://example.org/a.png', detail: 'high' } },
          ],
        },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'a', type: 'function', function: { name: 'ls', arguments: '{"x": 1}' } }],
        },
        { role: 'tool', tool_call_id: 'a', content: 'one' },
        { role: 'tool', tool_call_id: 'b', content: [{ type: 'text', text: 'two' }] },
        { role: 'user', content: 'Go on' },
      ],
    },
    '/v1/chat/completions',
  )
  expect(request?.system).toBe('Rules.')
  expect(request?.turns).toEqual([
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Look' },
        {
          type: 'image',
          source: { type: 'url', url: 'https://example.org/a.png' },
          openai: { part: { detail: 'high' } },
        },
      ],
    },
    {
      role: 'assistant',
      content: [
        { type: 'tool_use', id: 'a', name: 'ls', input: { x: 1 }, openai: { arguments: '{"x": 1}' } },
      ],
    },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'a', content: 'one' },
        { type: 'tool_result', tool_use_id: 'b', content: [{ type: 'text', text: 'two' }] },
      ],
    },
    { role: 'user', content: [{ type: 'text', text: 'Go on' }] },
  ])
})

test('[STR15] a request of Gemini pairs results with calls by id, by name and by order', () => {
  const request = readModelRequest(
    'gemini',
    {
      contents: [
        {
          role: 'user',
          parts: [{ text: 'Look' }, { fileData: { mimeType: 'application/pdf', fileUri: 'gs://x' } }],
        },
        {
          role: 'model',
          parts: [
            { functionCall: { id: 'f1', name: 'ls', args: {} } },
            { functionCall: { id: 'f2', name: 'ls', args: {} } },
          ],
        },
        {
          role: 'user',
          parts: [
            { functionResponse: { id: 'f2', name: 'ls', response: { error: 'no' } } },
            { functionResponse: { name: 'ls', response: { a: 1, b: 2 } } },
          ],
        },
      ],
    },
    '/v1beta/models/gemini-said:generateContent',
  )
  expect(request).toMatchObject({ model: 'gemini-said', stream: false, system: '' })
  expect(request?.turns[0]?.content[1]).toEqual({
    type: 'document',
    source: { type: 'url', url: 'gs://x' },
    gemini: { mimeType: 'application/pdf' },
  })
  expect(request?.turns[2]?.content).toEqual([
    {
      type: 'tool_result',
      tool_use_id: 'f2',
      content: 'no',
      is_error: true,
      gemini: { name: 'ls', field: 'error' },
    },
    { type: 'tool_result', tool_use_id: 'f1', content: '{"a":1,"b":2}', gemini: { name: 'ls' } },
  ])
  const wrapped = readModelRequest(
    'gemini',
    { model: 'g', request: { contents: 'Words' } },
    '/v1internal:streamGenerateContent',
  )
  expect(wrapped).toMatchObject({ model: 'g', stream: true, turns: [{ content: [{ text: 'Words' }] }] })
})

test('[STR18] only what asks a model for an answer is a conversation', () => {
  const found = (path: string, method = 'POST'): string | undefined => findApi(method, path)
  expect(found('/v1/messages?beta=true')).toBe('messages')
  expect(found('/v1/projects/p/locations/l/publishers/anthropic/models/claude-x:streamRawPredict')).toBe(
    'messages',
  )
  expect(found('/v1/responses')).toBe('responses')
  expect(found('/backend-api/codex/responses')).toBe('responses')
  expect(found('/openai/deployments/x/chat/completions?api-version=1')).toBe('chat')
  expect(found('/v1beta/models/gemini-pro:streamGenerateContent?alt=sse')).toBe('gemini')
  expect(found('/v1internal:generateContent')).toBe('gemini')
  for (const path of [
    '/v1/messages/count_tokens',
    '/v1/messages/batches',
    '/v1/responses/compact',
    '/v1/responses/resp_1/cancel',
    '/v1/models',
    '/v1/embeddings',
    '/v1beta/models/gemini-pro:countTokens',
    '/api/event_logging/batch',
    '/',
  ])
    expect(found(path)).toBeUndefined()
  expect(found('/v1/messages', 'GET')).toBeUndefined()
})
