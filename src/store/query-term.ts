import { partStarts } from './identifier.ts'
import { createTokenReader, toTokens } from './tokens.ts'

/** Something to look for: a word, the beginning of one, or words in a row. */
export interface Term {
  readonly kind: 'word' | 'prefix' | 'phrase'
  /** As it was typed. */
  readonly text: string
  /** Its words as they are searched. Of a prefix, the last one is the beginning of a word. */
  readonly tokens: readonly string[]
  /**
   * Every spelling that is looked for, `tokens` first: for `parseLine` also `parse line`, for `parse_line` also
   * `parseline`. One of them is enough.
   */
  readonly forms: readonly (readonly string[])[]
}

/** What is looked for when somebody types this; `undefined` when there is no letter or digit in it. */
export function findTerm(kind: Term['kind'], text: string): Term | undefined {
  const tokens = toTokens(text)
  if (tokens.length === 0) return undefined
  const forms = [tokens, toSplit(text)]
  if (kind !== 'phrase') forms.push(toJoined(text))
  if (kind === 'word') forms.push(tokens.flatMap(splitNumber))
  const distinct = new Map(forms.map((form) => [form.join(' '), form]))
  return { kind, text, tokens, forms: [...distinct.values()] }
}

/** `parseLine` as `parse line`. */
function toSplit(text: string): readonly string[] {
  const parts: string[] = []
  const reader = createTokenReader(text)
  while (reader.next()) {
    const word = text.slice(reader.start, reader.end)
    const starts = partStarts(word)
    for (const [n, start] of starts.entries()) parts.push(...toTokens(word.slice(start, starts[n + 1])))
  }
  return parts
}

/** `parse_line` as `parseline`; in paths and other symbols only what `_` and `-` join. */
function toJoined(text: string): readonly string[] {
  const words: string[] = []
  const between: string[] = []
  const reader = createTokenReader(text)
  let end = 0
  while (reader.next()) {
    if (words.length > 0) between.push(text.slice(end, reader.start))
    words.push(reader.token())
    end = reader.end
  }
  const isName = between.every((gap) => gap === '.' || gap === '_' || gap === '-')
  const joined: string[] = []
  for (const [n, word] of words.entries()) {
    const gap = between[n - 1]
    const last = joined.at(-1)
    const joins = gap === '_' || gap === '-' || (gap === '.' && isName)
    // Numbers that are written apart are different numbers: `2026-11` is not `202611`.
    if (joins && last !== undefined && !/^\d/.test(last)) joined[joined.length - 1] = last + word
    else joined.push(word)
  }
  return joined
}

/** `utf8` as `utf 8`. */
function splitNumber(token: string): readonly string[] {
  const digits = token.search(/\d/)
  if (digits < 2 || /\D/.test(token.slice(digits))) return [token]
  return [token.slice(0, digits), token.slice(digits)]
}
