import { answered, call, given, image, PNG, said, text, type Poison } from './lines.ts'

/** Blocks that were written wrong by whoever made the session: their form is refused wherever they stand. */
const SESSIONS: readonly (readonly [
  what: string,
  lines: Poison['lines'],
  more?: Partial<Pick<Poison, 'kinds' | 'difference' | 'isHandled'>>,
])[] = [
  ['a text block without text', said({ type: 'text' }), { isHandled: true }],
  ['a text block whose text is null', said({ type: 'text', text: null }), { isHandled: true }],
  ['a text block whose text is a number', said({ type: 'text', text: 42 }), { isHandled: true }],
  ['a block without a type', said({ words: 'lost' }), { isHandled: true }],
  ['an image without a source', said({ type: 'image' })],
  [
    'an image whose data is missing',
    said({ type: 'image', source: { type: 'base64', media_type: 'image/png' } }),
  ],
  ['a document without a source', said({ type: 'document', title: 'a.pdf' })],
  ['a tool call in a prompt', said(call('toolu_9'))],
  ['thinking in a prompt', said({ type: 'thinking', thinking: 'hm', signature: 'sig' })],
  ['an image in an answer', answered(text('so'), image(PNG))],
  [
    'a tool call without an id',
    answered(text('so'), { type: 'tool_use', name: 'Bash', input: {} }),
    { isHandled: true },
  ],
  [
    'a tool call without a name, and its result',
    (make) => [
      make.prompt('go'),
      make.reply([text('so'), { type: 'tool_use', id: 'toolu_1', input: {} }]),
      make.result('toolu_1', 'done'),
    ],
    { kinds: ['block-malformed', 'result-orphaned'], difference: { gone: 1, blocks: 1 } },
  ],
  [
    'a tool call without an input',
    (make) => [
      make.prompt('go'),
      make.reply([{ type: 'tool_use', id: 'toolu_1', name: 'Bash' }]),
      make.result('toolu_1', 'done'),
    ],
  ],
  [
    'a tool call whose input is a string',
    (make) => [
      make.prompt('go'),
      make.reply([{ type: 'tool_use', id: 'toolu_1', name: 'Bash', input: '{"command":"ls"}' }]),
      make.result('toolu_1', 'done'),
    ],
  ],
  [
    'a tool result without the id of its call',
    said({ type: 'tool_result', content: 'lost' }),
    { isHandled: true },
  ],
  [
    'a tool result in an answer',
    answered(text('so'), { type: 'tool_result', tool_use_id: 'toolu_1', content: 'x' }),
    { isHandled: true },
  ],
  ['a text without text among what a tool gave', given([text('seen'), { type: 'text' }])],
  ['a bare string among what a tool gave', given(['seen'])],
  ['a tool call among what a tool gave', given([text('seen'), call('toolu_9')])],
  ['a block where the list of what a tool gave belongs', given(text('seen')), { isHandled: true }],
]

/** Sessions with a block in a form that nobody takes. */
export const MALFORMED: readonly Poison[] = SESSIONS.map(([what, lines, more = {}]): Poison => ({
  id: 'RST12',
  what,
  lines,
  kinds: ['block-malformed'],
  difference: { blocks: 1 },
  ...more,
}))
