import type { Entry } from '#model'
import { readModelRequest } from '#recorder'
import { toAnthropic, toGemini, toOpenAIChat, toOpenAIResponses, toSaid } from '#restore'
import { findAnthropicFaults, findChatFaults, findGeminiFaults, findResponsesFaults } from '#testing'
import { describe, expect, test } from 'vitest'
import { recordConversation } from './recorded-conversation.ts'

/** What a request carries, recorded as the proxy does, and restored. */
async function throughRequest(api: 'responses' | 'chat' | 'gemini', body: object): Promise<readonly Entry[]> {
  const request = readModelRequest(api, body, '/v1')
  if (request === undefined) throw new Error('that is no request')
  return await recordConversation(async (recording) => {
    for (const { role, content } of request.turns) {
      if (role === 'user') await recording.user(content, { provider: request.provider })
      else await recording.assistant({ content }, { provider: request.provider })
    }
  })
}

describe('what a request carried, recorded and restored for the same provider', () => {
  test('[E2.1] [E8.1] items of every kind that the Responses API has', async () => {
    const annotation = {
      type: 'url_citation',
      url: 'https://example.com',
      title: 't',
      start_index: 0,
      end_index: 1,
    }
    const input = [
      {
        type: 'message',
        role: 'user',
        content: [
          { type: 'input_text', text: 'Look.' },
          { type: 'input_image', image_url: 'data:image/png;base64,iVBORw0KGgo=', detail: 'high' },
          { type: 'input_image', image_url: 'https://example.com/a.png', detail: 'auto' },
          { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERg==' },
          { type: 'input_file', file_id: 'file_1' },
        ],
      },
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'And hurry.' }] },
      { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAA' },
      { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'q' } },
      {
        type: 'reasoning',
        id: 'rs_2',
        summary: [
          { type: 'summary_text', text: 'one' },
          { type: 'summary_text', text: 'two' },
        ],
        encrypted_content: 'gBBB',
      },
      {
        type: 'message',
        id: 'msg_1',
        role: 'assistant',
        status: 'completed',
        content: [
          { type: 'output_text', text: 'First.', annotations: [annotation] },
          { type: 'output_text', text: 'Second.', annotations: [], logprobs: [] },
          { type: 'refusal', refusal: 'No further.' },
        ],
      },
      {
        type: 'function_call',
        id: 'fc_1',
        call_id: 'call_1',
        name: 'ls',
        arguments: '{ "a" : 1 }',
        status: 'completed',
      },
      { type: 'custom_tool_call', id: 'ctc_1', call_id: 'call_2', name: 'apply_patch', input: '*** Begin' },
      {
        type: 'local_shell_call',
        id: 'ls_1',
        call_id: 'call_3',
        status: 'completed',
        action: { type: 'exec', command: ['ls'], env: {} },
      },
      {
        type: 'apply_patch_call',
        id: 'ap_1',
        call_id: 'call_4',
        status: 'completed',
        operation: { type: 'delete_file', path: 'a' },
      },
      {
        type: 'computer_call',
        id: 'cu_1',
        call_id: 'call_5',
        status: 'completed',
        pending_safety_checks: [],
        action: { type: 'screenshot' },
      },
      { type: 'function_call_output', call_id: 'call_1', output: 'a\nb' },
      { type: 'custom_tool_call_output', call_id: 'call_2', output: 'done' },
      { type: 'local_shell_call_output', call_id: 'call_3', output: '{"output":""}' },
      { type: 'apply_patch_call_output', call_id: 'call_4', status: 'completed', output: 'gone' },
      {
        type: 'computer_call_output',
        call_id: 'call_5',
        output: { type: 'computer_screenshot', image_url: 'data:image/png;base64,iVBORw0KGgo=' },
      },
      { type: 'function_call', id: 'fc_6', call_id: 'call_6', name: 'see', arguments: '{}' },
      {
        type: 'function_call_output',
        call_id: 'call_6',
        output: [
          { type: 'input_text', text: 'seen' },
          { type: 'input_image', image_url: 'https://example.com/b.png', detail: 'low' },
        ],
      },
    ]
    const { input: restored, losses } = toOpenAIResponses(
      toSaid(await throughRequest('responses', { model: 'm', input })),
    )
    expect(losses).toEqual([])
    expect(restored).toEqual(input)
    expect(findResponsesFaults(restored)).toEqual([])
  })

  test('[E2.1] [E8.1] [RST11] messages of every kind that Chat Completions has', async () => {
    const call = (id: string, args: string): object => ({
      id,
      type: 'function',
      function: { name: 'ls', arguments: args },
    })
    const messages = [
      { role: 'user', name: 'ada', content: 'Look.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Here.' },
          { type: 'image_url', image_url: { url: 'https://example.com/a.png', detail: 'low' } },
          { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERg==' } },
          { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
        ],
      },
      {
        role: 'assistant',
        content: 'I look.',
        tool_calls: [
          call('call_0', '{ "a": 1 }'),
          call('call_1', '{}'),
          { id: 'call_2', type: 'custom', custom: { name: 'patch', input: '*** Begin' } },
        ],
      },
      { role: 'tool', tool_call_id: 'call_0', content: 'a' },
      { role: 'tool', tool_call_id: 'call_1', content: '' },
      { role: 'tool', tool_call_id: 'call_2', content: 'c' },
      // Servers that count the calls of each answer anew.
      { role: 'assistant', content: null, tool_calls: [call('call_0', '{"b":2}')] },
      { role: 'tool', tool_call_id: 'call_0', content: 'd' },
      { role: 'assistant', content: null, refusal: 'No further.' },
      { role: 'user', content: 'Why?' },
    ]
    const said = toSaid(await throughRequest('chat', { model: 'm', messages }))
    const restored = toOpenAIChat(said)
    expect(restored.losses).toEqual([])
    expect(restored.messages).toEqual(messages)
    expect(findChatFaults(restored.messages)).toEqual([])
    // Where an id may be there once only, it gets a number, and so does its result.
    expect(findAnthropicFaults(toAnthropic(said).messages)).toEqual([])
    expect(findResponsesFaults(toOpenAIResponses(said).input)).toEqual([])
    expect(JSON.stringify(toAnthropic(said).messages)).toContain('"tool_use_id":"call_0_2"')
  })

  test('[E2.1] [E8.1] [P07] parts of every kind that Gemini has, of calls made together only the first signed', async () => {
    const contents = [
      {
        role: 'user',
        parts: [
          { text: 'Look.' },
          { inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } },
          { inlineData: { mimeType: 'application/pdf', data: 'JVBERg==' } },
          {
            fileData: {
              mimeType: 'image/png',
              fileUri: 'https://generativelanguage.googleapis.com/v1/files/a',
            },
          },
          { inlineData: { mimeType: 'audio/wav', data: 'AAAA' } },
        ],
      },
      {
        role: 'model',
        parts: [
          { text: 'Hm.', thought: true },
          { text: 'I look.', thoughtSignature: 'c2lnMQ==' },
          { executableCode: { language: 'PYTHON', code: '1' } },
          { codeExecutionResult: { outcome: 'OUTCOME_OK', output: '1' } },
          { functionCall: { name: 'ls', args: { a: 1 } }, thoughtSignature: 'c2lnMg==' },
          { functionCall: { name: 'ls', args: {} } },
          { functionCall: { id: 'given', name: 'read', args: {} } },
        ],
      },
      {
        role: 'user',
        parts: [
          { functionResponse: { name: 'ls', response: { output: 'a' } } },
          { functionResponse: { name: 'ls', response: { error: 'no' } } },
          { functionResponse: { id: 'given', name: 'read', response: { lines: ['x'], more: false } } },
        ],
      },
      { role: 'model', parts: [{ text: 'Done.' }, { text: '', thoughtSignature: 'c2lnMw==' }] },
    ]
    const { contents: restored, losses } = toGemini(toSaid(await throughRequest('gemini', { contents })))
    expect(losses).toEqual([])
    expect(restored).toEqual(contents)
    expect(findGeminiFaults(restored)).toEqual([])
  })
})
