import type { DamageReason } from './place.ts'
import type { SessionFacts } from './session.ts'

/**
 * What a full read tells of a session, for people who look for something in it: how much there is, where its prompts
 * stand, what was done to which files. Offsets are bytes of the session's own file.
 */
export interface Digest {
  readonly facts: SessionFacts
  /** Prompts, compactions and damage, in file order. */
  readonly outline: readonly OutlinePoint[]
  /** Ends of the conversation beside the active one. */
  readonly branches: readonly BranchPath[]
  /** Files that tools named, most often touched first. */
  readonly files: readonly TouchedFile[]
  /** Commands that ran, in file order; only the last `DIGEST_COMMANDS` of them. */
  readonly commands: readonly RunCommand[]
  /** How often each tool was called, most often first. */
  readonly tools: readonly CalledTool[]
}

/** A place worth going to. */
export type OutlinePoint =
  | {
      readonly kind: 'prompt'
      readonly id: string
      readonly at?: string | undefined
      readonly offset: number
      /** Its first line, cut. */
      readonly text: string
      /** Tokens billed until the next prompt. */
      readonly tokens: number
      readonly toolCalls: number
      /** How full the model's window was at the last reply of the turn. */
      readonly contextTokens?: number | undefined
      readonly offPath?: true
    }
  | {
      readonly kind: 'compaction'
      readonly id: string
      readonly at?: string | undefined
      readonly offset: number
      readonly trigger: string
      readonly tokensBefore?: number | undefined
      readonly tokensAfter?: number | undefined
    }
  | {
      readonly kind: 'damage'
      readonly offset: number
      readonly length: number
      readonly reason: DamageReason
    }

/** An end of the conversation that is not the active one, and which bytes lead to it. */
export interface BranchPath {
  readonly leafId: string
  readonly at?: string | undefined
  /** The first line of its first own prompt, else of its last words. */
  readonly text: string
  /** Prompts, replies and results that are only on this branch. */
  readonly size: number
  /** Where the last entry stands that it shares with the active path; absent when it shares none. */
  readonly forkOffset?: number | undefined
  /** The entries since it left the active path, as ranges of bytes: from, to (exclusive), in file order. */
  readonly own: readonly (readonly [from: number, to: number])[]
}

export interface TouchedFile {
  readonly path: string
  readonly reads: number
  /** Edits and writes. */
  readonly changes: number
  readonly added: number
  readonly removed: number
  /** The entry that changed it last; of a file that was only read, the one that read it last. */
  readonly entryId: string
}

interface CalledTool {
  readonly name: string
  readonly calls: number
  /** Without those that were denied. */
  readonly failed: number
  /** Calls that never ran: a person or a rule did not allow them. */
  readonly denied: number
}

export interface RunCommand {
  readonly entryId: string
  readonly at?: string | undefined
  /** Its first line, cut. */
  readonly command: string
  readonly failed: boolean
  /** It never ran: a person or a rule did not allow it. */
  readonly denied?: true
}

/** Commands beyond this many are counted in `tools` only. */
export const DIGEST_COMMANDS = 500
