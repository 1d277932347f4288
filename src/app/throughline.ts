import type { Pruned, PruneOptions } from '#ingest'
import type { SessionSummary } from '#model'
import type { PostgresAddress } from '#store'
import type { ArchiveState, Throughline } from '#wire'
import type { Conversations } from './conversations.ts'
import type { TakeInOptions, TakenIn } from './handoffs.ts'

/** Throughline in this process. */
export interface LocalThroughline extends Throughline, Pick<Conversations, 'conversationParts'> {
  /** Where it looks and what it may show. */
  readonly config: Config
  /** What the archive keeps. `enabled` is the setting, also where no daemon runs that adds to it. */
  archiveState(): Promise<ArchiveState>
  /** Removes from the archive what has no original any more, oldest first, as far as the limits ask for it. */
  pruneArchive(limits: PruneOptions): Promise<Pruned>
  /** A bundle of a session, for another machine. */
  pack(session: SessionSummary): AsyncIterable<Uint8Array>
  /** Takes a bundle in that was made elsewhere. */
  takeIn(bundle: string, options?: TakeInOptions): Promise<TakenIn>
  /** Resolves when everything that happened so far is known and indexed. For tests and scripts. */
  settled(): Promise<void>
}

export interface Config {
  /** Throughline's own folder. */
  readonly home: string
  /** Claude Code's config folder. */
  readonly claudeDir: string
  /** Where Codex, Gemini CLI and opencode keep their sessions. */
  readonly codexDir: string
  readonly geminiDir: string
  readonly opencodeDir: string
  /** Sessions outside these folders are not shown. Empty: all are. Real paths. */
  readonly allowedRoots: readonly string[]
  /** Whether transcripts are kept when agents delete them. */
  readonly archive: boolean
  /** The database of a team. Not there: everything is on this machine. */
  readonly store?: PostgresAddress | undefined
}
