import type { Directive, DirectiveNotice, DirectiveReading } from '#model'

/** Something that is shown in the place of a directive, or beside one that is none. */
export type Sign =
  | { readonly kind: 'directive'; readonly directive: Directive }
  | { readonly kind: 'notice'; readonly notice: DirectiveNotice }

/** A text in which one character stands for each sign. */
export interface SignedText {
  readonly text: string
  readonly signs: ReadonlyMap<string, Sign>
  /** Those for which there was no character left. They stand behind the text. */
  readonly rest: readonly Sign[]
}

const FIRST = 0xe000
const LAST = 0xf8ff
/** More in one text are no signs any more. */
const MOST = 300
/** Lines that mean something else with a word behind them. */
const OWN_LINE = /^\s*(?:`{3,}|~{3,}|\||#{1,6}\s|[-*_=]{2,}\s*$)/

/**
 * The text that is shown, with a character in it for each sign: one that the text itself does not have. A sign stays
 * on the line where it stood; one that had a line of its own stands behind the words before it, or in a paragraph of
 * its own where that would change what the line means.
 */
export function toSignedText({ text, directives, notices }: DirectiveReading): SignedText {
  const all: readonly { readonly at: number; readonly sign: Sign }[] = [
    ...directives.map((directive) => ({
      at: directive.at,
      sign: { kind: 'directive' as const, directive },
    })),
    ...notices.map((notice) => ({ at: notice.at, sign: { kind: 'notice' as const, notice } })),
  ].toSorted((a, b) => a.at - b.at)
  const free = toFreeCharacters(text, Math.min(all.length, MOST))
  const signs = new Map<string, Sign>()
  const rest: Sign[] = []
  let out = ''
  let last = 0
  for (const { at, sign } of all) {
    const character = free[signs.size]
    if (character === undefined) {
      rest.push(sign)
      continue
    }
    signs.set(character, sign)
    const place = toPlace(text, at, sign)
    const from = Math.max(last, place.at)
    out += text.slice(last, from) + place.before + character + place.after
    last = from
  }
  return { text: out + text.slice(last), signs, rest }
}

/** The text that is shown, for copying: where a directive took its lines with it, no gap is left. */
export function toShownText({ text, directives }: DirectiveReading): string {
  let out = ''
  let last = 0
  for (const { at } of directives) {
    out += text.slice(last, at)
    last = at
    if (out.endsWith(' ') && text[last] === ' ') last += 1
    if (/(?:^|\n)\n$/.test(out)) while (text[last] === '\n') last += 1
  }
  return out + text.slice(last)
}

interface SignPlace {
  readonly at: number
  readonly before: string
  readonly after: string
}

function toPlace(text: string, at: number, { kind }: Sign): SignPlace {
  // What is broken stays where it is, with its sign before it.
  if (kind === 'notice') return { at, before: '', after: ' ' }
  const isLineStart = at === 0 || text[at - 1] === '\n'
  if (!isLineStart) return { at, before: /\s/.test(text[at - 1] ?? '') ? '' : ' ', after: '' }
  const before = text.slice(text.lastIndexOf('\n', at - 2) + 1, Math.max(0, at - 1))
  if (before.trim() === '' || OWN_LINE.test(before)) return { at, before: '\n\n', after: '\n\n' }
  return { at: at - 1, before: ' ', after: '' }
}

function toFreeCharacters(text: string, count: number): readonly string[] {
  const out: string[] = []
  for (let code = FIRST; code <= LAST && out.length < count; code++) {
    const character = String.fromCharCode(code)
    if (!text.includes(character)) out.push(character)
  }
  return out
}
