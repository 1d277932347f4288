import type { Snippet } from '#wire'
import type { Find, Matcher } from './match.ts'
import { createSafeLine } from './snippet-line.ts'

export interface SnippetOptions {
  /** At most this many UTF-16 units, without the dots at the ends. Default 160. */
  readonly width?: number
}

/** How much of a text is looked at. What stands behind it is found, and shown without its surroundings. */
const LOOKED_AT = 2 * 1024 * 1024
const MOST_FINDS = 512

/**
 * A piece of a text on one line, where most of what was searched for stands together, cut between words and with dots
 * where it was cut. Safe to show: no control characters, no overrides of direction, no halves of characters.
 */
export function toSnippet(text: string, matcher: Matcher, options: SnippetOptions = {}): Snippet {
  const { width = 160 } = options
  const looked = text.length > LOOKED_AT ? text.slice(0, LOOKED_AT) : text
  const finds = matcher.finds(looked, MOST_FINDS)
  const [first, last] = findWindow(finds, width)
  const from = startBefore(text, first, Math.floor(Math.max(0, width - (last - first)) / 3))
  const line = createSafeLine(text, from, { width, mark: toMarks(finds, from), keep: last })
  const before = from === 0 ? '' : '…'
  const after = line.atEnd ? '' : '…'
  return {
    text: `${before}${line.text}${after}`,
    marks: line.marks.map(([start, end]) => [start + before.length, end + before.length]),
  }
}

/** The stretch with most terms in it, then with most finds, then the first one. */
function findWindow(finds: readonly Find[], width: number): readonly [number, number] {
  const counts = new Map<number, number>()
  let best: readonly [number, number] = [0, 0]
  let bestTerms = 0
  let bestFinds = 0
  let head = 0
  for (const [tail, find] of finds.entries()) {
    counts.set(find.term, (counts.get(find.term) ?? 0) + 1)
    for (let first = finds[head]; first !== undefined && head < tail && find.end - first.start > width;) {
      const count = (counts.get(first.term) ?? 0) - 1
      if (count > 0) counts.set(first.term, count)
      else counts.delete(first.term)
      head++
      first = finds[head]
    }
    const inside = tail - head + 1
    if (counts.size > bestTerms || (counts.size === bestTerms && inside > bestFinds)) {
      bestTerms = counts.size
      bestFinds = inside
      best = [finds[head]?.start ?? 0, find.end]
    }
  }
  return best
}

/** Up to `room` units before a place, at the beginning of a word if there is one. */
function startBefore(text: string, place: number, room: number): number {
  if (place <= room) return 0
  const from = place - room
  for (let at = from; at < place; at++) if (isSpace(text.charCodeAt(at - 1))) return at
  const code = text.charCodeAt(from)
  return code >= 0xdc00 && code <= 0xdfff ? from + 1 : from
}

function toMarks(finds: readonly Find[], from: number): readonly (readonly [number, number])[] {
  const marks: (readonly [number, number])[] = []
  for (const { start, end } of finds) {
    if (end <= from) continue
    const last = marks.at(-1)
    if (last !== undefined && start < last[1]) marks[marks.length - 1] = [last[0], Math.max(last[1], end)]
    else marks.push([Math.max(start, from), end])
  }
  return marks
}

function isSpace(code: number): boolean {
  return code <= 32 || code === 0xa0 || code === 0x3000 || code === 0x2028 || code === 0x2029
}
