import { textOf, type Entry, type Reading } from '#model'
import type { Told } from './told.ts'

/** Finds what was told among what is written: the place in the list of readings. */
export type FindWritten = (told: Told) => number | undefined

/**
 * Knows what is written. Things are matched by the id of their entry, which is the same wherever they come from: a
 * prompt's is the one its device gave it. Where an agent names no ids, the ids of its messages and calls tell, and at
 * last the words.
 */
export function indexWritten(readings: readonly Reading[]): FindWritten {
  const ids = new Map<string, number>()
  const results = new Map<string, number>()
  const blocks = new Map<string, { count: number; last: number }>()
  const words = new Map<string, number>()
  for (const [at, reading] of readings.entries()) {
    if (reading.kind === 'damage') continue
    const { entry } = reading
    ids.set(entry.id, at)
    if (entry.kind === 'prompt' && entry.sentAs !== undefined) ids.set(entry.sentAs, at)
    if (entry.kind === 'result')
      for (const block of entry.blocks) if (block.kind === 'tool-result') results.set(block.toolUseId, at)
    if (entry.kind === 'reply' && entry.messageId !== undefined) {
      const count = (blocks.get(entry.messageId)?.count ?? 0) + entry.blocks.length
      blocks.set(entry.messageId, { count, last: at })
    }
    const said = wordsOf(entry)
    if (said !== undefined) words.set(said, at)
  }

  return ({ fact, isCut }) => {
    if (fact.id !== undefined) return ids.get(fact.id)
    const result = fact.blocks.find((block) => block.kind === 'tool-result')
    if (result !== undefined) return results.get(result.toolUseId)
    const part = fact.messageId === undefined ? undefined : blocks.get(fact.messageId)
    if (part !== undefined && (fact.block === undefined || fact.block < part.count)) return part.last
    if (isCut || fact.messageId !== undefined) return undefined
    const said = textOf(fact.blocks).trim()
    return said === '' ? undefined : words.get(`${fact.role} ${said}`)
  }
}

function wordsOf(entry: Entry): string | undefined {
  if (entry.kind !== 'prompt' && entry.kind !== 'reply') return undefined
  return `${entry.kind === 'prompt' ? 'person' : 'agent'} ${textOf(entry.blocks).trim()}`
}
