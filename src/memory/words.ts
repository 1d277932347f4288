import { toFoldedWords } from '#model'
import { toStem } from './stem.ts'

/** Words that are in every text, and so tell nothing about one. */
const STOP: ReadonlySet<string> = new Set(
  (
    'a about above after again all also am an and any are as at be because been before being below between both but ' +
    'by can could did do does doing down during each few for from further get got had has have having he her here ' +
    'hers herself him himself his how i if in into is it its itself just let like me more most my myself of off on ' +
    'once only or other our ours ourselves out over own same she should so some such than that the their theirs ' +
    'them themselves then there these they this those through to too under until up us very was we were what when ' +
    'where which while who whom whose why will with would you your yours yourself yourselves s t re ve ll d m don ' +
    'didn doesn isn aren wasn weren hasn haven hadn won wouldn couldn shouldn might may much many'
  ).split(' '),
)
const WORD = /[\p{L}\p{N}\p{M}_]+/gu
/** Most words: nothing to fold but the case, nothing to take apart. */
const PLAIN = /^(?:[A-Z]?[a-z0-9]+|[A-Z0-9]+)$/
const MAX_STEMS = 20_000
const stems = new Map<string, string>()

/**
 * The stems of the words of a text, in order, identifiers whole and in their parts: `readLine` gives `readlin`, `read`
 * and `line`. Words that every text has are left out.
 */
export function toStems(text: string): readonly string[] {
  return toTerms(text)
    .filter((term) => !STOP.has(term))
    .map(stemOf)
}

/** The words of a text, folded, identifiers whole and in their parts. */
export function toTerms(text: string): readonly string[] {
  const terms: string[] = []
  for (const word of text.match(WORD) ?? []) {
    if (PLAIN.test(word)) terms.push(word.toLowerCase())
    else terms.push(...toParts(word))
  }
  return terms
}

/** The stem of a folded word. Texts repeat their words, so the last few thousand are kept. */
export function stemOf(word: string): string {
  const known = stems.get(word)
  if (known !== undefined) return known
  if (stems.size >= MAX_STEMS) stems.clear()
  const stem = toStem(word)
  stems.set(word, stem)
  return stem
}

function toParts(word: string): readonly string[] {
  const whole = toFoldedWords(word)
  if (!/_|\p{Ll}\p{Lu}/u.test(word)) return whole
  const parts = word.replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2').replaceAll('_', ' ')
  return [...whole.map((one) => one.replaceAll('_', '')), ...toFoldedWords(parts)].filter((one) => one !== '')
}
