import type { SessionSummary } from '#model'

export interface CheckReport {
  readonly session: SessionSummary
  readonly findings: readonly Finding[]
}

/** Something wrong, where it is, why, and what to do. */
export interface Finding {
  readonly severity: 'error' | 'warning' | 'note'
  /** Stable word for programs: `torn`, `dangling-parent`, `unanswered-call`… */
  readonly code: string
  readonly message: string
  readonly hint: string
  readonly path: string
  readonly offset?: number
  readonly length?: number
  readonly entryId?: string
}
