import { textOf, type Block, type Reading } from '#model'
import type { Told } from './told.ts'

/** Finds what was told among what is written: the place in the list of readings. */
export type FindWritten = (told: Told) => number | undefined

/**
 * Knows what is written. Things are matched by the id of their entry, which is the same wherever they come from: a
 * prompt's is the one its device gave it. Where an agent writes other ids than it tells, the ids of its messages and
 * calls tell, and at last the words, among those that were written since the turn began.
 */
export function indexWritten(readings: readonly Reading[]): FindWritten {
  const ids = new Map<string, number>()
  const calls = new Map<string, number>()
  const results = new Map<string, number>()
  const blocks = new Map<string, { count: number; last: number }>()
  const words = new Map<string, { readonly at: string | undefined; readonly place: number }>()
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
    if (entry.kind !== 'prompt' && entry.kind !== 'reply') continue
    const role = entry.kind === 'prompt' ? 'person' : 'agent'
    for (const block of entry.blocks) if (block.kind === 'tool-use') calls.set(block.id, at)
    for (const said of wordsOf(role, entry.blocks)) words.set(said, { at: entry.at, place: at })
  }

  /** What was said before the turn began is something else, whatever its words. */
  function findWords({ fact, since }: Told): number | undefined {
    const [said] = wordsOf(fact.role, fact.blocks)
    const found = said === undefined ? undefined : words.get(said)
    if (found === undefined || since === undefined || found.at === undefined) return found?.place
    return Date.parse(found.at) >= Date.parse(since) - SLACK_MS ? found.place : undefined
  }

  return (told) => {
    const { fact, isCut } = told
    const named = fact.id === undefined ? undefined : ids.get(fact.id)
    if (named !== undefined) return named
    const result = fact.blocks.find((block) => block.kind === 'tool-result')
    if (result !== undefined) return results.get(result.toolUseId)
    const call = fact.blocks.find((block) => block.kind === 'tool-use')
    const part = fact.messageId === undefined ? undefined : blocks.get(fact.messageId)
    if (part !== undefined && (fact.block === undefined || fact.block < part.count)) return part.last
    if (call !== undefined) return calls.get(call.id)
    return isCut ? undefined : findWords(told)
  }
}

/** Clocks of two processes on one machine, and times that are written in seconds. */
const SLACK_MS = 1_000

/** What an entry says, as a whole and in each of its parts: one agent writes in one what another tells in two. */
function wordsOf(role: string, blocks: readonly Block[]): readonly string[] {
  const texts = blocks.flatMap((block) =>
    block.kind === 'text' ? [block.text] : block.kind === 'thinking' ? [block.thinking] : [],
  )
  return [textOf(blocks), ...texts].map(plain).flatMap((text) => (text === '' ? [] : [`${role} ${text}`]))
}

/** Words alone: agents put marks around what they write that they do not tell. */
function plain(text: string): string {
  return text.replaceAll(/[^\p{L}\p{N}]+/gu, ' ').trim()
}
