import { object, string } from '#base'
import { endsAnswer, type Entry } from '#model'
import { blocksOf, isThought } from './checked-blocks.ts'

/**
 * Reasoning of OpenAI's behind which its answer has nothing more, because the agent died or the stream broke off, or
 * which cannot be sent: the places of its blocks, by entry.
 */
export function findLonely(entries: readonly Entry[]): ReadonlyMap<string, readonly number[]> {
  const lonely = new Map<string, number[]>()
  let waiting: (readonly [entryId: string, index: number])[] = []
  let answer: string | undefined
  const tellAll = (): void => {
    for (const [entryId, index] of waiting) lonely.set(entryId, [...(lonely.get(entryId) ?? []), index])
    waiting = []
  }
  for (const entry of entries) {
    const id = entry.kind === 'reply' ? (entry.messageId ?? 'one whose lines do not say') : undefined
    if (endsAnswer(entry) && id !== answer) tellAll()
    answer = id ?? answer
    if (entry.kind !== 'reply') continue
    for (const [index, block] of blocksOf(entry).entries()) {
      if (!isThought(block)) waiting = []
      const own = isThought(block) ? object(block.extra, 'openai') : undefined
      if (string(own, 'type') !== 'reasoning') continue
      // Stored by the provider, under an id that means nothing to it once it has forgotten it.
      if (own?.['encrypted_content'] === undefined)
        lonely.set(entry.id, [...(lonely.get(entry.id) ?? []), index])
      else waiting.push([entry.id, index])
    }
  }
  tellAll()
  return lonely
}
