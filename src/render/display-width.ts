/**
 * One column and one character each: Latin, Greek, Cyrillic, the usual punctuation, arrows and boxes. Dividing text
 * into the characters people count takes a hundred times as long as this look.
 */
const PLAIN =
  /^[\u0020-\u007e\u00a0-\u00ac\u00ae-\u02ff\u0370-\u0482\u048a-\u052f\u2010-\u2015\u2018-\u2027\u2030-\u203b\u2190-\u2194\u2500-\u257f\u25a0-\u25c9]*$/
const WIDE =
  /[\u1100-\u115f\u2329\u232a\u2e80-\u303e\u3041-\u4dbf\u4e00-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{1f1e6}-\u{1f1ff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}|\ufe0f/u
const ZERO = /^[\p{Mn}\p{Me}\p{Cf}]+$/u

let segmenter: Intl.Segmenter | undefined

/** The characters a person would count. */
export function graphemes(text: string): readonly string[] {
  if (PLAIN.test(text)) return text.split('')
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' })
  return Array.from(segmenter.segment(text), ({ segment }) => segment)
}

/** How many columns of a terminal a line takes: CJK and emoji two, combining marks none. */
export function displayWidth(text: string): number {
  if (PLAIN.test(text)) return text.length
  return graphemes(text).reduce((sum, grapheme) => sum + graphemeWidth(grapheme), 0)
}

/** A line cut to so many columns, with `…` where something is missing. */
export function cutToWidth(text: string, width: number): string {
  // A line of a megabyte is not measured to keep its first eighty columns.
  const head = text.length > width * 16 ? text.slice(0, width * 16) : text
  if (head.length === text.length && displayWidth(text) <= width) return text
  let kept = ''
  let room = Math.max(0, width - 1)
  for (const grapheme of graphemes(head)) {
    room -= graphemeWidth(grapheme)
    if (room < 0) break
    kept += grapheme
  }
  return `${kept.trimEnd()}…`
}

/** A line cut or filled with spaces to exactly so many columns. */
export function fitToWidth(text: string, width: number, align: 'left' | 'right' = 'left'): string {
  const cut = cutToWidth(text, width)
  const fill = ' '.repeat(Math.max(0, width - displayWidth(cut)))
  return align === 'left' ? cut + fill : fill + cut
}

export function graphemeWidth(grapheme: string): number {
  if (PLAIN.test(grapheme)) return 1
  if (WIDE.test(grapheme)) return 2
  return ZERO.test(grapheme) ? 0 : 1
}
