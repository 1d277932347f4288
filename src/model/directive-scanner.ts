import { readObject } from './directive-object.ts'
import { createQuoting } from './directive-quoting.ts'
import type { Directive, DirectiveKind, DirectiveNotice, DirectiveReading } from './directives.ts'

/** Whether anything follows the piece that is read. */
type Coming = 'more' | 'last'

/** Reads pieces of a text, and decides as much as can be decided without knowing what follows. */
export interface DirectiveScanner {
  read(piece: string, coming: Coming): DirectiveReading
}

const KEYWORDS: readonly (readonly [keyword: string, kind: DirectiveKind])[] = [
  ['[REMEMBER]', 'remember'],
  ['[MARKER]', 'marker'],
  ['[TEACH]', 'teach'],
]

/** Inline code that is not closed by then is none; what comes in is never held back for longer. */
const LONGEST_CODE = 4096

/** One decision: so many characters are text to show, or a directive, or nothing can be said yet. */
type Step =
  | {
      readonly say: 'text'
      readonly length: number
      /** Not there: words. */
      readonly as?: 'code' | 'line'
      readonly notice?: Pick<DirectiveNotice, 'kind' | 'reason'>
    }
  | { readonly say: 'directive'; readonly length: number; readonly found: Found }
  | { readonly say: 'wait' }

type Found = Pick<Directive, 'kind' | 'content' | 'payload'> & { readonly size: number }

const WAIT: Step = { say: 'wait' }

interface Fence {
  readonly char: string
  readonly length: number
}

export function createDirectiveScanner(): DirectiveScanner {
  let held = ''
  /** How much was decided, and how much of it is shown. */
  let offset = 0
  let shown = 0
  let atLineStart = true
  let fence: Fence | undefined
  /** The rest of the line is text, whatever it holds. */
  let verbatim = false
  /** The line before is quoted, and a line of words goes on with it. */
  let isQuotation = false
  const quoting = createQuoting()

  function decide(at: number, isLast: boolean): Step {
    const context = { isLast, atLineStart, isQuoted: quoting.isQuoted() }
    if (!atLineStart) return verbatim ? readLine(held, at) : readWords(held, at, context)
    const line = readLineStart(held, at, { isLast, fence, isQuotation })
    if (line === 'wait') return WAIT
    isQuotation = line === 'quotation'
    if (typeof line === 'object') fence = fence === undefined ? line : undefined
    verbatim = line !== 'words' || fence !== undefined
    return verbatim ? readLine(held, at) : readWords(held, at, context)
  }

  function see(step: Extract<Step, { say: 'text' }>, text: string): void {
    if (step.as === undefined) quoting.see(text)
    else quoting.skip(text)
    if (step.notice !== undefined) quoting.skipMarks()
  }

  return {
    read(piece, coming) {
      held += piece
      const directives: Directive[] = []
      const notices: DirectiveNotice[] = []
      const parts: string[] = []
      let at = 0
      while (at < held.length) {
        const step = decide(at, coming === 'last')
        if (step.say === 'wait') break
        const start = offset + at
        if (step.say === 'directive') {
          const { size, ...found } = step.found
          directives.push({ ...found, start, end: start + size, at: shown })
          quoting.skip(held.slice(at, at + step.length))
        } else {
          if (step.notice !== undefined) notices.push({ ...step.notice, start, at: shown })
          const text = held.slice(at, at + step.length)
          see(step, text)
          parts.push(text)
          shown += step.length
        }
        at += step.length
        atLineStart = held.charAt(at - 1) === '\n'
      }
      offset += at
      held = held.slice(at)
      return { text: parts.join(''), directives, notices }
    },
  }
}

const FENCE = /^ {0,3}(`{3,}|~{3,})([^\n]*)$/

/** A line that is longer opens and closes no fence. */
const LONGEST_FENCE = 1024

interface LineContext {
  readonly isLast: boolean
  readonly fence: Fence | undefined
  readonly isQuotation: boolean
}

/** What a line begins: a fence, or the end of the one that is open; a quotation; indented code; words, or more code. */
function readLineStart(
  text: string,
  at: number,
  { isLast, fence, isQuotation }: LineContext,
): Fence | 'words' | 'quotation' | 'code' | 'wait' {
  const start = text.slice(at, at + 4)
  if (/^ {0,3}$/.test(start) && start.length < 4 && !isLast) return 'wait'
  if (fence === undefined) {
    if (/^ {0,3}>/.test(start)) return 'quotation'
    // In a list, words may be indented as far: they are not told from code.
    if (/^(?: {4}| {0,3}\t)/.test(start)) return isQuotation ? 'quotation' : 'code'
    if (isQuotation && /^ {0,3}[^\s#*+-]/.test(start)) return 'quotation'
  }
  if (!/^ {0,3}[`~]/.test(start)) return 'words'
  const window = text.slice(at, at + LONGEST_FENCE)
  const newline = window.indexOf('\n')
  if (newline === -1 && window.length < LONGEST_FENCE && !isLast) return 'wait'
  if (newline === -1 && window.length === LONGEST_FENCE) return 'words'
  const line = newline === -1 ? window : window.slice(0, newline)
  const [, marks = '', info = ''] = FENCE.exec(line) ?? []
  if (marks === '') return 'words'
  const found = { char: marks.charAt(0), length: marks.length }
  if (fence === undefined) return found.char === '`' && info.includes('`') ? 'words' : found
  return found.char === fence.char && found.length >= fence.length && info.trim() === '' ? found : 'words'
}

function readLine(text: string, at: number): Step {
  const newline = text.indexOf('\n', at)
  return { say: 'text', as: 'line', length: (newline === -1 ? text.length : newline + 1) - at }
}

interface WordContext {
  readonly isLast: boolean
  readonly atLineStart: boolean
  /** What stands here is somebody else's words. */
  readonly isQuoted: boolean
}

/** Up to the next character that may begin something else. */
function readWords(text: string, at: number, context: WordContext): Step {
  switch (text.charAt(at)) {
    case '`':
      return readCode(text, at, context)
    case '[':
      return readDirective(text, at, context)
    case '\\':
      return at + 1 < text.length || context.isLast
        ? { say: 'text', length: /^[!-/:-@[-`{-~]/.test(text.slice(at + 1, at + 2)) ? 2 : 1 }
        : WAIT
    case '\n':
      return { say: 'text', length: 1 }
    default:
      return { say: 'text', length: /^[^`[\\\n]+/.exec(text.slice(at))?.[0].length ?? 1 }
  }
}

/** Code between runs of backticks of the same length, in one paragraph; or the backticks alone. */
function readCode(text: string, at: number, { isLast }: WordContext): Step {
  const run = /^`+/.exec(text.slice(at, at + LONGEST_CODE))?.[0].length ?? 1
  if (at + run >= text.length && !isLast && run < LONGEST_CODE) return WAIT
  const window = text.slice(at + run, at + LONGEST_CODE)
  const isWhole = isLast || at + LONGEST_CODE <= text.length
  for (const match of window.matchAll(/`+|\n[ \t]*\r?(?:\n|$)/g)) {
    const ends = match.index + match[0].length
    // What stands at the very end may go on.
    if (ends === window.length && !isWhole) return WAIT
    if (match[0].startsWith('\n')) return { say: 'text', length: run }
    if (match[0].length === run) return { say: 'text', as: 'code', length: run + ends }
  }
  return isWhole ? { say: 'text', length: run } : WAIT
}

function readDirective(text: string, at: number, { isLast, atLineStart, isQuoted }: WordContext): Step {
  if (isQuoted) return { say: 'text', length: 1 }
  const known = KEYWORDS.find(([keyword]) => text.startsWith(keyword, at))
  if (known === undefined) {
    const rest = text.slice(at, at + 12)
    const mayBe = at + rest.length === text.length && KEYWORDS.some(([keyword]) => keyword.startsWith(rest))
    return mayBe && !isLast ? WAIT : { say: 'text', length: 1 }
  }
  const [keyword, kind] = known
  const object = readObject(text, at + keyword.length, isLast)
  switch (object.state) {
    case 'unfinished':
      return WAIT
    case 'none':
      return {
        say: 'text',
        length: keyword.length,
        ...(atLineStart ? { notice: { kind, reason: NO_OBJECT } } : {}),
      }
    case 'broken':
      return { say: 'text', length: keyword.length, notice: { kind, reason: object.reason } }
    case 'read': {
      const tail = atLineStart ? readLineEnd(text, object.end, isLast) : 0
      if (tail === undefined) return WAIT
      const { content, payload } = object
      const found = { kind, content, payload, size: object.end - at }
      return { say: 'directive', length: object.end + tail - at, found }
    }
  }
}

const NO_OBJECT = 'No JSON object follows.'

/** A directive that has its line for itself takes the line with it. */
function readLineEnd(text: string, at: number, isLast: boolean): number | undefined {
  const rest = /^[ \t]{0,80}\r?\n?/.exec(text.slice(at, at + 84))?.[0] ?? ''
  if (rest.endsWith('\n')) return rest.length
  return at + rest.length === text.length && !isLast ? undefined : 0
}
