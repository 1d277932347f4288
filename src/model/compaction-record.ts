import type { Origin } from './loss.ts'

/** A block that stands in a request in a shorter form. In full it is where it always was. */
export interface Trim {
  readonly origin: Origin
  /** `output`: the middle of a long result. `media`: bytes of a picture. `body`: what a later write replaced. */
  readonly what: 'output' | 'media' | 'body'
  /** Characters that are left out. */
  readonly left: number
}

/** A compaction, as it is written down. The session's own file knows nothing of it. */
export interface CompactionRecord {
  readonly id: string
  readonly sessionId: string
  readonly at: string
  /** The last entry that was there: what came later is not touched. */
  readonly upTo: string
  /** The first entry that stays as it is. */
  readonly keptFrom: string
  /** How many turns are summarised, and how many stay. */
  readonly turns: { readonly summarised: number; readonly kept: number }
  /** What stands for the summarised ones. */
  readonly text: string
  /** From here on nothing is shorter than it was. */
  readonly verbatimFrom: string
  /** What is shorter before it. */
  readonly trims: readonly Trim[]
  readonly tokens: { readonly before: number; readonly after: number }
  /** How: only by shortening, by a summary that is put together from what was said, or by one that an agent wrote. */
  readonly by: 'trim' | 'extract' | 'agent'
}
