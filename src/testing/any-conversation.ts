import * as fc from 'fast-check'
import { createLines } from './claude-lines.ts'

/** A message of Anthropic's Messages API. */
export interface AnyMessage {
  readonly role: 'user' | 'assistant'
  readonly content: string | readonly object[]
}

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

const words = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }).map((text) => `w${text}`)
/** Long enough to be kept in a file of its own where a recording does so. */
const many = words.map((text) => text.repeat(Math.ceil(11_000 / text.length)))
const said = fc.oneof({ weight: 12, arbitrary: words }, { weight: 1, arbitrary: many })
const name = fc.constantFrom('Bash', 'Read', 'mcp__a__b')
const json = fc
  .dictionary(
    fc.string({ maxLength: 6 }).filter((key) => key !== '__proto__'),
    fc.jsonValue({ maxDepth: 2 }),
    { maxKeys: 3 },
  )
  .map((value): unknown => JSON.parse(JSON.stringify(value)))
/** Fields that a block may have beside its own, before and behind them. */
const beside = fc.constantFrom<object>({}, { cache_control: { type: 'ephemeral' } }, { future: [null, 1.5] })

function withBeside(block: fc.Arbitrary<object>): fc.Arbitrary<object> {
  return fc
    .tuple(beside, block, fc.boolean())
    .map(([more, own, first]) => (first ? { ...more, ...own } : { ...own, ...more }))
}

const text = withBeside(said.map((each) => ({ type: 'text', text: each })))
const image = withBeside(
  fc.constantFrom(
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } },
    { source: { data: PNG, media_type: 'image/png', type: 'base64' }, type: 'image' },
    { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
    { type: 'image', source: { type: 'file', file_id: 'file_1' } },
  ),
)
const document = withBeside(
  fc.constantFrom<object>(
    {
      type: 'document',
      title: 'a.pdf',
      source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERg==' },
    },
    { type: 'document', source: { type: 'url', url: 'https://example.com/a.pdf' } },
    { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'words' } },
    { type: 'document', source: { type: 'file', file_id: 'file_2' } },
    { type: 'document', context: 'c', source: { type: 'content', content: [{ type: 'text', text: 'in' }] } },
  ),
)
const found = fc.constant({
  type: 'search_result',
  source: 'https://example.com',
  title: 't',
  content: [{ type: 'text', text: 'f' }],
  citations: { enabled: true },
})
const unknown = json.map((value) => ({ type: 'block_of_2030', value }))
const thinking = fc
  .tuple(words, fc.base64String({ minLength: 4, maxLength: 24 }))
  .map(([thought, signature]) => ({ type: 'thinking', thinking: thought, signature }))
const redacted = fc
  .base64String({ minLength: 4, maxLength: 24 })
  .map((data) => ({ type: 'redacted_thinking', data }))
/** What the provider calls and answers itself. */
const served = json.map((input): readonly object[] => [
  { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input },
  {
    type: 'web_search_tool_result',
    tool_use_id: 'srvtoolu_1',
    content: [
      { type: 'web_search_result', url: 'https://example.com', title: 't', encrypted_content: 'abc=' },
    ],
  },
])
const asked = fc.oneof(
  said,
  fc.array(fc.oneof(text, text, image, document, found, unknown), { minLength: 1, maxLength: 4 }),
)
const call = withBeside(
  fc.tuple(name, json).map(([tool, input]) => ({ type: 'tool_use', id: '', name: tool, input })),
)
const spoken = fc
  .array(
    fc.oneof(
      text.map((block) => [block]),
      thinking.map((block) => [block]),
      redacted.map((block) => [block]),
      unknown.map((block) => [block]),
      served,
    ),
    { minLength: 1, maxLength: 4 },
  )
  .map((parts) => parts.flat())
const given = fc.oneof(
  fc.constant({}),
  said.map((content) => ({ content })),
  fc
    .array(fc.oneof(text, image, document, found), { minLength: 1, maxLength: 3 })
    .map((content) => ({ content })),
)
const failed = fc.constantFrom({}, { is_error: true }, { is_error: false })
const result = withBeside(
  fc.tuple(given, failed).map(([of, mark]) => ({ type: 'tool_result', tool_use_id: '', ...of, ...mark })),
)

interface AnyTurn {
  readonly asked: string | readonly object[]
  readonly rounds: readonly {
    readonly spoken: readonly object[]
    readonly called: readonly (readonly [object, object])[]
    readonly also: readonly object[]
  }[]
  readonly closing: readonly object[]
}

/** An answer that is thinking alone is refused as the last thing of a request. */
const lastSaid = fc
  .tuple(spoken, words)
  .map(([blocks, end]) =>
    blocks.every((block) => /thinking/u.test(JSON.stringify(block)))
      ? [...blocks, { type: 'text', text: end }]
      : blocks,
  )

const turn: fc.Arbitrary<AnyTurn> = fc.record({
  asked,
  rounds: fc.array(
    fc.record({
      spoken,
      called: fc.array(fc.tuple(call, result), { minLength: 1, maxLength: 3 }),
      also: fc.oneof(fc.constant([]), fc.array(text, { minLength: 1, maxLength: 2 })),
    }),
    { maxLength: 2 },
  ),
  closing: lastSaid,
})

/**
 * Any conversation that Anthropic's Messages API takes, with every kind of block there is and some that are not yet:
 * users and assistants by turns, calls together and their results behind them.
 */
export const anyConversation: fc.Arbitrary<readonly AnyMessage[]> = fc
  .array(turn, { minLength: 1, maxLength: 3 })
  .map(toConversation)

function toConversation(turns: readonly AnyTurn[]): readonly AnyMessage[] {
  let calls = 0
  return turns.flatMap(({ asked: content, rounds, closing }): readonly AnyMessage[] => [
    { role: 'user', content },
    ...rounds.flatMap(({ spoken: before, called, also }): readonly AnyMessage[] => {
      const ids = called.map(() => `toolu_${String(++calls)}`)
      return [
        { role: 'assistant', content: [...before, ...called.map(([use], at) => ({ ...use, id: ids[at] }))] },
        {
          role: 'user',
          content: [...called.map(([, answer], at) => ({ ...answer, tool_use_id: ids[at] })), ...also],
        },
      ]
    }),
    { role: 'assistant', content: closing },
  ])
}

/** The conversation as Claude Code would have written it. */
export function toAnyLines(messages: readonly AnyMessage[]): readonly object[] {
  const make = createLines()
  return messages.map(({ role, content }) =>
    role === 'user'
      ? make.prompt('', { message: { role, content } })
      : make.reply(typeof content === 'string' ? [] : content),
  )
}
