import { string, type JsonObject } from '#base'
import type { Content } from '../turn.ts'
import { digestOf, toCanonical } from './canonical.ts'
import { textOf, toBlocks, without } from './content-blocks.ts'
import { isMadeId } from './made-ids.ts'

/**
 * By what a turn is known again: who said it, its words, its calls, what calls gave, its pictures. The same for an
 * answer as it was streamed and as the client sends it back, which may be without its thoughts, its marks for a cache
 * and the provider's ids, with its texts joined or cut otherwise, and with white space trimmed.
 */
export function turnKey(turn: { readonly role: 'user' | 'assistant'; readonly content: Content }): string {
  const blocks = toBlocks(turn.content)
  const essence = turn.role === 'assistant' ? toSaid(blocks) : blocks.map(toHeard)
  return digestOf(toCanonical([turn.role, essence]))
}

function toSaid(blocks: readonly JsonObject[]): readonly unknown[] {
  const words = textOf(blocks.filter((block) => block['type'] === 'text')).replaceAll(/\s+/gu, '')
  const calls = blocks
    .filter((block) => block['type'] === 'tool_use')
    .map((block) => [toKnownId(string(block, 'id')), string(block, 'name'), block['input']])
  if (words !== '' || calls.length > 0) return [words, calls]
  // Without words and calls there is nothing else to go by.
  return ['', [], blocks.map((block) => block['type']).filter((type) => !LEFT_OUT.has(type))]
}

/** What clients leave out, and words that are none. */
const LEFT_OUT: ReadonlySet<unknown> = new Set(['text', 'thinking', 'redacted_thinking'])

function toHeard(block: JsonObject): unknown {
  if (block['type'] === 'text') return ['text', (string(block, 'text') ?? '').trim()]
  if (block['type'] !== 'tool_result') return toBare(block)
  const content = toBlocks(block['content'])
  return [
    'result',
    toKnownId(string(block, 'tool_use_id')),
    textOf(content).trim(),
    content.filter((inner) => inner['type'] !== 'text').map(toBare),
    block['is_error'] === true,
  ]
}

function toBare(block: JsonObject): JsonObject {
  return without(block, ['cache_control', 'openai', 'gemini', 'citations'])
}

/** An id that was made here is not the client's: it depends on what the client repeats. */
function toKnownId(id: string | undefined): string {
  return id === undefined || isMadeId(id) ? '' : id
}
