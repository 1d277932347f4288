/** What is shown of a long text before somebody asks for all of it. */
export interface Excerpt {
  readonly head: string
  /** The end, which is where a program says how it went; empty when the head is everything. */
  readonly tail: string
  readonly lines: number
  readonly hiddenLines: number
}

/** How much of a text is shown at once. */
const WHOLE = { lines: 200, length: 20_000 }
const HEAD = { lines: 120, length: 12_000 }
const TAIL = { lines: 60, length: 6000 }

/** What is shown at most, even when all is asked for: more of it no browser lays out in time. */
export const LONGEST_SHOWN = 2_000_000

/** The beginning and the end of a text; all of it when it is short. */
export function toExcerpt(text: string): Excerpt {
  const lines = countLines(text)
  if (lines <= WHOLE.lines && text.length <= WHOLE.length)
    return { head: text, tail: '', lines, hiddenLines: 0 }
  const headEnd = wholeCharacters(text, headLength(text))
  const tailStart = Math.max(headEnd, wholeCharacters(text, text.length - tailLength(text)))
  const head = text.slice(0, headEnd)
  const tail = text.slice(tailStart)
  const hiddenLines = countLines(text.slice(headEnd, tailStart))
  return { head: head.endsWith('\n') ? head.slice(0, -1) : head, tail, lines, hiddenLines }
}

function headLength(text: string): number {
  let end = 0
  for (let line = 0; line < HEAD.lines; line++) {
    const next = text.indexOf('\n', end)
    if (next < 0 || next + 1 > HEAD.length) return end === 0 || next < 0 ? HEAD.length : end
    end = next + 1
  }
  return end
}

function tailLength(text: string): number {
  let start = text.length
  for (let line = 0; line < TAIL.lines; line++) {
    const before = text.lastIndexOf('\n', start - 2)
    if (before < 0 || text.length - before - 1 > TAIL.length)
      return start === text.length ? TAIL.length : text.length - start
    start = before + 1
  }
  return text.length - start
}

/** Does not cut a character in two. */
function wholeCharacters(text: string, at: number): number {
  const unit = text.charCodeAt(at)
  return unit >= 0xdc00 && unit <= 0xdfff ? at - 1 : at
}

function countLines(text: string): number {
  if (text === '') return 0
  let lines = text.endsWith('\n') ? 0 : 1
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines++
  return lines
}
