/**
 * Text exactly as it will be used, for whatever a person decides on: a command, a path, a rule, a hook.
 *
 * `safeText` is for output that is only read: it drops colours and cursor movements, with everything inside them. A
 * shell does not drop them. Here nothing is dropped: a character that a person would not see, or would take for another
 * one, is shown by its number, and every code point of the text can be told from what is shown.
 */

/** A stretch of text as it is, or a character that has to be shown by its number. */
export interface ExactPart {
  readonly text: string
  readonly isHidden: boolean
}

/**
 * Controls, spaces of other widths, and what joins, separates, reorders or hides. Emoji and foreign scripts are spelled
 * with some of them; a command does not need them.
 */
const HIDDEN =
  // oxlint-disable-next-line no-control-regex, no-misleading-character-class
  /[\u0000-\u0008\u000b-\u001f\u007f-\u00a0\u00ad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200f\u2028-\u202f\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]|\p{Cs}|\p{Co}|\p{Cn}/u

/** Punctuation of other scripts that is drawn like that of ASCII: slashes, colons, semicolons, dots, hyphens. */
const LOOKALIKE =
  /[\u01c3\u037e\u0387\u0589\u05c3\u2010\u2011\u2024\u2044\u2215\u2216\u2236\u223c\u29f5\u29f8\u29f9\ua789\ua78a\uff0e\uff0f\uff1a\uff1b\uff3c]/u

const LATIN = /\p{Script=Latin}/u
/** Scripts with letters that are drawn like Latin ones. */
const LIKE_LATIN =
  /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}\p{Script=Coptic}\p{Script=Lisu}]/u
const WORD = /[\p{L}\p{M}]+/gu
const MARK = /\p{M}/u
const LETTER_OR_MARK = /[\p{L}\p{M}]/u
const RIGHT_TO_LEFT =
  /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Samaritan}\p{Script=Mandaic}\p{Script=Adlam}]/u

/** Where a text reads like one of our numbers. */
const NUMBER = /<(?=U\+[0-9A-F]{4,6}>)/g
const PLAIN = /^[\n\t\u0020-\u007e]*$/

/** Cuts a text at what would not be seen. Nothing is left out; line breaks and tabs stay what they are. */
export function splitExact(text: string): readonly ExactPart[] {
  const parts: ExactPart[] = []
  let last = 0
  for (const { at, character } of hiddenIn(text)) {
    if (at > last) parts.push({ text: text.slice(last, at), isHidden: false })
    parts.push({ text: toNumber(character), isHidden: true })
    last = at + character.length
  }
  if (last < text.length) parts.push({ text: text.slice(last), isHidden: false })
  return parts
}

/** The same as one string: `ls <U+001B>[8m`. `mark` may put each number in a style. */
export function exactText(text: string, mark: (number: string) => string = (number) => number): string {
  return splitExact(text)
    .map((part) => (part.isHidden ? mark(part.text) : part.text))
    .join('')
}

/** The same on one line: line breaks and tabs are shown by their numbers too. */
export function exactLine(text: string, mark: (number: string) => string = (number) => number): string {
  return exactText(text, mark).replaceAll(/[\n\t]/g, (found) => mark(toNumber(found)))
}

/** What a person should know before they decide on these texts; `undefined` when all of it is plainly visible. */
export function warnOfHidden(texts: readonly string[]): string | undefined {
  const counts = new Map<string, number>()
  for (const text of texts)
    for (const { character } of hiddenIn(text)) counts.set(character, (counts.get(character) ?? 0) + 1)
  const isReordered = texts.some((text) => !PLAIN.test(text) && RIGHT_TO_LEFT.test(text))
  const order = isReordered ? ['Right-to-left letters may be displayed in another order.'] : []
  if (counts.size === 0) return order[0]
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0)
  const listed = [...counts].slice(0, LISTED).map(([character, count]) => {
    const name = NAMES.get(character)
    const times = count === 1 ? '' : ` ×${count}`
    return `${bare(character)}${name === undefined ? '' : ` ${name}`}${times}`
  })
  const more = counts.size > LISTED ? ', …' : ''
  const head =
    total === 1
      ? 'Contains 1 character that is invisible or looks like another one, shown by its code point'
      : `Contains ${total} characters that are invisible or look like others, shown by their code points`
  return [`${head}: ${listed.join(', ')}${more}.`, ...order].join(' ')
}

const LISTED = 6

const NAMES: ReadonlyMap<string, string> = new Map([
  ['\u0000', '(null)'],
  ['\u0007', '(bell)'],
  ['\u0008', '(backspace)'],
  ['\u000d', '(carriage return)'],
  ['\u001b', '(escape)'],
  ['\u007f', '(delete)'],
  ['\u00a0', '(no-break space)'],
  ['\u200b', '(zero-width space)'],
  ['\u200c', '(zero-width non-joiner)'],
  ['\u200d', '(zero-width joiner)'],
  ['\u202d', '(left-to-right override)'],
  ['\u202e', '(right-to-left override)'],
  ['\u2066', '(left-to-right isolate)'],
  ['\u2067', '(right-to-left isolate)'],
  ['\ufeff', '(byte order mark)'],
])

interface Hidden {
  readonly at: number
  readonly character: string
}

/** Every character that is shown by its number, in the order of the text. */
function* hiddenIn(text: string): Generator<Hidden> {
  if (PLAIN.test(text)) {
    for (const { index } of text.matchAll(NUMBER)) yield { at: index, character: '<' }
    return
  }
  const numbers = new Set(Array.from(text.matchAll(NUMBER), ({ index }) => index))
  const mixed = mixedWords(text)
  let word = mixed.next()
  let at = 0
  let marks = MARKS_AT_MOST
  for (const character of text) {
    while (word.done !== true && word.value.end <= at) word = mixed.next()
    const isInMixed = word.done !== true && word.value.start <= at
    const isMark = character > '\u02ff' && MARK.test(character)
    const isLoose = isMark && marks >= MARKS_AT_MOST
    if (
      numbers.has(at) ||
      isLoose ||
      (!PLAIN.test(character) && (HIDDEN.test(character) || LOOKALIKE.test(character))) ||
      (isInMixed && LIKE_LATIN.test(character))
    ) {
      yield { at, character }
    }
    marks = isMark ? marks + 1 : LETTER_OR_MARK.test(character) ? 0 : MARKS_AT_MOST
    at += character.length
  }
}

/** Accents stand on letters, a few at a time: on anything else, or in a pile, they cover something. */
const MARKS_AT_MOST = 3

/** Words with Latin letters and letters of a script that has the same shapes. */
function* mixedWords(text: string): Generator<{ readonly start: number; readonly end: number }> {
  for (const { 0: word, index } of text.matchAll(WORD)) {
    if (LIKE_LATIN.test(word) && LATIN.test(word)) yield { start: index, end: index + word.length }
  }
}

function toNumber(character: string): string {
  return `<${bare(character)}>`
}

function bare(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
}
