type Range = readonly [start: number, end: number]

/** Text that was made safe to show on one line. */
export interface SafeLine {
  readonly text: string
  /** Where the given ranges went. */
  readonly marks: readonly Range[]
  /** Nothing follows in the original. */
  readonly atEnd: boolean
}

export interface SafeLineOptions {
  readonly width: number
  /** Ranges of the original, in order and apart. */
  readonly mark: readonly Range[]
  /** The line is not cut before this place if there is room. */
  readonly keep: number
}

/** What is looked at for one line: it may be mostly spaces. */
const MOST = 16_384

/**
 * The text from a place on, until `width` units are full, on one line: runs of white space become one space, control
 * characters and everything else that cannot be seen vanish, and half characters become U+FFFD.
 */
export function createSafeLine(text: string, from: number, options: SafeLineOptions): SafeLine {
  const { width, mark, keep } = options
  const marks: Range[] = []
  const stop = Math.min(text.length, from + MOST)
  let line = ''
  let at = from
  let next = 0
  let start = -1
  /** Where the line may be cut: its length before the last space, and how many marks were closed by then. */
  let cut = -1
  let cutAt = from
  let pending = false

  while (at < stop) {
    const range = mark[next]
    if (range !== undefined && start !== -1 && at >= range[1]) {
      if (line.length > start) marks.push([start, line.length])
      start = -1
      next++
      continue
    }
    const size = sizeAt(text, at)
    const skipped = size < 0
    const isGap = !skipped && isSpace(text.charCodeAt(at))
    if (isGap) pending ||= line !== ''
    if (skipped || isGap) {
      if (isGap && line !== '' && cut !== line.length) {
        cut = line.length
        cutAt = at
      }
      at += Math.abs(size)
      continue
    }
    const shown = shownAt(text, at, size)
    if (line.length + Number(pending) + shown.length > width) break
    if (pending) line += ' '
    pending = false
    if (range !== undefined && start === -1 && at >= range[0]) start = line.length
    line += shown
    at += size
  }
  if (start !== -1 && line.length > start) marks.push([start, line.length])
  if (at >= text.length) return { text: line, marks, atEnd: true }
  const isBetweenWords = cut === line.length
  if (isBetweenWords || cut <= 0 || cutAt < keep) return { text: line, marks, atEnd: onlySpace(text, at) }
  return {
    text: line.slice(0, cut),
    marks: marks.filter(([first]) => first < cut).map(([first, last]) => [first, Math.min(last, cut)]),
    atEnd: false,
  }
}

/** Whether nothing but white space follows, as far as it is worth looking. */
function onlySpace(text: string, from: number): boolean {
  if (text.length - from > MOST) return false
  for (let at = from; at < text.length; at++) if (!isSpace(text.charCodeAt(at))) return false
  return true
}

function shownAt(text: string, at: number, size: number): string {
  const code = text.charCodeAt(at)
  return size === 1 && code >= 0xd800 && code <= 0xdfff ? '\ufffd' : text.slice(at, at + size)
}

/** How many units the character at a place has; negative when they are not shown. */
function sizeAt(text: string, at: number): number {
  const point = text.codePointAt(at) ?? 0
  if (point >= 0x20 && point < 0x7f) return 1
  if (point === 0x1b) return -escapeLength(text, at)
  const size = point > 0xffff ? 2 : 1
  if (isSpace(point)) return size
  if (
    (point === 0x200c || point === 0x200d) &&
    text.charCodeAt(at - 1) > 0x2ff &&
    text.charCodeAt(at + 1) > 0x2ff
  ) {
    return 1
  }
  return isHidden(point) ? -size : size
}

/** A colour or cursor sequence, or the frame of a hyperlink; anything else is ESC alone. */
function escapeLength(text: string, at: number): number {
  const kind = text.charAt(at + 1)
  const limit = Math.min(text.length, at + 512)
  if (kind === '[') {
    for (let end = at + 2; end < limit; end++) {
      const code = text.charCodeAt(end)
      if (code >= 0x40 && code <= 0x7e) return end + 1 - at
      if (code < 0x20 || code > 0x3f) break
    }
    return 1
  }
  if (kind !== ']') return 1
  for (let end = at + 2; end < limit; end++) {
    const code = text.charCodeAt(end)
    if (code === 0x07 || code === 0x9c) return end + 1 - at
    if (code === 0x1b) return text.charAt(end + 1) === '\\' ? end + 2 - at : 1
    if (code === 0x0a) break
  }
  return 1
}

function isSpace(code: number): boolean {
  return (
    code === 32 ||
    (code >= 9 && code <= 13) ||
    code === 0x85 ||
    code === 0xa0 ||
    code === 0x3000 ||
    code === 0x2028 ||
    code === 0x2029 ||
    (code >= 0x2000 && code <= 0x200a)
  )
}

/** Ranges of characters that act or cannot be seen: controls, direction, joiners, tags, variation selectors. */
const HIDDEN: readonly Range[] = [
  [0x00, 0x1f],
  [0x7f, 0x9f],
  [0xad, 0xad],
  [0x34f, 0x34f],
  [0x61c, 0x61c],
  [0x115f, 0x1160],
  [0x17b4, 0x17b5],
  [0x180b, 0x180f],
  [0x200b, 0x200f],
  [0x202a, 0x202e],
  [0x2060, 0x206f],
  [0x3164, 0x3164],
  [0xfe00, 0xfe0f],
  [0xfeff, 0xfeff],
  [0xffa0, 0xffa0],
  [0xfff0, 0xfffb],
  [0x1bca0, 0x1bca3],
  [0x1d173, 0x1d17a],
  [0xe0000, 0xe0fff],
]

function isHidden(point: number): boolean {
  return HIDDEN.some(([first, last]) => point >= first && point <= last)
}
