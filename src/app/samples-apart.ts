import type { SessionSummary } from '#model'

/** Whose tokens make up a bill. */
export interface BilledSessions {
  readonly billed: readonly SessionSummary[]
  /** Ids of the sample sessions that are not billed. */
  readonly leftOut: readonly string[]
  /** There are no sessions but samples: the bill shows what one looks like. */
  readonly ofSamples: boolean
}

/** Sample sessions cost nothing: they are billed only where there is nothing else, and the report then says so. */
export function toBilled(sessions: readonly SessionSummary[]): BilledSessions {
  const samples = sessions.filter(({ demo }) => demo === true)
  const ofSamples = samples.length > 0 && samples.length === sessions.length
  if (samples.length === 0 || ofSamples) return { billed: sessions, leftOut: [], ofSamples }
  return {
    billed: sessions.filter(({ demo }) => demo !== true),
    leftOut: samples.map(({ id }) => id),
    ofSamples,
  }
}
