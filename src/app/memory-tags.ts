import { toStems } from '#memory'
import { toFoldedWords, type MemoryDocument } from '#model'

const MOST = 8
const SHORTEST = 4
/** What a tag is worth that stands in the text, and one that only what is like it has. */
const NAMED = 4
/** A word of the text itself, when nobody has used it as a tag yet. */
const WORDS = 3

/**
 * Tags that would suit a text, best first: those that are in use and stand in it, those of documents that are about
 * the same, then words of its own that it says more than once. The same text gives the same tags.
 */
export function suggestTags(text: string, known: readonly MemoryDocument[]): readonly string[] {
  const own = new Set(toStems(text))
  if (own.size === 0) return []
  const scores = new Map<string, number>()
  const add = (tag: string, score: number): void => void scores.set(tag, (scores.get(tag) ?? 0) + score)
  const used = new Set(known.flatMap(({ tags }) => tags))
  for (const tag of used) {
    const stems = toStems(tag)
    if (stems.length > 0 && stems.every((stem) => own.has(stem))) add(tag, NAMED)
  }
  for (const { tags, content } of known) {
    if (tags.length === 0) continue
    const stems = new Set(toStems(content))
    const shared = [...own].filter((stem) => stems.has(stem)).length
    if (shared >= 2) for (const tag of tags) add(tag, shared / Math.max(own.size, stems.size))
  }
  const best = [...scores].toSorted(([a, x], [b, y]) => y - x || (a < b ? -1 : 1)).map(([tag]) => tag)
  const words = toRepeated(text).filter((word) => !used.has(word))
  return [...best.slice(0, MOST), ...words.slice(0, WORDS)].slice(0, MOST)
}

function toRepeated(text: string): readonly string[] {
  const counts = new Map<string, number>()
  for (const word of toFoldedWords(text)) counts.set(word, (counts.get(word) ?? 0) + 1)
  return [...counts]
    .filter(([word, count]) => count > 1 && word.length >= SHORTEST && toStems(word).length > 0)
    .toSorted(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
    .map(([word]) => word)
}
