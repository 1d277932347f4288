import { list, string } from '#base'
import type { ToolUseBlock } from '#model'
import { toFittingName, type NameRule } from './call-ids.ts'
import type { LossBook } from './loss.ts'
import type { SaidBlock } from './said.ts'
import { isSoundText, toSoundText, toSoundValue } from './sound-text.ts'

/** What a provider takes as the id of a call, and as the name of a tool. */
export interface CallRules {
  readonly id: NameRule
  readonly name: NameRule
}

/** A text that can be sent; nothing for one that has no word and is refused. */
export function writeText(said: SaidBlock, text: string, book: LossBook): string | undefined {
  if (text.trim() === '') {
    book.note('empty-text', said.origin, { how: 'dropped', why: 'a text without a word says nothing' })
    return undefined
  }
  return writeSound(said, text, book)
}

/** The same where the provider takes blanks: what is its own goes back as it was, and no other blank text is sent. */
export function writeOwnText(
  said: SaidBlock,
  text: string,
  { book, own }: { readonly book: LossBook; readonly own: object | undefined },
): string | undefined {
  return own === undefined ? writeText(said, text, book) : writeSound(said, text, book)
}

/** The same for a part of something larger, where a text may be empty. */
export function writeSound({ origin }: SaidBlock, text: string, book: LossBook): string {
  if (isSoundText(text)) return text
  noteBroken(origin, book)
  return toSoundText(text)
}

/** The id, the name and the input of a call as they can be sent. The same ones wherever that is possible. */
export function writeCall(
  { origin }: SaidBlock,
  block: ToolUseBlock,
  { rules, book }: { readonly rules: CallRules; readonly book: LossBook },
): { readonly id: string; readonly name: string; readonly input: unknown } {
  const id = toFittingName(block.id, rules.id)
  const name = toFittingName(block.name, rules.name)
  if (id !== block.id) book.note('tool-id', origin, { how: 'changed', why: `${block.id} is no id here` })
  if (name !== block.name)
    book.note('tool-name', origin, { how: 'changed', why: `${block.name} is no name of a tool here` })
  const input = toSoundValue(block.input)
  if (input !== block.input) noteBroken(origin, book)
  return { id, name, input }
}

function noteBroken(origin: SaidBlock['origin'], book: LossBook): void {
  book.note('broken-text', origin, { how: 'changed', why: 'half characters and noughts are refused' })
}

/**
 * What a block of a kind that only Anthropic has says in words: what was found somewhere is a text, with where it was
 * found. Nothing for any other kind.
 */
export function writeFound(said: SaidBlock, book: LossBook): string | undefined {
  const { block, origin } = said
  if (block.kind !== 'unknown') return undefined
  const tool = string(block.value, 'tool_name')
  if (string(block.value, 'type') === 'tool_reference' && tool !== undefined) {
    book.note('media', origin, { how: 'changed', why: 'the tool that was found goes as text' })
    return writeSound(said, `[The tool ${tool} was found.]`, book)
  }
  if (string(block.value, 'type') !== 'search_result') return undefined
  const texts = list(block.value, 'content').map((part) => string(part, 'text') ?? '')
  const head = [string(block.value, 'title'), string(block.value, 'source')].filter(Boolean).join(', ')
  book.note('media', origin, { how: 'changed', why: 'what was found goes as text' })
  return writeSound(said, [`[${head}]`, ...texts].filter((text) => text !== '').join('\n'), book)
}

export function noteUnknown({ origin }: SaidBlock, book: LossBook): void {
  book.note('unknown-block', origin, {
    how: 'dropped',
    why: 'a block of a kind that only its writer knows',
  })
}

export function noteErrorMark({ origin }: SaidBlock, book: LossBook): void {
  const why = 'results have no mark of failure here, only their text'
  book.note('error-mark', origin, { how: 'changed', why })
}
