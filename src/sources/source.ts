import type { Damage, Entry, Place, SessionSummary } from '#model'
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
  /** A reader of records that the scanner has just scanned. */
  createReader(scanner: ObjectScanner): RecordReader
  /** The entry for a record too large to hold, from those of its top-level values that are short. */
  readEnvelope(values: ReadonlyMap<string, string>, place: Place): Entry
}

export interface RecordReader {
  /** Reads the record that stands in `bytes[from, to)`. Never throws on content, never drops. */
  readRecord(bytes: Buffer, record: RecordPlace): Entry
  /** Whether the object just scanned is a line of its own, rather than a part of one that was torn. */
  isRecord(): boolean
}

/** Where a record stands: in the bytes at hand, and in its file. */
export interface RecordPlace {
  readonly from: number
  readonly to: number
  readonly offset: number
}

/** What reading a transcript gives, in file order. */
export type Reading =
  | { readonly kind: 'entry'; readonly entry: Entry }
  | { readonly kind: 'damage'; readonly damage: Damage }

/** The place in its file of what was read. */
export function placeOf(reading: Reading): Place {
  return reading.kind === 'entry' ? reading.entry.place : reading.damage
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
  /** Every session, in no order, with what a glance at both ends of its file tells. Never throws on content. */
  list(): Promise<SourceList>
  /** Every working directory that occurs in a transcript, from one fast pass over all of it. */
  findWorkdirs(path: string): Promise<readonly string[]>
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
