import type { ComponentChildren } from 'preact'
import { safeText } from '#render'

/** A piece of a text: one that was looked for, or what stands between two of those. */
export interface Stretch {
  readonly text: string
  readonly marked: boolean
}

const patterns = new WeakMap<readonly string[], RegExp>()

/** Cuts a text at what is looked for, whatever its case. The pieces put together are the text. */
export function splitMarks(text: string, marks: readonly string[]): readonly Stretch[] {
  const pattern = patternOf(marks)
  if (pattern === undefined) return [{ text, marked: false }]
  const out: Stretch[] = []
  let last = 0
  for (const found of text.matchAll(pattern)) {
    if (found.index > last) out.push({ text: text.slice(last, found.index), marked: false })
    out.push({ text: found[0], marked: true })
    last = found.index + found[0].length
  }
  if (last < text.length || out.length === 0) out.push({ text: text.slice(last), marked: false })
  return out
}

/** Whether any of the words stands in the text. */
export function hasMark(text: string, marks: readonly string[]): boolean {
  const pattern = patternOf(marks)
  return pattern !== undefined && text.search(pattern) >= 0
}

/** Text of a session as it is shown: nothing in it acts or hides, and what is looked for is marked. */
export function toMarked(text: string, marks: readonly string[]): ComponentChildren {
  const safe = safeText(text)
  if (marks.length === 0) return safe
  return splitMarks(safe, marks).map((stretch) =>
    stretch.marked ? <mark>{stretch.text}</mark> : stretch.text,
  )
}

function patternOf(marks: readonly string[]): RegExp | undefined {
  const words = marks.filter((mark) => mark !== '')
  if (words.length === 0) return undefined
  let pattern = patterns.get(marks)
  if (pattern === undefined) {
    // The longest first: of `in` and `index`, both are marked whole.
    const longestFirst = words.toSorted((a, b) => b.length - a.length)
    pattern = new RegExp(longestFirst.map(escapeForPattern).join('|'), 'giu')
    patterns.set(marks, pattern)
  }
  return pattern
}

function escapeForPattern(word: string): string {
  return word.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
}
