import { isUtf8 } from 'node:buffer'
import { parseJson, ThroughlineError } from '#base'
import { SEALED } from './blocks.ts'
import { findSecrets } from './find-secrets.ts'
import { findLiterals, unitsOf, type Literal } from './json-literals.ts'
import { toMask } from './redact.ts'
import { createEffort, type Effort, type Secret } from './secret.ts'

/** What putting masks into a line costs at most for each of its bytes, besides looking for secrets. */
const STEPS_PER_BYTE = 64
const STEPS_AT_LEAST = 10_000

/**
 * A line of somebody's file without its secrets, as long as it was: whoever knows an offset in the file knows it in what
 * was masked of it. JSON stays JSON of the same shape, with blanks before its newline for what became shorter; of any
 * other text the blanks stand where the secret was. Throws `redaction-failed` rather than give back what it could not
 * look through.
 */
export function maskLine(line: Buffer): Buffer {
  const literals = isUtf8(line) ? findLiterals(line) : undefined
  try {
    return literals === undefined ? maskText(line) : maskJson(line, literals)
  } catch (error) {
    if (error instanceof ThroughlineError) throw error
    // The message of somebody else's error may quote the text.
    throw failed('the redactor failed')
  }
}

/** Bytes of a line that are not to be passed on. */
interface Span {
  readonly kind: string
  readonly from: number
  readonly to: number
}

/** A longer string is looked through alone, and not together with what stands around it. */
const LONG = 512
/** What a secret has at least for being looked for everywhere else in its line. */
const SHORTEST_AGAIN = 16
const MOST_AGAIN = 100

function maskJson(line: Buffer, literals: readonly Literal[]): Buffer {
  const units = createUnits(line)
  const again = new Map<string, string>()
  const spans: Span[] = []
  const note = (secret: Secret, text: string, at: Omit<Span, 'kind'>): void => {
    spans.push({ kind: secret.kind, ...at })
    const value = text.slice(secret.start, secret.end)
    if (secret.confidence === 'certain' && value.length >= SHORTEST_AGAIN) again.set(value, secret.kind)
  }
  const skeleton = toSkeleton(line, literals)
  for (const secret of findSecrets(skeleton.text)) note(secret, skeleton.text, skeleton.place(secret))
  for (const literal of literals) {
    if (isPassedOver(line, literal)) continue
    const text = String(parseJson(line.toString('utf8', literal.from - 1, literal.to + 1)))
    const found = findSecrets(text)
    if (found.length === 0) continue
    const starts = units.of(literal)
    for (const secret of found) {
      const [from = literal.from, to = literal.to] = [starts[secret.start], starts[secret.end]]
      note(secret, text, { from, to })
    }
  }
  if (spans.length === 0) return line
  for (const [text, kind] of [...again].slice(0, MOST_AGAIN)) {
    const bytes = Buffer.from(JSON.stringify(text).slice(1, -1))
    for (let at = line.indexOf(bytes); at >= 0; at = line.indexOf(bytes, at + bytes.length))
      spans.push({ kind, from: at, to: at + bytes.length })
  }
  return putMasks(line, cutToLiterals(units, literals, merge(spans)))
}

/** A string that is short and has nothing escaped is looked through where it stands; sealed bytes are not at all. */
function isPassedOver(line: Buffer, { from, to, sort, key, isPlain }: Literal): boolean {
  if (sort === 'number') return true
  if (to - from <= LONG) return isPlain
  return SEALED_BYTES.has(key) && BASE64.test(line.toString('latin1', from, to))
}

const SEALED_BYTES: ReadonlySet<string> = new Set([...SEALED, 'data'])
const BASE64 = /^[\w+/=-]+$/

interface Skeleton {
  readonly text: string
  place(found: Pick<Secret, 'start' | 'end'>): Omit<Span, 'kind'>
}

/** The line without its long strings: names and what stands under them are looked through together. */
function toSkeleton(line: Buffer, literals: readonly Literal[]): Skeleton {
  const kept: { readonly from: number; readonly at: number }[] = []
  let text = ''
  let from = 0
  for (const literal of [...literals.filter((each) => each.to - each.from > LONG), undefined]) {
    kept.push({ from, at: text.length })
    text += line.toString('latin1', from, literal?.from ?? line.length)
    from = literal?.to ?? line.length
  }
  const origin = (index: number): number => {
    const piece = kept[lastNotBehind(kept.length, (nth) => kept[nth]?.at ?? 0, index)]
    return piece === undefined ? 0 : piece.from + index - piece.at
  }
  return { text, place: ({ start, end }) => ({ from: origin(start), to: origin(end - 1) + 1 }) }
}

/** Where the characters of strings stand, read once for each string. */
interface Units {
  of(literal: Literal): readonly number[]
  /** Throws `redaction-failed` when placing masks takes more steps than it may. */
  readonly effort: Effort
}

function createUnits(line: Buffer): Units {
  const effort = createEffort(STEPS_AT_LEAST + line.length * STEPS_PER_BYTE)
  const known = new Map<Literal, readonly number[]>()
  return {
    effort,
    of(literal) {
      const before = known.get(literal)
      if (before !== undefined) return before
      effort.spend(literal.to - literal.from)
      const starts = unitsOf(line, literal)
      known.set(literal, starts)
      return starts
    },
  }
}

/** The parts of some spans that stand in strings, as whole characters, and the numbers that they touch. */
function cutToLiterals(units: Units, literals: readonly Literal[], spans: readonly Span[]): readonly Span[] {
  const cut: Span[] = []
  for (const span of spans) {
    for (let nth = firstBehind(literals, span.from); nth < literals.length; nth++) {
      units.effort.spend(32)
      const literal = literals[nth]
      if (literal === undefined || literal.from >= span.to) break
      const { from, to } = literal
      if (literal.sort === 'number') cut.push({ kind: NUMBER, from, to })
      else {
        const inside = { ...span, from: Math.max(span.from, from), to: Math.min(span.to, to) }
        if (inside.from < inside.to) cut.push(literal.isPlain ? inside : byUnits(units.of(literal), inside))
      }
    }
  }
  return merge(cut)
}

/** The first literal that ends behind a place. */
function firstBehind(literals: readonly Literal[], at: number): number {
  return lastNotBehind(literals.length, (nth) => literals[nth]?.to ?? 0, at) + 1
}

function byUnits(starts: readonly number[], { kind, from, to }: Span): Span {
  const nth = (at: number): number => lastNotBehind(starts.length, (index) => starts[index] ?? 0, at)
  return { kind, from: starts[nth(from)] ?? from, to: starts[nth(to - 1) + 1] ?? to }
}

/** Among sorted places, the index of the last one that is not behind `at`, or -1. */
function lastNotBehind(count: number, placeOf: (nth: number) => number, at: number): number {
  let low = 0
  for (let high = count; low < high;) {
    const middle = (low + high) >> 1
    if (placeOf(middle) <= at) low = middle + 1
    else high = middle
  }
  return low - 1
}

/** What stands for a number that is a secret is a number. */
const NUMBER = 'number'

function putMasks(line: Buffer, spans: readonly Span[]): Buffer {
  const pieces: Buffer[] = []
  let at = 0
  for (const { kind, from, to } of spans) {
    pieces.push(line.subarray(at, from), Buffer.from(kind === NUMBER ? '0' : fitting(kind, to - from)))
    at = to
  }
  const end = line.at(-1) === NEWLINE ? line.length - 1 : line.length
  pieces.push(line.subarray(at, end))
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0)
  const masked = Buffer.concat([...pieces, Buffer.alloc(end - length, ' '), line.subarray(end)])
  // A mask that broke the line would hide more than the secret.
  if (masked.length !== line.length || parseJson(masked.toString('utf8')) === undefined)
    throw failed('a line could not be put together again')
  return masked
}

/** A text that is no JSON. Bytes that are no UTF-8 are taken for characters, each for itself. */
function maskText(line: Buffer): Buffer {
  const encoding = isUtf8(line) ? 'utf8' : 'latin1'
  const text = line.toString(encoding)
  const masked: Buffer[] = []
  let at = 0
  for (const { kind, start, end } of findSecrets(text)) {
    const secret = text.slice(start, end)
    const length = Buffer.byteLength(secret, encoding)
    const mask = Buffer.from(fitting(kind, length))
    masked.push(Buffer.from(text.slice(at, start), encoding), mask)
    masked.push(Buffer.alloc(length - mask.length, ' '))
    at = end
  }
  if (masked.length === 0) return line
  // The newline that ends a line is never a part of what stands in it.
  const whole = Buffer.concat([...masked, Buffer.from(text.slice(at), encoding)])
  if (whole.length !== line.length) throw failed('a text could not be put together again')
  if (line.at(-1) === NEWLINE) whole[whole.length - 1] = NEWLINE
  return whole
}

const NEWLINE = 0x0a

/** What stands for a secret, in as many bytes as it had at most. */
function fitting(kind: string, length: number): string {
  return [toMask(kind), '[redacted]'].find((mask) => mask.length <= length) ?? '*'.repeat(length)
}

/** In order, those that touch put together. */
function merge(spans: readonly Span[]): readonly Span[] {
  const merged: Span[] = []
  for (const span of spans.toSorted((one, other) => one.from - other.from || other.to - one.to)) {
    const last = merged.at(-1)
    if (last === undefined || span.from >= last.to) merged.push(span)
    else merged[merged.length - 1] = { ...last, to: Math.max(last.to, span.to) }
  }
  return merged
}

function failed(why: string): ThroughlineError {
  return new ThroughlineError('redaction-failed', `nothing was passed on: ${why}`, {
    hint: 'It stays where it is.',
  })
}
