import type { JsonObject } from '#base'

/**
 * What a tool was called with. All of it as long as it is short; else how it begins, and how long all of it is. The
 * hash is that of the whole, as canonical JSON.
 */
export interface AuditedInput {
  readonly hash: string
  readonly input?: unknown
  readonly head?: string | undefined
  readonly bytes?: number | undefined
}

/** What a person was asked, as far as it tells which call it was about. */
export interface AuditedAsk {
  readonly ask: 'permission' | 'question'
  readonly tool?: string | undefined
  readonly toolUseId?: string | undefined
  /** Of what would run. */
  readonly inputHash?: string | undefined
  /** What would run, where that is not what the call is recorded with. */
  readonly input?: AuditedInput | undefined
  /** The hash of everything that was shown. */
  readonly shown: string
}

/** Something that was allowed beyond this once. */
export interface AuditedRule {
  readonly id: string
  readonly scope: string
  readonly words: string
}

/** A device that was logged in: its id, and what it was called then. Any device may be called anything. */
export interface AuditedDevice {
  readonly id: string
  readonly label: string
}

/** Who decided: `by` in words, and the device, where it was none of this machine itself. */
export interface AuditedBy {
  readonly by: string
  readonly device?: AuditedDevice | undefined
}

/** How an attention ended. `by` is who decided; an end that nobody decided has a reason instead. */
export type AuditedEnd =
  | ({
      readonly end: 'allow'
      readonly rules: readonly AuditedRule[]
      /** What a person made run instead. */
      readonly edited?: AuditedInput | undefined
    } & AuditedBy)
  | ({ readonly end: 'deny'; readonly words?: string | undefined } & AuditedBy)
  | ({ readonly end: 'answer'; readonly answersHash: string } & AuditedBy)
  | { readonly end: 'lapsed'; readonly reason: string }

/** What the audit log of a session holds. */
export type AuditFact =
  | {
      readonly kind: 'session.started'
      readonly agent: string
      readonly workdir: string
      readonly mode: string
      readonly model?: string | undefined
      /** Whether what lies in the folder was loaded, and the hash of what that was when a person trusted it. */
      readonly trusted: boolean
      readonly folderHash?: string | undefined
      readonly resumed?: string | undefined
      readonly run: string
      readonly pid: number
    }
  | {
      readonly kind: 'tool.called'
      readonly toolUseId: string
      readonly tool: string
      readonly input: AuditedInput
      /** The call whose subagent made it. */
      readonly parentToolUseId?: string | undefined
    }
  | { readonly kind: 'tool.returned'; readonly toolUseId: string; readonly isError: boolean }
  | { readonly kind: 'attention.opened'; readonly id: string; readonly asked: AuditedAsk }
  | {
      readonly kind: 'attention.settled'
      readonly id: string
      readonly asked?: AuditedAsk | undefined
      readonly settled: AuditedEnd
    }
  /** The line before it about this attention did not come about: something else could not be written down. */
  | { readonly kind: 'attention.voided'; readonly id: string }
  | ({ readonly kind: 'mode.changed'; readonly mode: string } & AuditedBy)
  | ({ readonly kind: 'model.changed'; readonly model: string } & AuditedBy)
  | { readonly kind: 'session.ended'; readonly reason: string; readonly message?: string | undefined }
  /** The host before this one died in the middle of a line. What there was of it lies beside the log. */
  | { readonly kind: 'tail.recovered'; readonly offset: number; readonly bytes: number }
  /** So many calls and results could not be written down. */
  | { readonly kind: 'lines.lost'; readonly count: number }
  /** Of a later version. */
  | { readonly kind: 'unknown'; readonly value: JsonObject }

/** A line of the log: `seq` counts from 1, `prev` is the hash of the line before it. */
export type AuditEntry = AuditFact & {
  readonly seq: number
  readonly at: string
  readonly prev: string
  readonly hash: string
}

/**
 * What is wrong with a line. `cut-at-end`: it is the last one, and not whole; a host that is killed leaves it so, and
 * one that lives may be writing it.
 */
export type AuditBreak =
  | 'unreadable'
  | 'modified'
  | 'removed'
  | 'inserted'
  | 'repeated'
  | 'reordered'
  | 'other-session'
  | 'cut-at-end'

/** Whether a log is as it was written. The first line that is not is told, counted from 1. */
export type AuditVerdict =
  | {
      readonly kind: 'whole'
      readonly lines: number
      /**
       * The hash of the last line. Whoever has kept it can tell that nothing was taken off the end since, which
       * nothing in the log itself can tell.
       */
      readonly head?: string | undefined
    }
  | { readonly kind: 'broken'; readonly line: number; readonly why: AuditBreak }

/** What was found in the audit log of a session. */
export interface AuditReport {
  readonly sessionId: string
  /** Every line that can be read, also behind one that is broken. */
  readonly entries: readonly AuditEntry[]
  readonly verdict: AuditVerdict
}
