import { toMessages, toTurns, type Entry, type Trim, type Turn } from '#model'
import { toTurnExtract, type TurnExtract } from './extract.ts'
import { toSaid } from './said.ts'
import { countSaid } from './said-size.ts'
import { toTrimmed } from './trim.ts'

/** The turns that stay, with how they stay. */
export interface Fitting {
  readonly entries: readonly Entry[]
  readonly verbatimFrom: string
  readonly trims: readonly Trim[]
  readonly tokens: number
  /** Turns for which there was no room after all. */
  readonly extracts: readonly TurnExtract[]
}

export interface FittingOptions {
  readonly sessionId: string
  /** How many tokens there is room for. */
  readonly room: number
  /** How many turns come before these. */
  readonly known: number
  readonly countTokens: (text: string) => number
}

/**
 * Turns so that there is room for them: as they are; else shortened up to the last one; else all of them shortened;
 * else fewer, but never less than one.
 */
export function toFitting(entries: readonly Entry[], options: FittingOptions): Fitting {
  const turns = toTurns(toMessages(entries))
  let fitting = fit(entries, turns, options)
  for (let left = 1; left < turns.length && fitting.tokens > options.room; left++) {
    const first = turns[left]?.messages[0]?.id
    const from = entries.findIndex(({ id }) => id === first)
    if (from < 0) break
    const extracts = turns.slice(0, left).map((turn, at) => toTurnExtract(turn, options.known + at + 1))
    fitting = { ...fit(entries.slice(from), turns.slice(left), options), extracts }
  }
  return fitting
}

function fit(entries: readonly Entry[], turns: readonly Turn[], options: FittingOptions): Fitting {
  const { sessionId, room, countTokens } = options
  const whole = toSaid(entries)
  const first = entries[0]?.id ?? ''
  const plain = { entries, extracts: [] }
  const tokens = countSaid(whole, countTokens)
  if (tokens <= room) return { ...plain, verbatimFrom: first, trims: [], tokens }
  const borders = [turns.at(-1)?.messages[0]?.id ?? first, entries.at(-1)?.id ?? first]
  const shorter = borders.map((verbatimFrom): Fitting => {
    const { said, trims } = toTrimmed(whole, { sessionId, verbatimFrom })
    return { ...plain, verbatimFrom, trims, tokens: countSaid(said, countTokens) }
  })
  const [some, all] = shorter
  return some !== undefined && some.tokens <= room
    ? some
    : (all ?? { ...plain, verbatimFrom: first, trims: [], tokens })
}
