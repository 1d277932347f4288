import { readBase64, type Decoded } from './forms/base64.ts'
import { createUnpacking, unpack, type Unpacking } from './forms/compressed.ts'
import { readDumps } from './forms/dump.ts'
import { toShown } from './forms/hidden.ts'
import { readHex } from './forms/hex.ts'
import { findFamilies, type Family } from './rules/families.ts'
import { findInContext } from './rules/contexts.ts'
import { createEffort, mergeSecrets, type Confidence, type Effort, type Secret } from './secret.ts'
import { toGathered, toSummed } from './forms/spread.ts'
import { findByRules } from './rules/secretlint-rules.ts'
import { findTokens } from './rules/tokens.ts'
import { toJoined, toPercentDecoded, toPlainView, toUnescaped, type View } from './forms/view.ts'

export interface FindOptions {
  /** How sure one must be: `certain` leaves out what only its surroundings make a secret. */
  readonly least?: Confidence
  /** How much work it may take. By default, more than any text needs. */
  readonly maxSteps?: number
}

/** What reading a text once in every form costs at most, for each of its characters. */
const STEPS_PER_CHARACTER = 400
const STEPS_AT_LEAST = 100_000

/** Base64 in base64, and no further. */
const DEEPEST = 2

/**
 * The secrets in a text, in order, none overlapping another: as they are, behind the escapes of JSON and URLs, in
 * base64, and cut in two by line breaks. Takes time in proportion to the text, and throws `redaction-failed` when it
 * would take more.
 */
export function findSecrets(text: string, options: FindOptions = {}): readonly Secret[] {
  const effort = createEffort(options.maxSteps ?? STEPS_AT_LEAST + text.length * STEPS_PER_CHARACTER)
  const first = mergeSecrets(search(text, { effort, depth: 0, unpacking: createUnpacking() }))
  const found = mergeSecrets([...first, ...findAgain(text, first)])
  return options.least === 'certain' ? found.filter(({ confidence }) => confidence === 'certain') : found
}

/** What is a secret in one place is one in every other, also glued to something that hides it. */
function findAgain(text: string, found: readonly Secret[]): readonly Secret[] {
  const kinds = new Map<string, Secret>()
  for (const secret of found) {
    const value = text.slice(secret.start, secret.end)
    if (secret.confidence === 'certain' && value.length >= SHORTEST_AGAIN) kinds.set(value, secret)
  }
  return [...kinds].slice(0, MOST_AGAIN).flatMap(([value, secret]) => {
    const again: Secret[] = []
    for (let at = text.indexOf(value); at >= 0; at = text.indexOf(value, at + value.length))
      again.push({ ...secret, start: at, end: at + value.length })
    return again
  })
}

const SHORTEST_AGAIN = 16
const MOST_AGAIN = 100

interface Search {
  readonly effort: Effort
  readonly depth: number
  readonly unpacking: Unpacking
}

function search(text: string, inside: Search): Secret[] {
  const { effort, depth } = inside
  const found: Secret[] = []
  for (const { view, isJoined, families } of toViews(text, effort)) {
    const here = [
      ...findTokens(view, effort),
      ...findInContext(view, families, effort),
      // What a line break cut in two is known by its shape; these rules would take twice as long to say so.
      ...(isJoined ? [] : findByRules(view.text, effort)),
      ...(depth < DEEPEST ? findEncoded(view.text, { ...inside, depth: depth + 1 }) : []),
    ]
    for (const secret of here) {
      // What stands in one line was found without putting lines together.
      if (isJoined && view.lastJoint(secret.start, secret.end) === undefined) continue
      found.push({ ...secret, start: view.origin(secret.start), end: view.originEnd(secret.end) })
    }
  }
  return found
}

interface Form {
  readonly view: View
  readonly isJoined: boolean
  readonly families: ReadonlySet<Family>
}

/** Escapes may be escaped once more, as in a command inside a call inside a line. */
function toViews(text: string, effort: Effort): readonly Form[] {
  const plain = toPlainView(text)
  const views = [plain]
  for (const undo of [toUnescaped, toPercentDecoded]) {
    let view: View | undefined = plain
    for (let times = 0; times < 3 && view !== undefined; times += 1) {
      view = undo(view, effort)
      if (view !== undefined) views.push(view)
    }
  }
  return views.flatMap((view) => {
    const shown = toShown(view, effort)
    if (shown === undefined) return toForms(view, effort)
    // What goes on over a line break does so where nothing hidden stands between, too.
    const families = findFamilies(view.text)
    return [{ view, isJoined: false, families }, ...toForms(shown, effort)]
  })
}

function toForms(view: View, effort: Effort): readonly Form[] {
  // A word that says what stands behind it is not looked for where lines were put together.
  effort.spend(view.text.length)
  const families = findFamilies(view.text)
  const summed = some(toSummed(view, effort))
  const joined = [view, ...summed].flatMap((each) => some(toJoined(each, effort)))
  return [
    ...[view, ...some(toGathered(view, effort))].map((each) => ({ view: each, isJoined: false, families })),
    ...[...summed, ...joined].map((each) => ({ view: each, isJoined: true, families })),
  ]
}

function some<T>(value: T | undefined): readonly T[] {
  return value === undefined ? [] : [value]
}

function findEncoded(text: string, inner: Search): readonly Secret[] {
  const found: Secret[] = []
  for (const readRuns of [readBase64, readHex, readDumps]) {
    for (const decoded of readRuns(text, inner.effort)) {
      inner.effort.spend(decoded.text.length)
      for (const { 0: words, index } of decoded.text.matchAll(WORDS)) {
        for (const secret of search(words, inner)) {
          found.push({ ...secret, ...decoded.place(index + secret.start, index + secret.end) })
        }
      }
      found.push(...findPacked(decoded, inner))
    }
  }
  return found
}

/** Of what was packed no part can be masked alone. What is too long to be looked through is not passed on. */
function findPacked(decoded: Decoded, inner: Search): readonly Secret[] {
  const unpacked = unpack(decoded.text, inner.unpacking)
  if (unpacked === undefined) return []
  const all = decoded.place(0, decoded.text.length)
  if (unpacked.state === 'too-long') return [{ ...all, kind: 'packed', confidence: 'likely' }]
  const { text } = unpacked
  // It is longer than what it was packed into, and counts for itself.
  const effort = createEffort(STEPS_AT_LEAST + text.length * STEPS_PER_CHARACTER)
  const [secret] = search(text, { ...inner, effort })
  return secret === undefined ? [] : [{ ...secret, ...all }]
}

/** What can be read in the bytes of something. Chance puts so many such characters in a row once in 100,000 bytes. */
const WORDS = /[\t\n\r\u0020-\u007e]{12,}/g
