import { findPrivateKeys } from './private-keys.ts'
import { mergeSecrets, type Effort, type Secret } from '../secret.ts'
import { createScan } from './scan.ts'
import { endOfRun, TOKEN_SHAPES, type TokenShape } from './token-shapes.ts'
import { isMixed } from './values.ts'
import { endBeforeWords, type View } from '../forms/view.ts'

/** Longer than any token: what goes on behind it is not looked at. */
const LONGEST = 2048

/** Chance makes words of up to so many letters: rather a word too many is masked than more of a token is left. */
const LONGEST_WORD = 7

/** Tokens of known issuers and private keys in a view, in its own positions. */
export function findTokens(view: View, effort: Effort): readonly Secret[] {
  effort.spend(view.text.length)
  const found = [...findPrivateKeys(view.text, effort), ...findWebTokens(view.text, effort)]
  collectTokens(view, { effort, found })
  for (const mark of MARKS) collectMarked(view.text, { mark, effort, found })
  return mergeSecrets(found)
}

/** One look for all of them: most texts hold none. */
const findPrefix = createScan(
  new RegExp(TOKEN_SHAPES.map(({ prefix }) => prefix.replaceAll('.', '\\.')).join('|')),
  TOKEN_SHAPES.map(({ prefix }) => prefix.slice(0, 3)),
)

interface Search {
  readonly effort: Effort
  readonly found: Secret[]
}

function collectTokens(view: View, { effort, found }: Search): void {
  /** Up to where a shape has looked: what begins inside of a run that it has read is part of that run. */
  const looked = new Map<TokenShape, number>()
  // Another beginning may stand inside of this one.
  for (let match = findPrefix(view.text, 0); match !== null; match = findPrefix(view.text, match.index + 1)) {
    const at = match.index
    for (const shape of SHAPES_BY_LETTER.get(view.text.charAt(at)) ?? []) {
      if (at < (looked.get(shape) ?? 0) || !view.text.startsWith(shape.prefix, at)) continue
      const start = at + shape.prefix.length
      looked.set(shape, start)
      if (isInsideWord(view, at, shape)) continue
      const run = endOfRun(view.text, start, { alphabet: shape.alphabet, most: LONGEST })
      effort.spend(run - at)
      const end = endOfToken(view, { start, run, shape })
      if (end !== undefined) found.push({ kind: shape.kind, start: at, end, confidence: 'certain' })
      else if (isCut(view.text, { start, run, shape }))
        found.push({ kind: shape.kind, start: at, end: run, confidence: 'likely' })
      looked.set(shape, end ?? run)
    }
  }
}

const SHAPES_BY_LETTER: ReadonlyMap<string, readonly TokenShape[]> = new Map(
  [...new Set(TOKEN_SHAPES.map(({ prefix }) => prefix.charAt(0)))].map((letter) => [
    letter,
    TOKEN_SHAPES.filter(({ prefix }) => prefix.startsWith(letter)),
  ]),
)

function isInsideWord(view: View, at: number, { wordStart }: TokenShape): boolean {
  if (wordStart === undefined || at === 0) return false
  return /\w/.test(view.text.charAt(at - 1)) && view.lastJoint(at - 1, at + 1) === undefined
}

interface Candidate {
  readonly start: number
  readonly run: number
  readonly shape: TokenShape
}

function endOfToken(view: View, { start, run, shape }: Candidate): number | undefined {
  const crosses = view.lastJoint(start - shape.prefix.length, run) !== undefined
  const end = crosses ? endAcrossLines(view, { start, run, shape }) : run
  if (end - start < shape.least) return undefined
  return isExplanation(view.text.slice(start, end), shape) ? undefined : end
}

/** Behind a text that was cut: nothing, dots, or half of what is an escape or a sequence. */
// oxlint-disable-next-line no-control-regex -- sequences begin with it
const CUT_OFF = /^(?:[\\%&]\S{0,8}?|\u001b[^\n]{0,80}?|["'`][ \t]{0,4}[+.]?)?(?:…|\.{3})?$/
const LONGEST_CUT = 84

/** The beginning of a token at the end of a text, where the rest of it was cut off: in a name, a title, an outline. */
function isCut(text: string, { start, run, shape }: Candidate): boolean {
  if (text.length - run > LONGEST_CUT || shape.wordStart !== undefined || shape.prefix.length < 4)
    return false
  if (!CUT_OFF.test(text.slice(run))) return false
  const body = text.slice(start, run)
  if (isExplanation(body, shape) || new Set(body).size < 3) return false
  return body.length >= 4 && (shape.alphabet === 'upper' || /\d/.test(body) || isMixed(body))
}

/** A token goes on in the next line as far as its kind is long, or while what stands there is no word. */
function endAcrossLines(view: View, { start, run, shape }: Candidate): number {
  if (run - start >= shape.usual) return start + shape.usual
  return endBeforeWords(view, { start, end: run }, { least: shape.least, longestWord: LONGEST_WORD })
}

/** `sk-ant-your-key-goes-right-here`: words with dashes between them are an explanation. */
function isExplanation(body: string, { alphabet }: TokenShape): boolean {
  if (alphabet === 'hex' || alphabet === 'alnum' || alphabet === 'upper') return false
  return !/\d/.test(body) && !/[a-z][A-Z]/.test(body) && /[-_.]/.test(body)
}

const RUN = { alphabet: 'dashed', most: 16_384 } as const

/** JSON Web Tokens: three runs with dots between them, of which two are JSON objects in base64. */
function findWebTokens(text: string, effort: Effort): readonly Secret[] {
  const found: Secret[] = []
  for (let at = text.indexOf('eyJ'); at !== -1;) {
    const header = endOfRun(text, at, RUN)
    const body = text.startsWith('.eyJ', header) ? endOfRun(text, header + 1, RUN) : header
    const end = body > header && text.charAt(body) === '.' ? endOfRun(text, body + 1, RUN) : body
    effort.spend(end - at)
    // The rest may have been cut off behind the claims.
    const isWhole = end > body + 8 || CUT_OFF.test(text.slice(end, end + LONGEST_CUT + 1))
    if (isWhole && body > header) {
      found.push({ kind: 'json-web-token', start: at, end, confidence: 'certain' })
    }
    // What begins inside the header ends where it ends, and is followed by the same.
    at = text.indexOf('eyJ', Math.max(header, at + 3))
  }
  return found
}

/** Tokens that are known by something in their middle. */
interface Mark {
  readonly kind: string
  readonly mark: string
  /** Sticky, and matched from each of the places before the mark where the token may begin. */
  readonly pattern: RegExp
  readonly before: number
}

const MARKS: readonly Mark[] = [
  { kind: 'telegram-token', mark: ':AA', pattern: /\d{8,10}:AA[\w-]{33,40}/, before: 10 },
  { kind: 'azure-secret', mark: '8Q~', pattern: /[\w.~-]{3}8Q~[\w.~-]{31,40}/, before: 3 },
  { kind: 'mailchimp-key', mark: '-us', pattern: /[0-9a-f]{32}-us\d{1,2}/, before: 32 },
  { kind: 'discord-token', mark: '.', pattern: /[MNO][\w-]{23,25}\.[\w-]{6}\.[\w-]{27,38}/, before: 26 },
]

function collectMarked(text: string, { mark, effort, found }: Search & { readonly mark: Mark }): void {
  for (let at = text.indexOf(mark.mark); at !== -1; at = text.indexOf(mark.mark, at + 1)) {
    effort.spend(2)
    if (mark.mark === '.' && text.charAt(at + 7) !== '.') continue
    effort.spend(120)
    const from = Math.max(0, at - mark.before)
    const match = mark.pattern.exec(text.slice(from, at + 80))
    if (match === null) continue
    const start = from + match.index
    found.push({ kind: mark.kind, start, end: start + match[0].length, confidence: 'certain' })
  }
}
