/** A stretch of what was typed, before anybody knows whether it makes sense. */
export interface Piece {
  readonly kind: 'word' | 'phrase' | 'or' | 'facet'
  /** Without its quotes, its `-`, its `*` and, of a facet, its name. */
  readonly text: string
  readonly typed: string
  readonly negated: boolean
  readonly prefix: boolean
  /** The name of a facet, else empty. */
  readonly facet: string
}

const QUOTES = '"\u201c\u201d\u201e'

/** Cuts what was typed into pieces, in one pass. What looks broken is left out or taken as words, with a note. */
export function toPieces(text: string, facets: ReadonlySet<string>, notes: string[]): readonly Piece[] {
  const pieces: Piece[] = []
  let negate = false
  let at = 0
  while (at < text.length) {
    if (isSpace(text, at)) {
      at++
      continue
    }
    const start = at
    const negated =
      text.charAt(at) === '-' && text.charAt(at + 1) !== '-' && at + 1 < text.length && !isSpace(text, at + 1)
    if (negated) at++
    const close = isQuote(text, at) ? findQuote(text, at + 1) : -1
    if (isQuote(text, at) && close === -1) {
      notes.push('A quotation mark has no second one; what follows it was searched as words.')
      const rest = text.slice(at + 1)
      const prefix = (negated || negate) && rest !== '' && !isSpace(rest, 0) ? '-' : ''
      return [...pieces, ...toPieces(prefix + rest, facets, notes)]
    }
    const end = close === -1 ? wordEnd(text, at, facets) : close + 1
    const starred = text.charAt(end) === '*' && close !== -1
    const body = close === -1 ? text.slice(at, end) : text.slice(at + 1, close)
    at = starred ? end + 1 : end
    const typed = text.slice(start, at)
    if (close === -1 && !negated) {
      if (body === 'AND' && pieces.length > 0 && at < text.length) continue
      if (body === 'NOT' && at < text.length) {
        negate = true
        continue
      }
    }
    const common = { typed, negated: negated || negate, prefix: starred, facet: '' }
    negate = false
    if (close !== -1) pieces.push({ ...common, kind: 'phrase', text: body })
    else pieces.push(toWord(body, common, facets))
  }
  return pieces
}

function toWord(body: string, common: Omit<Piece, 'kind' | 'text'>, facets: ReadonlySet<string>): Piece {
  if (body === 'OR' && !common.negated) return { ...common, kind: 'or', text: body }
  const name = facetName(body, facets)
  if (name !== undefined) {
    const value = body.slice(name.length + 1)
    const quoted = value.length >= 2 && isQuote(value, 0) && isQuote(value, value.length - 1)
    return { ...common, kind: 'facet', facet: name, text: quoted ? value.slice(1, -1) : value }
  }
  if (body.length > 1 && body.endsWith('*'))
    return { ...common, kind: 'word', prefix: true, text: body.slice(0, -1) }
  return { ...common, kind: 'word', text: body }
}

function facetName(body: string, facets: ReadonlySet<string>): string | undefined {
  const colon = body.indexOf(':')
  const name = body.slice(0, Math.max(0, colon)).toLowerCase()
  return facets.has(name) ? name : undefined
}

/** Where a word ends: at a space, or behind the quotation that is the value of a facet. */
function wordEnd(text: string, start: number, facets: ReadonlySet<string>): number {
  let at = start
  while (at < text.length && !isSpace(text, at)) {
    const isValue = isQuote(text, at) && text.indexOf(':', start) === at - 1
    if (isValue && facetName(text.slice(start, at), facets) !== undefined) {
      const close = findQuote(text, at + 1)
      if (close !== -1) return close + 1
    }
    at++
  }
  return at
}

function isQuote(text: string, at: number): boolean {
  return at < text.length && QUOTES.includes(text.charAt(at))
}

function findQuote(text: string, from: number): number {
  for (let at = from; at < text.length; at++) if (isQuote(text, at)) return at
  return -1
}

function isSpace(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  return code <= 32 || code === 0xa0 || code === 0x3000 || code === 0x2028 || code === 0x2029
}
