import type { TeamSelf } from '#model'

/**
 * The logs of all machines of a team, as one person on one machine writes and reads them. What another person keeps to
 * himself is not there for him: not by name, not by number, not in a count.
 *
 * A line that was acknowledged is there, once, however often it was sent. Numbers grow over everything the team
 * writes, and appear in their order: who has read up to a number has missed nothing below it.
 */
export interface TeamLog {
  /** Whose log it is, by the login that it was opened with. */
  readonly self: TeamSelf
  /** Makes a file known; the same file gets the same number again. What is said of it is replaced. */
  putFile(file: LogFile): Promise<number>
  /** All lines or none; those that are there already are left as they are. */
  append(lines: readonly LogLine[]): Promise<Appended>
  /** What was written after a number, in the order of numbers. At most about 8 MB, and at least one batch. */
  readAfter(number: number): Promise<LogNews>
  /** The lines of a file from an offset on, in the order of the file. */
  readPage(request: PageRequest): Promise<LogPage>
  /** The bytes of a line that is too long to be in a page. */
  readLine(file: number, offset: number): AsyncIterable<Buffer>
  /** What is known of a file, if it may be seen. */
  findFile(file: number): Promise<StoredFile | undefined>
  /** Files of the whole team that may be seen, in the order of their numbers: a page of them after one. */
  files(request: FilesRequest): Promise<readonly StoredFile[]>
  /** The number of the last line there is. */
  newest(): Promise<number>
  /** Tells everything after a number, and goes on telling until it is closed. */
  listen(request: ListenRequest): Listening
  close(): Promise<void>
}

/** What a file may be read by: its owner, those with whom its workdir is shared, everybody. */
export type Scope = 'private' | 'workdir' | 'team'

export interface LogFile {
  /** What stays the same while the file grows, and is another one when it was rewritten. */
  readonly identity: string
  readonly kind: 'transcript' | 'side' | 'journal' | 'document' | 'name' | 'audit'
  /** Where it is on its machine. */
  readonly path: string
  readonly agent?: string | undefined
  readonly session?: string | undefined
  readonly workdir?: string | undefined
  /** Where it stands in its agent's layout, with `/`: enough to know how it reads. */
  readonly place?: string | undefined
  /** The repository its workdir is a clone of: the same on every machine. */
  readonly remote?: string | undefined
  readonly scope: Scope
}

export interface StoredFile extends LogFile {
  readonly number: number
  /** The machine it is on, what it is called, and whose it is. */
  readonly origin: string
  readonly machine: string
  readonly owner: string
  /** Where its last line in the log ends. */
  readonly size: number
}

export interface FilesRequest {
  readonly kind: LogFile['kind']
  /** Only those with a higher number. */
  readonly after?: number | undefined
  readonly limit: number
}

export interface LogLine {
  /** As `putFile` gave it. */
  readonly file: number
  readonly offset: number
  /** With its newline, if it has one. */
  readonly bytes: Buffer
}

export interface Appended {
  /** How many of them were new. */
  readonly added: number
}

/** A line as it is in the log. */
export interface LoggedLine {
  readonly file: number
  readonly offset: number
  readonly length: number
  /** Not there for one that is too long; `readLine` has it. */
  readonly bytes?: Buffer | undefined
}

export interface NumberedLine extends LoggedLine {
  readonly number: number
}

export interface LogNews {
  readonly lines: readonly NumberedLine[]
  /** Where to go on. Beyond the last line where others have none for this person. */
  readonly next: number
  /** Whether there may be more right now. */
  readonly more: boolean
}

export interface PageRequest {
  readonly file: number
  readonly from: number
  /** How many bytes; at least one line comes. */
  readonly bytes: number
}

export interface LogPage {
  readonly lines: readonly LoggedLine[]
  /** The offset of the next page. Not there: this was the last. */
  readonly next?: number | undefined
}

export interface ListenRequest {
  readonly after: number
  /** Told one after another: the next are read when these were dealt with. */
  readonly onNews: (news: LogNews) => void | Promise<void>
  /** Told when it may have changed what one may see; and whenever a connection came about, for it may have meanwhile. */
  readonly onAccess?: (() => void) | undefined
  /** Told when the database does not answer; it is tried again by itself. */
  readonly onTrouble?: ((error: Error) => void) | undefined
  /** How long to wait for a notification before looking anyway: one may be lost. */
  readonly pollMs?: number | undefined
}

export interface Listening {
  close(): Promise<void>
}
