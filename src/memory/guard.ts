import { stemOf, toTerms } from './words.ts'

/** In what two texts can differ. `order`: the same words, arranged differently. */
export type GuardPart = 'numbers' | 'negations' | 'identifiers' | 'opposites' | 'words' | 'order'

/** What of a text turns its meaning around when it is another. */
export interface Guard {
  /** Each of these as one text, in the order in which they stand: what calls what, and from where to where. */
  readonly numbers: string
  readonly negations: string
  readonly identifiers: string
  readonly opposites: string
  /** Names of somebody or something, as far as they can be told from the first words of sentences. */
  readonly names: readonly string[]
  /** All words, each once, in order, so that a name of another text can be looked for. */
  readonly terms: ReadonlySet<string>
}

const NEGATIONS = new Set(
  (
    'no not never none nothing nobody nowhere neither nor without cannot cant wont dont doesnt didnt isnt arent ' +
    'wasnt werent hasnt havent hadnt shouldnt wouldnt couldnt mustnt neednt aint unless except hardly barely ' +
    'fail fails failed forbid forbids forbidden refuse refuses refused deny denies denied instead avoid avoids'
  ).split(' '),
)
/** Words that have an opposite which stands in the same place of a sentence. */
const OPPOSITES = new Set(
  (
    'always sometimes often rarely seldom before after true false yes enable disable allow permit block on off add ' +
    'remove start stop open close include exclude increase decrease more less most least first last left right up ' +
    'down above below over under min max minimum maximum sync async synchronous asynchronous required optional must ' +
    'may should public private local remote safe unsafe valid invalid old new big small large long short fast slow ' +
    'high low hot cold good bad better worse best worst love hate like dislike early late inside outside ' +
    'internal external active inactive accept reject read write push pull client server stale stable ' +
    'unstable deprecated supported unsupported mutable immutable possible impossible same different all some any ' +
    'ascending descending strict loose manual automatic with today tomorrow yesterday morning evening day night ' +
    'monday tuesday wednesday thursday friday saturday sunday january february march april june july august ' +
    'september october november december one two three four five six seven eight nine ten eleven twelve hundred ' +
    'thousand once twice half double'
  )
    .split(' ')
    .map(stemOf),
)
const NUMBER = /(?<![\p{L}_])[-+]?\d[\d.,:/x-]*\d*(?:\s?%|[a-z]{1,3}\b)?/giu
/** Code in backticks; paths, flags, and names with a dot, a dash, an underscore or a capital inside. */
const CODE = /`([^`\n]+)`/g
const PATHS =
  /(?:^|[\s("'])((?:--?[a-z][\w-]*)|(?:[~.]{0,2}\/)?[\w@.-]+(?:\/[\w@.*-]+)+\/?|[\w-]+\.[a-z]\w{0,5})(?=$|[\s)"',.:;!?])/giu
const NAMES =
  /(?<![\p{L}\p{N}_$])[\p{L}_$][\p{L}\p{N}$]*(?:_[\p{L}\p{N}$]+|\p{Ll}\p{Lu}[\p{L}\p{N}$]*)+|\b\p{Lu}{2,}\p{N}*\b/gu
/** A capital that does not begin a sentence: somebody's or something's name. */
const PROPER = /(?<=[\p{L}\p{N},;)]\s)\p{Lu}\p{Ll}[\p{L}\p{N}]*/gu

/** The guard of a text. */
export function toGuard(text: string): Guard {
  const plain = text.normalize('NFC').replaceAll(/(\p{L})['’](\p{L})/gu, '$1$2')
  const terms = toTerms(plain)
  const numbers = found(plain, NUMBER).map((one) => one.toLowerCase().replaceAll(/[\s,]|[.:/x-]+$/g, ''))
  const identifiers = [...groups(plain, CODE), ...groups(plain, PATHS), ...found(plain, NAMES)]
  return {
    numbers: join(numbers),
    // How often counts: a second "not" turns the sense again.
    negations: join(terms.filter((term) => NEGATIONS.has(term)).map(toNegation)),
    identifiers: join([...new Set(identifiers.map((one) => one.trim()).filter((one) => one !== ''))]),
    opposites: join([...new Set(terms.map(stemOf).filter((stem) => OPPOSITES.has(stem)))]),
    names: found(plain, PROPER).flatMap(toTerms),
    terms: new Set(terms),
  }
}

/** A text without its numbers and identifiers: what is left is what it says about them. */
export function withoutNames(text: string): string {
  return [CODE, PATHS, NAMES, PROPER, NUMBER].reduce((rest, one) => rest.replaceAll(one, ' '), text)
}

/** In what two guards differ. */
export function differencesOf(a: Guard, b: Guard): readonly GuardPart[] {
  const parts = ['numbers', 'negations', 'identifiers', 'opposites'] as const
  return parts.filter((part) => a[part] !== b[part] || (part === 'identifiers' && !haveSameNames(a, b)))
}

/** A name may begin a sentence in one text and not in the other, but it stands in both, in the same order. */
function haveSameNames(a: Guard, b: Guard): boolean {
  const names = new Set([...a.names, ...b.names])
  const [left, right] = [a, b].map(({ terms }) => join([...terms].filter((term) => names.has(term))))
  return left === right
}

/** "Don't" and "do not" say no in the same way, once each. */
function toNegation(term: string): string {
  return /no?t$|^no$/.test(term) ? 'not' : stemOf(term)
}

function found(text: string, pattern: RegExp): readonly string[] {
  return text.match(pattern) ?? []
}

function groups(text: string, pattern: RegExp): readonly string[] {
  return [...text.matchAll(pattern)].map(([, group]) => group ?? '')
}

function join(parts: readonly string[]): string {
  return parts.join('\u0000')
}
