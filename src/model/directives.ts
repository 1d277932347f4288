import type { JsonObject } from '#base'
import { createDirectiveScanner } from './directive-scanner.ts'

/** What an agent asks for: to keep a learning, to note a moment, to guide other agents. */
export type DirectiveKind = 'remember' | 'marker' | 'teach'

/** An instruction in what an agent said. Offsets count UTF-16 units. */
export interface Directive {
  readonly kind: DirectiveKind
  /** What is to be kept. */
  readonly content: string
  /** The whole object, as it was written. */
  readonly payload: JsonObject
  /** Where it begins and ends in what was said. */
  readonly start: number
  readonly end: number
  /** Where its sign belongs in the text that is shown. */
  readonly at: number
}

/** Something that was meant as a directive and is none. Its text stays visible. */
export interface DirectiveNotice {
  readonly kind: DirectiveKind
  /** What was wrong, in a sentence. */
  readonly reason: string
  readonly start: number
  /** Where it stands in the text that is shown. */
  readonly at: number
}

/** What was said, without its directives. */
export interface DirectiveReading {
  /** The text to show. */
  readonly text: string
  readonly directives: readonly Directive[]
  readonly notices: readonly DirectiveNotice[]
}

/** Reads a reply as it comes in. All that it gives, put together, is what `parseDirectives` gives of the whole. */
export interface DirectiveStream {
  /** What is decided with this piece. What may yet become a directive is held back. */
  push(delta: string): DirectiveReading
  /** The rest: nothing follows. */
  end(): DirectiveReading
}

/**
 * Finds `[REMEMBER] {…}`, `[MARKER] {…}` and `[TEACH] {…}` in what an agent said, anywhere and as often as it likes.
 * In a fence, in inline code, in a quotation and behind a backslash they are quoted, and stay.
 */
export function parseDirectives(text: string): DirectiveReading {
  const stream = createDirectiveStream()
  const first = stream.push(text)
  const rest = stream.end()
  return {
    text: first.text + rest.text,
    directives: [...first.directives, ...rest.directives],
    notices: [...first.notices, ...rest.notices],
  }
}

/** Whether a text may hold a directive: `parseDirectives` finds none, and complains of none, in any other. */
export function hasDirectives(text: string): boolean {
  return text.includes('[') && KEYWORD.test(text)
}

/** Directives in a text that comes in pieces, cut anywhere. */
export function createDirectiveStream(): DirectiveStream {
  const scanner = createDirectiveScanner()
  return { push: (delta) => scanner.read(delta, 'more'), end: () => scanner.read('', 'last') }
}

/** A directive as an agent writes it. Read again, it is the same. */
export function renderDirective(kind: DirectiveKind, payload: JsonObject): string {
  return `${KEYWORDS[kind]} ${JSON.stringify(payload)}`
}

const KEYWORD = /\[(?:REMEMBER|MARKER|TEACH)\]/

const KEYWORDS: Readonly<Record<DirectiveKind, string>> = {
  remember: '[REMEMBER]',
  marker: '[MARKER]',
  teach: '[TEACH]',
}
