/** The names that narrow a search, as the search language has them. */
export type FacetName =
  | 'agent'
  | 'workdir'
  | 'session'
  | 'role'
  | 'speaker'
  | 'tool'
  | 'kind'
  | 'after'
  | 'before'
  | 'on'
  | 'has'
  | 'in'

/** Something that narrows a search: `tool:Bash`. */
export interface Facet {
  readonly name: FacetName
  readonly value: string
  readonly negated: boolean
}

/** A facet, and where it stands in what was typed. */
export interface FacetInText extends Facet {
  readonly start: number
  readonly end: number
}

const NAMES: Readonly<Record<FacetName, true>> = {
  agent: true,
  workdir: true,
  session: true,
  role: true,
  speaker: true,
  tool: true,
  kind: true,
  after: true,
  before: true,
  on: true,
  has: true,
  in: true,
}

/** Names of which a second one does not widen the search but contradicts the first. */
const SINGLE: ReadonlySet<FacetName> = new Set<FacetName>(['after', 'before', 'on', 'has'])

const QUOTE = /["\u201c\u201d\u201e]/
const SPACE = /[\0- \u00a0\u3000\u2028\u2029]/

/** The facets of a query, in the order in which they were typed. What only looks like one is words. */
export function facetsOf(text: string): readonly FacetInText[] {
  const found: FacetInText[] = []
  let at = 0
  let pieces = 0
  /** Where a `NOT` stands that the next piece belongs to. */
  let not = -1
  /** Where a `-` stands before a quotation mark that is never closed: it belongs to what follows the mark. */
  let carried = -1
  while (at < text.length) {
    if (carried === -1 && SPACE.test(text.charAt(at))) {
      at++
      continue
    }
    const start = carried === -1 ? at : carried
    const isMinus = carried === -1 ? isMinusAt(text, at) : text.charAt(at) !== '-'
    if (isMinus && carried === -1) at++
    carried = -1
    if (QUOTE.test(text.charAt(at))) {
      const close = findQuote(text, at + 1)
      const next = text.charAt(at + 1)
      const isNegated = isMinus || not !== -1
      // A mark that is never closed is passed over, and what follows is read as if it were not there.
      if (close === -1 && isNegated && next !== '' && !SPACE.test(next)) carried = not === -1 ? start : not
      at = close === -1 ? at + 1 : close + (text.charAt(close + 1) === '*' ? 2 : 1)
      pieces = close === -1 ? 0 : pieces + 1
      not = -1
      continue
    }
    const end = wordEnd(text, at)
    const word = text.slice(at, end)
    at = end
    if (!isMinus && end < text.length) {
      if (word === 'AND' && pieces > 0) continue
      if (word === 'NOT') {
        not = start
        continue
      }
    }
    pieces++
    const name = findName(word)
    const value = name === undefined ? '' : unquote(word.slice(name.length + 1))
    if (name !== undefined && value !== '') {
      found.push({ name, value, negated: isMinus || not !== -1, start: not === -1 ? start : not, end })
    }
    not = -1
  }
  return found
}

function isMinusAt(text: string, at: number): boolean {
  const next = text.charAt(at + 1)
  return text.charAt(at) === '-' && next !== '' && next !== '-' && !SPACE.test(next)
}

/**
 * The query with one more facet. It goes to the front, where no quotation mark and no `NOT` that is still being typed
 * can reach it. One that is already there is not added again; of dates and `has:` there is only one.
 */
export function addFacet(text: string, facet: Facet): string {
  const there = facetsOf(text)
  if (there.some((other) => isSame(other, facet))) return text
  const others = SINGLE.has(facet.name) ? there.filter(({ name }) => name === facet.name) : []
  const rest = others.reduceRight(cutOut, text)
  return rest === '' ? `${toText(facet)} ` : `${toText(facet)} ${rest}`
}

/** The query without a facet, however often and in whatever spelling it was typed. */
export function removeFacet(text: string, facet: Facet): string {
  return facetsOf(text)
    .filter((other) => isSame(other, facet))
    .reduceRight(cutOut, text)
}

/** Adds the facet, or takes it back. */
export function toggleFacet(text: string, facet: Facet): string {
  return hasFacet(text, facet) ? removeFacet(text, facet) : addFacet(text, facet)
}

/** Whether the query already asks for it. */
export function hasFacet(text: string, facet: Facet): boolean {
  return facetsOf(text).some((other) => isSame(other, facet))
}

/** What is searched for beside the facets. */
export function wordsOf(text: string): string {
  return facetsOf(text).reduceRight(cutOut, text).trim()
}

function toText({ name, value, negated }: Facet): string {
  const plain =
    SPACE.test(value) || QUOTE.test(value.charAt(0)) ? `"${value.replace(/["\u201c-\u201e]/g, '')}"` : value
  return `${negated ? '-' : ''}${name}:${plain}`
}

function cutOut(text: string, { start, end }: FacetInText): string {
  const before = text.slice(0, start).trimEnd()
  const after = text.slice(end).trimStart()
  return before === '' || after === '' ? before + after : `${before} ${after}`
}

function isSame(a: Facet, b: Facet): boolean {
  return a.name === b.name && a.negated === b.negated && a.value.toLowerCase() === b.value.toLowerCase()
}

function findName(word: string): FacetName | undefined {
  const name = word.slice(0, Math.max(0, word.indexOf(':'))).toLowerCase()
  return isName(name) ? name : undefined
}

function isName(name: string): name is FacetName {
  return Object.hasOwn(NAMES, name)
}

function unquote(value: string): string {
  const isQuoted =
    value.length >= 2 && QUOTE.test(value.charAt(0)) && QUOTE.test(value.charAt(value.length - 1))
  return isQuoted ? value.slice(1, -1) : value
}

/** Where a word ends: at a space, or behind the quotation that is the value of a facet. */
function wordEnd(text: string, start: number): number {
  for (let at = start; at < text.length; at++) {
    const letter = text.charAt(at)
    if (SPACE.test(letter)) return at
    const isValue = QUOTE.test(letter) && text.indexOf(':', start) === at - 1
    if (isValue && findName(text.slice(start, at)) !== undefined) {
      const close = findQuote(text, at + 1)
      if (close !== -1) return close + 1
    }
  }
  return text.length
}

function findQuote(text: string, from: number): number {
  for (let at = from; at < text.length; at++) if (QUOTE.test(text.charAt(at))) return at
  return -1
}
