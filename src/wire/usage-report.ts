import type { Usage } from '#model'

export interface UsageRequest {
  readonly by: 'day' | 'model' | 'workdir' | 'session'
  /** Days, inclusive, `yyyy-mm-dd`. */
  readonly since?: string
  readonly until?: string
  /** Only what was spent in this folder or below it. */
  readonly workdir?: string
  /** Where days begin and end. Default: UTC. */
  readonly timeZone?: string
  /** `mine`: what the person used on all of their machines, where there is a team. Default: on this one. */
  readonly machines?: 'this' | 'mine'
  readonly onProgress?: (done: number, total: number) => void
}

export interface UsageReport {
  readonly by: UsageRequest['by']
  readonly rows: readonly UsageRow[]
  readonly total: UsageTotals
  readonly prices: PriceList
  readonly compactions: CompactionTotals
  /** Models without a known price; their tokens are counted, their cost is not. */
  readonly unpriced: readonly string[]
  /** False while the index still lacks sessions. */
  readonly complete: boolean
  /** Whose it is. `this` though all were asked for: the database of the team does not answer. */
  readonly machines?: 'this' | 'mine' | undefined
  /** There are only sample sessions. Where there are others, samples are left out. */
  readonly ofSamples?: boolean | undefined
}

/** Compactions, and the tokens they took out of the models' windows. */
interface CompactionTotals {
  readonly count: number
  /** Of those that say how many. */
  readonly tokens: number
  /** Compactions that do not say how many tokens they took out. */
  readonly unknown: number
  /** Compactions whose request is in no bill: its session does not state what it cost. */
  readonly unbilled: number
}

export interface UsageTotals {
  readonly usage: Usage
  /** Messages of models, each counted once. */
  readonly messages: number
  /** US dollars, for the messages whose model has a known price. */
  readonly cost: number
  /** What the same tokens would have cost had no cache been read or written. */
  readonly uncachedCost: number
  /** Messages that are not in `cost`. */
  readonly unpricedMessages: number
}

export interface UsageRow extends UsageTotals {
  /** The day, model, workdir or session id. Empty where a line does not say. */
  readonly key: string
  /** A session's name. */
  readonly name?: string | undefined
  readonly models: readonly string[]
}

/** Where the prices come from and of which day they are. */
export interface PriceList {
  readonly source: string
  readonly dated: string
}
