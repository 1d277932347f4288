import type { DamageReason, Entry, LiveState, Place, SessionSummary, SubagentSummary } from '#model'
import type { BillReader } from './claude/usage-scan.ts'
import type { Registry } from './holder.ts'
import type { InnerKeys, ObjectScanner } from './object-scanner.ts'

/**
 * What an agent's source knows that nobody else does: how its lines read. Everything about bytes, lines, pages and
 * following is the same for all agents and stands beside it.
 */
export interface LineFormat {
  /** The top-level keys it asks for, by number. */
  readonly keys: readonly string[]
  /** The keys it asks for of the object under one of them. */
  readonly inner?: InnerKeys
  /** What stands in lines that keep some of their text in other files. Absent where none do. */
  readonly elsewhere?: Buffer
  /** A reader of records that the scanner has just scanned. */
  createReader(scanner: ObjectScanner): RecordReader
  /** Every line that is a link of the chain has the bytes of one of these; lines without are passed over unread. */
  readonly linkMarks?: readonly Buffer[]
  /**
   * What only their order tells of the entries of a conversation. Default: nothing. `before` are prompts that its
   * compaction may have kept.
   */
  readonly settle?: (entries: readonly Entry[], before: readonly Entry[]) => readonly Entry[]
  /** The entry for a record too large to hold, from those of its top-level values that are short. */
  readEnvelope(values: ReadonlyMap<string, string>, place: Place): Entry
}

export interface RecordReader {
  /** Reads the record that stands in `bytes[from, to)`. Never throws on content, never drops. */
  readRecord(bytes: Buffer, record: RecordPlace): Entry
  /** Whether the object just scanned is a line of its own, rather than a part of one that was torn. */
  isRecord(): boolean
  /** What the record just read refers to and could not be read, for formats whose records refer to other files. */
  lacking?(): DamageReason | undefined
}

/** Where a record stands: in the bytes at hand, and in its file. */
export interface RecordPlace {
  readonly from: number
  readonly to: number
  readonly offset: number
  /** The file. Absent where nobody wants to know more than the record itself says. */
  readonly path?: string | undefined
}

/**
 * Where one agent keeps its sessions, and how they read. The seam for other agents: a folder of `sources` with the
 * same file names, given to `app`.
 */
export interface Source {
  readonly agent: string
  /** The folder it looks in. */
  readonly root: string
  readonly format: LineFormat
  /** Whether the agent writes anew over bytes of a transcript, or only ever adds to them. */
  readonly rewritesInPlace: boolean
  /**
   * The folders where its files are right now, those that matter most first: what is to be watched. With `under`, only
   * that folder and those below it. Never throws; a folder that is not there has no folders.
   */
  folders(under?: string): readonly string[]
  /** The files of every session, in no order, from the folders alone. Never throws. */
  find(): Promise<SourceFiles>
  /**
   * Changes when `find` would give something else: a file or a folder came, went or was renamed. Empty when a change
   * of a moment ago might not show yet; `now` in milliseconds.
   */
  stamp(now: number): string
  /** What a glance at both ends of a session's file tells. Never throws on content. */
  look(files: SessionFiles): SessionSummary
  /**
   * The agent's own word on the sessions that a process holds, by session. One that is `gone` here may have been taken
   * up since by a process that is done with it: whoever knows the last activity asks `toLive`.
   */
  live(): ReadonlyMap<string, LiveState>
  /** Where a file of the agent stands below `root`, links in `root` resolved; nothing for one that is elsewhere. */
  findPlace(path: string): string | undefined
  /** The same agent's source, looking in another folder of the same layout. */
  at(root: string): Source
  /** Where it notes which processes hold its sessions, for agents that do. */
  readonly registry?: Registry
  /** Every session, in no order, with what a glance at both ends of its file tells. Never throws on content. */
  list(): Promise<SourceList>
  /** Reads what messages cost, and nothing else of a transcript. */
  createBillReader(): BillReader
  /** Every working directory that occurs in a transcript, from one fast pass over all of it. */
  findWorkdirs(path: string): Promise<readonly string[]>
}

/** The files of one session. */
export interface SessionFiles {
  readonly id: string
  readonly path: string
  /** The folder beside it, where subagents, tool results and small side files are. */
  readonly sideDir?: string
  /** Subagents whose files lie elsewhere. */
  readonly loose?: readonly SubagentSummary[]
  /** Files that hold what came before, the nearest first: with them it reads as one. */
  readonly history?: readonly string[]
}

export interface SourceFiles {
  readonly sessions: readonly SessionFiles[]
  readonly problems: readonly SourceProblem[]
}

export interface SourceList {
  readonly sessions: readonly SessionSummary[]
  readonly problems: readonly SourceProblem[]
}

/** Something that could not be looked at. It hides nothing else. */
export interface SourceProblem {
  readonly path: string
  readonly message: string
  readonly hint: string
}
