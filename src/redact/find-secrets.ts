import { readBase64 } from './base64.ts'
import { findInContext } from './contexts.ts'
import { createEffort, mergeSecrets, type Confidence, type Effort, type Secret } from './secret.ts'
import { findByRules } from './secretlint-rules.ts'
import { findTokens } from './tokens.ts'
import { toJoined, toPercentDecoded, toPlainView, toUnescaped, type View } from './views.ts'

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
  const first = mergeSecrets(search(text, { effort, depth: 0 }))
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
}

function search(text: string, { effort, depth }: Search): Secret[] {
  const found: Secret[] = []
  for (const { view, isJoined } of toViews(text, effort)) {
    const here = [
      ...findTokens(view, effort),
      ...findInContext(view, effort),
      // What a line break cut in two is known by its shape; these rules would take twice as long to say so.
      ...(isJoined ? [] : findByRules(view.text, effort)),
      ...(depth < DEEPEST ? findEncoded(view.text, { effort, depth: depth + 1 }) : []),
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
    const joined = toJoined(view, effort)
    return [{ view, isJoined: false }, ...(joined === undefined ? [] : [{ view: joined, isJoined: true }])]
  })
}

function findEncoded(text: string, inner: Search): readonly Secret[] {
  const found: Secret[] = []
  for (const decoded of readBase64(text)) {
    inner.effort.spend(decoded.text.length)
    for (const { 0: words, index } of decoded.text.matchAll(WORDS)) {
      for (const secret of search(words, inner)) {
        found.push({ ...secret, ...decoded.place(index + secret.start, index + secret.end) })
      }
    }
  }
  return found
}

/** What can be read in the bytes of something. Chance puts so many such characters in a row once in 100,000 bytes. */
const WORDS = /[\t\n\r\u0020-\u007e]{12,}/g
