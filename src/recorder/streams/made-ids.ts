import { string } from '#base'
import { digestOf, toCanonical } from './canonical.ts'
import { isCall } from './content-blocks.ts'
import type { RequestTurn } from './model-request.ts'

/** Ids for calls that have none. */
export interface MadeIds {
  /** The id of the next call: made of what it asks for, and of how often that was asked for before. */
  next(name: string, input: unknown): string
}

const PREFIX = 'call_made_'

/** Whether an id was made here, and is thus not known to the client. */
export function isMadeId(id: string): boolean {
  return id.startsWith(PREFIX)
}

/**
 * Makes ids that are the same whenever the same conversation is read: the call in an answer has the id that it will
 * have in the next request. `turns` are those before.
 */
export function createMadeIds(turns: readonly RequestTurn[]): MadeIds {
  const counts = new Map<string, number>()
  for (const block of turns.flatMap(({ content }) => content)) {
    const id = string(block, 'id') ?? ''
    if (isCall(block) && isMadeId(id)) count(id.slice(0, id.lastIndexOf('_')))
  }

  function count(stem: string): number {
    const next = (counts.get(stem) ?? 0) + 1
    counts.set(stem, next)
    return next
  }

  return {
    next(name, input) {
      const stem = `${PREFIX}${digestOf(toCanonical([name, input])).slice(0, 16)}`
      return `${stem}_${String(count(stem))}`
    },
  }
}
