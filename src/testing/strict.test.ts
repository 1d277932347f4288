import { describe, expect, test } from 'vitest'
import { string } from '#base'
import { findAiSdkFaults } from './strict-ai-sdk.ts'
import { findAnthropicFaults, findSignedFaults } from './strict-anthropic.ts'
import { findGeminiFaults } from './strict-gemini.ts'
import { findChatFaults, findResponsesFaults } from './strict-openai.ts'
import { findForeignSeals } from './strict-seals.ts'

/** Requests that a provider refuses, and one that it takes: a validator that finds nothing in the first shows nothing. */
const say = (role: string, ...content: readonly object[]): object => ({ role, content })
const text = (words: string): object => ({ type: 'text', text: words })
const call = (id: string, more: object = {}): object => ({
  type: 'tool_use',
  id,
  name: 'Bash',
  input: {},
  ...more,
})
const result = (id: string, content: unknown = 'ok'): object => ({
  type: 'tool_result',
  tool_use_id: id,
  content,
})
const image = (source: object): object => ({ type: 'image', source })

/** The first bytes of a picture, which say how large it is. */
function png(width: number, height: number): object {
  const bytes = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ', 'base64')
  bytes.writeUInt32BE(width, 16)
  bytes.writeUInt32BE(height, 20)
  return image({ type: 'base64', media_type: 'image/png', data: bytes.toString('base64') })
}

const ANTHROPIC: readonly (readonly [string, readonly object[]])[] = [
  ['a picture that is too wide', [say('user', png(8_001, 1))]],
  [
    'many pictures of which one is too high',
    [say('user', png(1, 2_001), ...Array.from({ length: 20 }, () => png(1, 1)))],
  ],
  [
    'a picture that is called what it is not',
    [say('user', image({ type: 'base64', media_type: 'image/gif', data: 'iVBORw0K' }))],
  ],
  [
    'a picture of noughts in a result',
    [
      say('user', text('a')),
      say('assistant', call('1')),
      say('user', result('1', [image({ type: 'base64', media_type: 'image/png', data: 'AAAA' })])),
    ],
  ],
  ['no message', []],
  ['an answer first', [say('assistant', text('a'))]],
  ['one role twice', [say('user', text('a')), say('user', text('b'))]],
  ['an unknown role', [say('user', text('a')), say('system', text('b'))]],
  ['an empty content', [say('user')]],
  ['an empty text', [say('user', text(' '))]],
  ['a call without a result', [say('user', text('a')), say('assistant', call('1')), say('user', text('b'))]],
  ['a call at the end', [say('user', text('a')), say('assistant', call('1'))]],
  ['a result without a call', [say('user', result('1'))]],
  [
    'two results',
    [say('user', text('a')), say('assistant', call('1')), say('user', result('1'), result('1'))],
  ],
  [
    'a result after words',
    [say('user', text('a')), say('assistant', call('1')), say('user', text('b'), result('1'))],
  ],
  [
    'one id twice',
    [
      say('user', text('a')),
      say('assistant', call('1')),
      say('user', result('1')),
      say('assistant', call('1')),
      say('user', result('1')),
    ],
  ],
  ['an id with a dot', [say('user', text('a')), say('assistant', call('a.b')), say('user', result('a.b'))]],
  [
    'an input of text',
    [say('user', text('a')), say('assistant', call('1', { input: 'x' })), say('user', result('1'))],
  ],
  [
    'thinking without a text',
    [say('user', text('a')), say('assistant', { type: 'thinking', signature: 's' })],
  ],
  ['unsigned thinking', [say('user', text('a')), say('assistant', { type: 'thinking', thinking: 'hm' })]],
  ['a bitmap', [say('user', image({ type: 'base64', media_type: 'image/bmp', data: 'Qk0=' }))]],
  ['a picture without data', [say('user', image({ type: 'base64', media_type: 'image/png', data: '' }))]],
  ['half a character', [say('user', text('a \ud83d'))]],
  ['a nought', [say('user', text('a \0'))]],
  [
    'a call in a result',
    [say('user', text('a')), say('assistant', call('1')), say('user', result('1', [call('2')]))],
  ],
]

const message = (role: string, type: string, words = 'a'): object => ({
  type: 'message',
  role,
  content: [{ type, text: words }],
})
const made = (call_id: string, more: object = {}): object => ({
  type: 'function_call',
  call_id,
  name: 'a',
  arguments: '{}',
  ...more,
})
const out = (call_id: string, more: object = {}): object => ({
  type: 'function_call_output',
  call_id,
  output: 'ok',
  ...more,
})

const RESPONSES: readonly (readonly [string, readonly object[]])[] = [
  ['a call without an output', [made('1')]],
  ['an output without a call', [out('1')]],
  ['an output of another kind', [{ ...made('1'), type: 'custom_tool_call', input: 'x' }, out('1')]],
  ['one id twice', [made('1'), out('1'), made('1'), out('1')]],
  ['an id that is too long', [made('1'.repeat(65)), out('1'.repeat(65))]],
  ['arguments that are no object', [made('1', { arguments: 'ls' }), out('1')]],
  ['a name with a dot', [made('1', { name: 'a.b' }), out('1')]],
  ['reasoning alone', [{ type: 'reasoning', summary: [], encrypted_content: 'x' }]],
  [
    'reasoning without its encrypted form',
    [{ type: 'reasoning', summary: [] }, message('assistant', 'output_text')],
  ],
  ['words of a user in an answer', [message('assistant', 'input_text')]],
  ['words of an answer from a user', [message('user', 'output_text')]],
  ['an empty text', [message('user', 'input_text', '')]],
  ['an unknown item', [{ type: 'thought' }]],
]

const CHAT: readonly (readonly [string, readonly object[]])[] = [
  [
    'a call without an answer',
    [
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: '1', function: { name: 'a', arguments: '{}' } }],
      },
    ],
  ],
  ['an answer without a call', [{ role: 'tool', tool_call_id: '1', content: 'ok' }]],
  [
    'words between a call and its answer',
    [
      { role: 'assistant', tool_calls: [{ id: '1', function: { name: 'a', arguments: '{}' } }] },
      { role: 'user', content: 'b' },
      { role: 'tool', tool_call_id: '1', content: 'ok' },
    ],
  ],
  ['an answer of nothing', [{ role: 'assistant', content: null }]],
  ['an unknown part', [{ role: 'user', content: [{ type: 'input_text', text: 'a' }] }]],
  ['an unknown role', [{ role: 'developer2', content: 'a' }]],
]

const functionCall = (name: string): object => ({
  functionCall: { id: '1', name, args: {} },
  thoughtSignature: 's',
})
const GEMINI: readonly (readonly [string, readonly object[]])[] = [
  [
    'one role twice',
    [
      { role: 'user', parts: [{ text: 'a' }] },
      { role: 'user', parts: [{ text: 'b' }] },
    ],
  ],
  ['no parts', [{ role: 'user', parts: [] }]],
  [
    'a call without a response',
    [
      { role: 'model', parts: [functionCall('a')] },
      { role: 'user', parts: [{ text: 'a' }] },
    ],
  ],
  [
    'a response without a call',
    [{ role: 'user', parts: [{ functionResponse: { id: '1', name: 'a', response: {} } }] }],
  ],
  [
    'a response of another function',
    [
      { role: 'model', parts: [functionCall('a')] },
      { role: 'user', parts: [{ functionResponse: { id: '1', name: 'b', response: {} } }] },
    ],
  ],
  [
    'a call without its signature',
    [
      { role: 'model', parts: [{ functionCall: { id: '1', name: 'a', args: {} } }] },
      { role: 'user', parts: [{ functionResponse: { id: '1', name: 'a', response: {} } }] },
    ],
  ],
  ['an answer first', [{ role: 'model', parts: [{ text: 'a' }] }]],
  [
    'calls together of which only the second is signed',
    [
      { role: 'model', parts: [{ functionCall: { id: '0', name: 'a', args: {} } }, functionCall('a')] },
      {
        role: 'user',
        parts: ['0', '1'].map((id) => ({ functionResponse: { id, name: 'a', response: {} } })),
      },
    ],
  ],
  ['an empty text', [{ role: 'user', parts: [{ text: '' }] }]],
  ['an unknown role', [{ role: 'assistant', parts: [{ text: 'a' }] }]],
]

describe('strict validators', () => {
  test.each(ANTHROPIC)('[RST1] Anthropic refuses %s', (_what, messages) => {
    expect(findAnthropicFaults(messages)).not.toEqual([])
  })
  test.each(RESPONSES)('[RST1] Responses refuses %s', (_what, input) => {
    expect(findResponsesFaults(input)).not.toEqual([])
  })
  test.each(CHAT)('[RST1] Chat refuses %s', (_what, messages) => {
    expect(findChatFaults(messages)).not.toEqual([])
  })
  test.each(GEMINI)('[RST1] Gemini refuses %s', (what, contents) => {
    // What is wrong is what the row says, not how it begins.
    const isBegun = what === 'an answer first' || string(contents[0], 'role') !== 'model'
    const begun = isBegun ? contents : [{ role: 'user', parts: [{ text: 'a' }] }, ...contents]
    expect(findGeminiFaults(begun)).not.toEqual([])
  })

  test('[RST1] Anthropic refuses thinking in another answer than its own, and anybody what somebody else signed', () => {
    const thinking = { type: 'thinking', thinking: 'hm', signature: 's' }
    const answer = [thinking, call('1')]
    expect(findSignedFaults([say('assistant', ...answer)], [answer])).toEqual([])
    expect(findSignedFaults([say('assistant', call('1'), thinking)], [answer])).not.toEqual([])
    expect(findSignedFaults([say('assistant', thinking)], [answer])).not.toEqual([])
    expect(findForeignSeals([say('assistant', ...answer)], ['s'])).toEqual([])
    expect(findForeignSeals([say('assistant', ...answer)], ['t'])).toEqual(['corrupted signature: s'])
    expect(findForeignSeals([{ type: 'redacted_thinking', data: 'x' }], ['s'])).not.toEqual([])
  })

  test('[RST1] the AI SDK refuses calls without results, ids that some provider would not take, and what its schema does not know', async () => {
    const called = (toolCallId: string): object => ({
      role: 'assistant',
      content: [{ type: 'tool-call', toolCallId, toolName: 'a', input: {} }],
    })
    const given = (toolCallId: string): object => ({
      role: 'tool',
      content: [{ type: 'tool-result', toolCallId, toolName: 'a', output: { type: 'text', value: 'x' } }],
    })
    expect(await findAiSdkFaults([called('1'), given('1')])).toEqual([])
    for (const bad of [
      [called('1')],
      [called('1'), given('2')],
      [called('a.b'), given('a.b')],
      [called('1'), given('1'), called('1'), given('1')],
      [{ role: 'user', content: [{ type: 'text', text: '' }] }],
      [{ role: 'user', content: [{ type: 'strange' }] }],
    ])
      expect(await findAiSdkFaults(bad)).not.toEqual([])
  })

  test('[RST1] what is right is taken by each', () => {
    expect(
      findAnthropicFaults([
        say('user', text('a')),
        say('assistant', { type: 'thinking', thinking: 'hm', signature: 's' }, call('1')),
        say('user', result('1', [text('ok')]), text('b')),
        say('assistant', text('c')),
      ]),
    ).toEqual([])
    expect(
      findResponsesFaults([
        message('user', 'input_text'),
        { type: 'reasoning', summary: [], encrypted_content: 'x' },
        made('1'),
        out('1'),
        { ...message('assistant', 'output_text'), id: 'msg_1' },
      ]),
    ).toEqual([])
    expect(
      findChatFaults([
        { role: 'user', content: 'a' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: '1', function: { name: 'a', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: '1', content: 'ok' },
      ]),
    ).toEqual([])
    expect(
      findGeminiFaults([
        { role: 'user', parts: [{ text: 'a' }] },
        { role: 'model', parts: [functionCall('a')] },
        { role: 'user', parts: [{ functionResponse: { id: '1', name: 'a', response: {} } }] },
      ]),
    ).toEqual([])
  })
})
