import * as fc from 'fast-check'
import { createLines } from './claude-lines.ts'

/** Something that happens in a conversation, or that breaks it. */
export type GeneratedStep =
  | { readonly kind: 'prompt'; readonly text: string }
  | { readonly kind: 'media'; readonly block: object }
  | { readonly kind: 'say'; readonly text: string }
  | { readonly kind: 'think'; readonly text: string; readonly signature: string }
  | {
      readonly kind: 'call'
      readonly names: readonly string[]
      readonly output: unknown
      readonly answered: number
    }
  | { readonly kind: 'orphan' }

const words = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 30 }),
  fc.string({ unit: 'binary', maxLength: 30 }),
)
const media = fc.oneof(
  fc.constant({ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } }),
  fc.constant({ type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } }),
  fc.constant({ type: 'image', source: { type: 'base64', media_type: 'image/bmp', data: 'Qk0=' } }),
  fc.constant({
    type: 'document',
    title: 'a',
    source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERg==' },
  }),
  fc.constant({ type: 'document', source: { type: 'text', media_type: 'text/markdown', data: '# A' } }),
  fc.constant({ type: 'document', source: { type: 'base64', media_type: 'text/csv', data: 'YSxi' } }),
  fc.constant({ type: 'document', source: { type: 'url', url: 'https://example.com/a.pdf' } }),
  fc.constant({ type: 'document', source: { type: 'content', content: [{ type: 'text', text: 'in' }] } }),
  fc.constant({ type: 'image', source: { type: 'file', file_id: 'file_1' } }),
  fc.constant({
    type: 'search_result',
    source: 'https://example.com',
    title: 't',
    content: [{ type: 'text', text: 'f' }],
  }),
)
const output = fc.oneof(
  words,
  fc.array(
    fc.oneof(
      words.map((text) => ({ type: 'text', text })),
      media,
    ),
    { maxLength: 3 },
  ),
)
const step: fc.Arbitrary<GeneratedStep> = fc.oneof(
  fc.record({ kind: fc.constant('prompt' as const), text: words }),
  fc.record({ kind: fc.constant('media' as const), block: media }),
  fc.record({ kind: fc.constant('say' as const), text: words }),
  fc.record({ kind: fc.constant('think' as const), text: words, signature: fc.constantFrom('', 'sig') }),
  fc.record({
    kind: fc.constant('call' as const),
    names: fc.array(fc.constantFrom('Bash', 'Read', 'mcp__a.b__c', 'ein Werkzeug'), {
      minLength: 1,
      maxLength: 3,
    }),
    output,
    answered: fc.integer({ min: 0, max: 3 }),
  }),
  fc.record({ kind: fc.constant('orphan' as const) }),
)

/** Any conversation: every kind of content, calls that nobody answered, results that nobody asked for. */
export const generatedSteps: fc.Arbitrary<readonly GeneratedStep[]> = fc.array(step, { maxLength: 12 })

/** A generated conversation as Claude Code would have written it. */
export function toGeneratedLines(steps: readonly GeneratedStep[]): readonly object[] {
  const make = createLines()
  const lines: object[] = [make.prompt('begin')]
  let calls = 0
  for (const each of steps) {
    switch (each.kind) {
      case 'prompt':
        lines.push(make.prompt(each.text))
        break
      case 'media':
        lines.push(make.prompt('', { message: { role: 'user', content: [each.block] } }))
        break
      case 'say':
        lines.push(make.reply([{ type: 'text', text: each.text }]))
        break
      case 'think':
        lines.push(make.reply([{ type: 'thinking', thinking: each.text, signature: each.signature }]))
        break
      case 'call': {
        const ids = each.names.map((name) => `toolu_${name.length}.${String(++calls)}`)
        lines.push(
          make.reply(each.names.map((name, at) => ({ type: 'tool_use', id: ids[at], name, input: { at } }))),
        )
        for (const id of ids.slice(0, each.answered)) lines.push(make.result(id, each.output))
        break
      }
      case 'orphan':
        lines.push(make.result('toolu_nobody', 'lost'))
        break
    }
  }
  return lines
}
