import { expect, test } from 'vitest'
import type { JsonObject } from '#base'
import type { Answer } from './answer.ts'
import { createGeminiFold } from './gemini-fold.ts'
import type { RequestTurn } from './model-request.ts'
import { readModelRequest } from './request-reader.ts'

function fold(chunks: readonly JsonObject[], turns: readonly RequestTurn[] = []): Answer | undefined {
  const answer = createGeminiFold(turns)
  for (const event of chunks) answer.event(event)
  return answer.end()
}

function chunk(parts: readonly object[], candidate: JsonObject = {}): JsonObject {
  return {
    candidates: [{ content: { role: 'model', parts }, ...candidate }],
    responseId: 'r1',
    modelVersion: 'gemini-said',
  }
}

test('[STR11] [STR12] parts become blocks, texts are joined but never over a signature, and the rest is kept', () => {
  const code = { executableCode: { language: 'PYTHON', code: 'print(1)' } }
  const audio = { inlineData: { mimeType: 'audio/wav', data: 'AAAA' } }
  const answer = fold([
    chunk([{ text: 'Let me', thought: true }]),
    chunk([{ text: ' see.', thought: true }]),
    chunk([{ text: 'One ' }]),
    chunk([{ text: 'two' }]),
    chunk([{ text: '', thoughtSignature: 'c2ln' }]),
    chunk([{ text: 'three' }]),
    chunk([{ functionCall: { id: 'f1', name: 'ls', args: { path: '.' } }, thoughtSignature: 'c2ln' }]),
    chunk([{ inlineData: { mimeType: 'image/png', data: 'iVBO' } }, audio, code]),
    {
      ...chunk([], { finishReason: 'STOP', groundingMetadata: { q: ['x'] } }),
      usageMetadata: {
        promptTokenCount: 10,
        cachedContentTokenCount: 4,
        candidatesTokenCount: 3,
        thoughtsTokenCount: 2,
      },
    },
  ])
  expect(answer?.message.content).toEqual([
    { type: 'thinking', thinking: 'Let me see.' },
    { type: 'text', text: 'One two' },
    { type: 'text', text: '', gemini: { thoughtSignature: 'c2ln' } },
    { type: 'text', text: 'three' },
    { type: 'tool_use', id: 'f1', name: 'ls', input: { path: '.' }, gemini: { thoughtSignature: 'c2ln' } },
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBO' } },
    { type: 'inlineData', gemini: audio },
    { type: 'executableCode', gemini: code },
  ])
  expect(answer?.message).toMatchObject({
    id: 'r1',
    model: 'gemini-said',
    stop_reason: 'tool_use',
    gemini: { finishReason: 'STOP', groundingMetadata: { q: ['x'] } },
  })
  expect(answer?.message.usage).toMatchObject({
    input_tokens: 6,
    cache_read_input_tokens: 4,
    output_tokens: 5,
    gemini: { thoughtsTokenCount: 2 },
  })
})

test('[STR17] calls without ids get the ones that they have in the next request, each its own', () => {
  const call = { functionCall: { name: 'ls', args: { path: '.', deep: { b: 1, a: 2 } } } }
  const request = {
    contents: [
      { role: 'user', parts: [{ text: 'Begin.' }] },
      { role: 'model', parts: [call, call] },
      {
        role: 'user',
        parts: [
          { functionResponse: { name: 'ls', response: { output: 'a' } } },
          { functionResponse: { name: 'ls', response: { output: 'b' } } },
        ],
      },
    ],
  }
  const before = readModelRequest('gemini', request, '')?.turns ?? []
  const answer = fold([chunk([call], { finishReason: 'STOP' })], before)
  const after = readModelRequest(
    'gemini',
    { contents: [...request.contents, { role: 'model', parts: [call] }] },
    '',
  )
  const ids = (after?.turns ?? []).flatMap(({ content }) =>
    content.flatMap((block) => ('id' in block ? [block.id] : [])),
  )
  expect(new Set(ids).size).toBe(3)
  expect(answer?.message.content).toMatchObject([{ id: ids[2] }])
  expect(before[2]?.content).toMatchObject([
    { type: 'tool_result', tool_use_id: ids[0], content: 'a' },
    { type: 'tool_result', tool_use_id: ids[1], content: 'b' },
  ])
})

test('[STR11] what was blocked, ended early, or wrapped once more is told', () => {
  expect(fold([{ promptFeedback: { blockReason: 'SAFETY' } }])).toMatchObject({
    outcome: 'whole',
    message: { content: [], stop_reason: 'refusal' },
  })
  expect(fold([chunk([{ text: 'x' }], { finishReason: 'MAX_TOKENS' })])).toMatchObject({
    message: { stop_reason: 'max_tokens' },
  })
  expect(fold([{ response: chunk([{ text: 'x' }]) }])).toMatchObject({
    outcome: 'cut',
    message: { content: [{ text: 'x' }] },
  })
  const two = {
    candidates: [
      { index: 0, content: { parts: [{ text: 'a' }] } },
      { index: 1, content: { parts: [{ text: 'b' }] }, finishReason: 'STOP' },
    ],
  }
  expect(fold([two])?.message).toMatchObject({
    content: [{ text: 'a' }],
    gemini: { candidates: [{ index: 1, content: [{ type: 'text', text: 'b' }] }] },
  })
})
