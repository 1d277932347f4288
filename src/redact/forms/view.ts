import type { Effort } from '../secret.ts'

/** A text as somebody would read it who undid how it is written: escapes, percent signs, line breaks. */
export interface View {
  readonly text: string
  /** Where the character here begins in the text that the view was made of. */
  origin(at: number): number
  /** Where the character before here ends in that text. */
  originEnd(at: number): number
  /** The last place between here and there where two lines were put together. */
  lastJoint(start: number, end: number): number | undefined
}

/** The text as it is. */
export function toPlainView(text: string): View {
  return { text, origin: (at) => at, originEnd: (at) => at, lastJoint: () => undefined }
}

/** With the escapes of JSON undone; `undefined` when there are none. */
export function toUnescaped(source: View, effort: Effort): View | undefined {
  if (!source.text.includes('\\')) return undefined
  return rewrite(source, effort, { mark: '\\', read: readEscape })
}

/** With the escapes of URLs undone; `undefined` when there are none. */
export function toPercentDecoded(source: View, effort: Effort): View | undefined {
  if (!source.text.includes('%')) return undefined
  return rewrite(source, effort, { mark: '%', read: readPercent })
}

interface Piece {
  readonly text: string
  readonly length: number
}

interface Rewriting {
  readonly mark: string
  /** What stands at a mark, or `undefined` when it is only a character. */
  readonly read: (text: string, at: number) => Piece | undefined
}

function rewrite(source: View, effort: Effort, { mark, read }: Rewriting): View | undefined {
  const { text } = source
  effort.spend(text.length)
  const out = createSplice(source)
  let from = 0
  for (let at = text.indexOf(mark); at !== -1;) {
    const piece = read(text, at)
    if (piece === undefined) {
      at = text.indexOf(mark, at + 1)
      continue
    }
    out.copy(from, at)
    out.put(piece, at)
    from = at + piece.length
    at = text.indexOf(mark, from)
  }
  if (from === 0) return undefined
  out.copy(from, text.length)
  return out.view()
}

const ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  r: '\r',
  t: '\t',
  b: '\b',
  f: '\f',
  '"': '"',
  "'": "'",
  '/': '/',
  '\\': '\\',
}

function readEscape(text: string, at: number): Piece | undefined {
  const letter = text.charAt(at + 1)
  const plain = ESCAPES[letter]
  if (plain !== undefined) return { text: plain, length: 2 }
  const digits =
    letter === 'u' ? text.slice(at + 2, at + 6) : letter === 'x' ? text.slice(at + 2, at + 4) : ''
  if (!/^(?:[0-9a-f]{2}){1,2}$/i.test(digits)) return undefined
  return { text: String.fromCharCode(Number.parseInt(digits, 16)), length: 2 + digits.length }
}

/** Bytes beyond ASCII are part of no secret: they become one character each, whatever they meant. */
function readPercent(text: string, at: number): Piece | undefined {
  const digits = text.slice(at + 1, at + 3)
  if (!/^[0-9a-f]{2}$/i.test(digits)) return undefined
  return { text: String.fromCharCode(Number.parseInt(digits, 16)), length: 3 }
}

/** What may stand around a line break inside one word: indentation, and what quotes or goes on. */
const AROUND = 80

/** With words put together again that a line break cut in two; `undefined` when there is none. */
export function toJoined(source: View, effort: Effort): View | undefined {
  const { text } = source
  if (!text.includes('\n')) return undefined
  effort.spend(text.length)
  const out = createSplice(source)
  let from = 0
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', Math.max(from, at + 1))) {
    const joint = jointAt(text, at)
    out.copy(from, Math.max(from, joint.start))
    from = joint.end
    out.joint()
  }
  out.copy(from, text.length)
  return out.view()
}

interface Span {
  readonly start: number
  readonly end: number
}

const LINE_START = /[ \t\r]{0,80}(?:[>|#*+][ \t]{1,80}|\/\/[ \t]{0,80}|[+.](?=["'`]))?(["'`]?)/y

/** Quotes go only together: one that ends a line and one that begins the next. */
function jointAt(text: string, newline: number): Span {
  LINE_START.lastIndex = newline + 1
  const after = LINE_START.exec(text)
  const quote = after?.[1] ?? ''
  const start = startOfJoint(text, newline, quote)
  const end = newline + 1 + (after?.[0].length ?? 0)
  return quote === '' || text.charAt(start) === quote ? { start, end } : { start, end: end - 1 }
}

function startOfJoint(text: string, newline: number, quote: string): number {
  const limit = Math.max(0, newline - AROUND)
  const at = back(text, { from: newline, limit, members: ' \t\r' })
  if (text.charAt(at - 1) === '\\') return at - 1
  if (quote === '') return at
  const isSum = at > limit && '+.'.includes(text.charAt(at - 1))
  const closing = isSum ? back(text, { from: at - 1, limit, members: ' \t' }) : at
  return text.charAt(closing - 1) === quote ? closing - 1 : at
}

function back(text: string, span: { from: number; limit: number; members: string }): number {
  let at = span.from
  while (at > span.limit && span.members.includes(text.charAt(at - 1))) at -= 1
  return at
}

const WORD =
  /^(?:[A-Z]?[a-z]+|[A-Z]+)(?:[-_.]{1,2}(?:[A-Z]?[a-z]+|[A-Z]+))*[-_.:=,]{0,3}$|^[A-Za-z_][\w.-]{0,60}[=:][^=]/

interface Trimming {
  /** So much of the value stays in any case. */
  readonly least: number
  /** A word that is longer may be part of the value, and stays. */
  readonly longestWord: number
}

/** Where a value ends when the lines behind it that are words or settings are left to whom they belong. */
export function endBeforeWords(view: View, value: Span, { least, longestWord }: Trimming): number {
  let end = value.end
  for (let joint = view.lastJoint(value.start, end); joint !== undefined;) {
    if (joint - value.start < least || end - joint > longestWord) break
    if (!WORD.test(view.text.slice(joint, end))) break
    end = joint
    joint = view.lastJoint(value.start, end)
  }
  return end
}

/** Puts a view together. */
export interface Splice {
  copy(start: number, end: number): void
  put(piece: Piece, at: number): void
  joint(): void
  view(): View
}

/** Puts a view together of stretches, and remembers where each came from. */
export function createSplice(source: View): Splice {
  const parts: string[] = []
  const starts: number[] = []
  const origins: number[] = []
  const ends: number[] = []
  const joints: number[] = []
  let length = 0
  const stretch = (text: string, at: number, end: number): void => {
    if (text === '') return
    parts.push(text)
    starts.push(length)
    origins.push(at)
    ends.push(end)
    length += text.length
  }
  return {
    copy: (start, end) => stretch(source.text.slice(start, end), start, end),
    put: (piece, at) => stretch(piece.text, at, at + piece.length),
    joint: () => void joints.push(length),
    view: () => ({
      text: parts.join(''),
      origin(at) {
        const index = lastAtMost(starts, at)
        return source.origin((origins[index] ?? 0) + at - (starts[index] ?? 0))
      },
      originEnd(at) {
        const index = lastAtMost(starts, at - 1)
        const isWhole = at === (starts[index + 1] ?? length)
        return source.originEnd(
          isWhole ? (ends[index] ?? 0) : (origins[index] ?? 0) + at - (starts[index] ?? 0),
        )
      },
      lastJoint(start, end) {
        const joint = joints[lastAtMost(joints, end - 1)]
        return joint !== undefined && joint > start ? joint : undefined
      },
    }),
  }
}

/** The index of the last number that is not greater, or -1. */
function lastAtMost(sorted: readonly number[], value: number): number {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((sorted[middle] ?? 0) <= value) low = middle + 1
    else high = middle
  }
  return low - 1
}
