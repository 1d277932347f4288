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
export function writeText({ origin }: SaidBlock, text: string, book: LossBook): string | undefined {
  if (text.trim() === '') {
    book.note('empty-text', origin, { how: 'dropped', why: 'a text without a word is refused' })
    return undefined
  }
  if (!isSoundText(text)) noteBroken(origin, book)
  return toSoundText(text)
}

/** The same for providers that take blanks, and refuse only what is empty. */
export function writeWords({ origin }: SaidBlock, text: string, book: LossBook): string | undefined {
  if (text === '') {
    book.note('empty-text', origin, { how: 'dropped', why: 'an empty text is refused' })
    return undefined
  }
  if (!isSoundText(text)) noteBroken(origin, book)
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
export function writeFound({ block, origin }: SaidBlock, book: LossBook): string | undefined {
  if (block.kind !== 'unknown' || string(block.value, 'type') !== 'search_result') return undefined
  const texts = list(block.value, 'content').map((part) => string(part, 'text') ?? '')
  const head = [string(block.value, 'title'), string(block.value, 'source')].filter(Boolean).join(', ')
  book.note('media', origin, { how: 'changed', why: 'what was found goes as text' })
  return toSoundText([`[${head}]`, ...texts].filter((text) => text !== '').join('\n'))
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
