/** How well something fits what was typed, and which letters of it were meant. */
export interface Match {
  readonly score: number
  /** Places in the text, in order. */
  readonly places: readonly number[]
}

/** A text longer than this is looked at only this far: a first prompt may be a novel. */
const MOST = 300
/** What a letter must be worth on average, where the word itself is not there. */
const LEAST = 2

/**
 * Whether the letters that were typed stand in the text in this order, and how well. Letters in a row, at the
 * beginning and at the beginnings of words count most; a short text wins over a long one. Spaces separate words that
 * may stand in any order, and all of them must be there.
 */
export function findMatch(typed: string, text: string): Match | undefined {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean)
  const lower = toLower(text.slice(0, MOST))
  let score = 0
  const places = new Set<number>()
  for (const word of words) {
    const match = matchWord(word, text, lower)
    if (match === undefined) return undefined
    score += match.score
    for (const place of match.places) places.add(place)
  }
  return { score: score - lower.length / 100, places: [...places].toSorted((a, b) => a - b) }
}

/** In small letters, each where it was: a letter that becomes two would move all that follow. */
function toLower(text: string): string {
  const lower = text.toLowerCase()
  return lower.length === text.length
    ? lower
    : Array.from({ length: text.length }, (_none, at) => {
        const letter = text.charAt(at).toLowerCase()
        return letter.length === 1 ? letter : text.charAt(at)
      }).join('')
}

function matchWord(word: string, text: string, lower: string): Match | undefined {
  // As it was typed, at the beginning of a word if it stands there; else letter by letter.
  const whole = findWhole(word, text, lower)
  if (whole !== -1) {
    const places = Array.from({ length: word.length }, (_none, at) => whole + at)
    return { score: word.length * 6 + startBonus(text, whole), places }
  }
  let best: Match | undefined
  for (
    let from = lower.indexOf(word.charAt(0));
    from !== -1;
    from = lower.indexOf(word.charAt(0), from + 1)
  ) {
    const plain = matchFrom(word, from, { text, lower, prefers: 'next' })
    // Without the nearest letters there are none further on.
    if (plain === undefined) break
    const byStarts = matchFrom(word, from, { text, lower, prefers: 'starts' })
    for (const match of [plain, byStarts]) {
      if (match !== undefined && (best === undefined || match.score > best.score)) best = match
    }
  }
  // Letters that are scattered over half a sentence are there by chance.
  return best !== undefined && best.score >= word.length * LEAST ? best : undefined
}

function findWhole(word: string, text: string, lower: string): number {
  const first = lower.indexOf(word)
  for (let at = first; at !== -1; at = lower.indexOf(word, at + 1)) if (isStart(text, at)) return at
  return first
}

function matchFrom(
  word: string,
  from: number,
  {
    text,
    lower,
    prefers,
  }: { readonly text: string; readonly lower: string; readonly prefers: 'next' | 'starts' },
): Match | undefined {
  const places: number[] = []
  let score = 0
  let at = from
  for (const letter of word.split('')) {
    const isFirst = places.length === 0
    const place =
      prefers === 'next' || isFirst ? lower.indexOf(letter, at) : findStart(letter, at, { text, lower })
    if (place === -1) return undefined
    const isNext = places.length > 0 && place === (places.at(-1) ?? 0) + 1
    score += 1 + (isNext ? 3 : 0) + startBonus(text, place) / 2 - (isNext ? 0 : Math.min(2, (place - at) / 8))
    places.push(place)
    at = place + 1
  }
  return { score, places }
}

/** The next place of a letter that goes on with the word, or begins another; else the next one at all. */
function findStart(
  letter: string,
  from: number,
  { text, lower }: { readonly text: string; readonly lower: string },
): number {
  const next = lower.indexOf(letter, from)
  if (next === from) return next
  for (let at = next; at !== -1; at = lower.indexOf(letter, at + 1)) if (isStart(text, at)) return at
  return next
}

function startBonus(text: string, at: number): number {
  if (at === 0) return 8
  return isStart(text, at) ? 5 : 0
}

/** Whether a word, or a part of one, begins here. */
function isStart(text: string, at: number): boolean {
  if (at === 0) return true
  const [before, here] = [text.charAt(at - 1), text.charAt(at)]
  if (!/[\p{L}\p{N}]/u.test(before)) return true
  return /\p{Lu}/u.test(here) && /\p{Ll}/u.test(before)
}
