import { identifierParts } from '../identifier.ts'
import type { Query } from '../query.ts'
import type { Term } from '../query-term.ts'
import { createTokenReader } from '../tokens.ts'

/** A text as the index has it. */
export interface IndexedText {
  /** How many words it has. */
  readonly count: number
  /** All of them in order, each between two blanks. */
  readonly words: string
  /** Each of them once, as a `tsvector` is written. */
  readonly lexemes: string
  /** Too much for a `tsvector`: everybody who searches looks at it. */
  readonly isLong: boolean
}

/** A `tsvector` takes a megabyte, with what it needs to find its way in it. */
const MOST_LEXEME_BYTES = 400_000
/** A longer word is data. It is looked for by its beginning and then compared. */
const LONGEST_LEXEME = 200
/** No word has this sign in it. */
const LONG_MARK = "'~'"

export function toIndexedText(text: string): IndexedText {
  const parts = identifierParts(text)
  const all: string[] = []
  const lexemes = new Set<string>()
  for (const piece of parts === '' ? [text] : [text, parts]) {
    const reader = createTokenReader(piece)
    while (reader.next()) {
      const token = reader.token()
      all.push(token)
      lexemes.add(token.length > LONGEST_LEXEME ? cut(token) : token)
    }
  }
  const vector = [...lexemes].map((lexeme) => `'${lexeme}'`).join(' ')
  const isLong = Buffer.byteLength(vector) + lexemes.size * 8 > MOST_LEXEME_BYTES
  return {
    count: all.length,
    words: all.length === 0 ? '' : ` ${all.join('  ')} `,
    lexemes: isLong ? LONG_MARK : vector,
    isLong,
  }
}

/** What is asked of the words of a text. */
export interface WordSearch {
  /** As a `tsquery` is written: gives every text that matches, and perhaps others. */
  readonly candidates: string
  /** Whether it gives only texts that match, those that are long aside. */
  readonly isExact: boolean
  /** For each clause pieces of `words`, of which one must be in it, or none. */
  readonly clauses: readonly { readonly pieces: readonly string[]; readonly not: boolean }[]
  /** What is weighed: pieces of `words`, and how they are looked for. */
  readonly forms: readonly { readonly piece: string; readonly candidates: string }[]
}

/** `undefined` when there is no word to look for. */
export function toWordSearch(query: Query): WordSearch | undefined {
  const wanted = query.clauses.filter(({ not }) => !not)
  if (wanted.length === 0) return undefined
  const spellings = query.clauses.flatMap(({ any }) => any.flatMap(({ forms }) => forms))
  const isExact = spellings.every(
    (tokens) => tokens.length === 1 && tokens.every((token) => token.length <= LONGEST_LEXEME),
  )
  const unwanted = isExact ? query.clauses.filter(({ not }) => not) : []
  const all = [
    ...wanted.map(({ any }) => `(${any.flatMap(queriesOf).join(' | ')})`),
    ...unwanted.map(({ any }) => `!(${any.flatMap(queriesOf).join(' | ')})`),
  ].join(' & ')
  return {
    candidates: `(${all}) | ${LONG_MARK}`,
    isExact,
    clauses: query.clauses.map(({ any, not }) => ({ pieces: any.flatMap(piecesOf), not })),
    forms: wanted.flatMap(({ any }) =>
      any.flatMap((term) =>
        term.forms.map((tokens) => ({ piece: pieceOf(term, tokens), candidates: queryOf(term, tokens) })),
      ),
    ),
  }
}

function piecesOf(term: Term): readonly string[] {
  return term.forms.map((tokens) => pieceOf(term, tokens))
}

function pieceOf({ kind }: Term, tokens: readonly string[]): string {
  return ` ${tokens.join('  ')}${kind === 'prefix' ? '' : ' '}`
}

function queriesOf(term: Term): readonly string[] {
  return term.forms.map((tokens) => queryOf(term, tokens))
}

function queryOf({ kind }: Term, tokens: readonly string[]): string {
  const words = tokens.map((token, n) => {
    const isPrefix = kind === 'prefix' && n === tokens.length - 1
    return `'${token.length > LONGEST_LEXEME ? cut(token) : token}'${isPrefix ? ':*' : ''}`
  })
  return words.length === 1 ? words.join('') : `(${words.join(' & ')})`
}

/** Never half a character: those are no part of a word, but a whole one may be cut in two. */
function cut(token: string): string {
  const end = token.charCodeAt(LONGEST_LEXEME - 1)
  return token.slice(0, end >= 0xd800 && end <= 0xdbff ? LONGEST_LEXEME - 1 : LONGEST_LEXEME)
}
