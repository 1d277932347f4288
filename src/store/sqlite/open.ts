import { randomUUID } from 'node:crypto'
import { closeSync, existsSync, mkdirSync, openSync, renameSync, rmSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import type { Database } from 'better-sqlite3'
import { ThroughlineError } from '#base'
import type { Store } from '../store.ts'
import { createWriter, type Writer } from './apply.ts'
import { readBills, readTotals } from './bills.ts'
import { TIERS } from '../entry-codes.ts'
import { createTables, INDEX_VERSION } from './schema.ts'
import { createSearch, type Search } from './search.ts'

export interface SqliteOptions {
  readonly path: string
  /** Told when the index on disk could not be used, and where it was put. */
  readonly onSetAside?: (reason: string, kept: string) => void
  /** How long to wait for another process that holds the file. */
  readonly busyMs?: number
}

/** An index in a file of its own. A file that is no index, or a damaged one, is set aside and a new one begun. */
export function openSqliteStore(options: SqliteOptions): SqliteStore {
  const { path } = options
  let parts: Parts
  try {
    parts = openParts(path, options.busyMs ?? 5000)
  } catch (error) {
    if (!isDamage(error)) throw toUnavailable(path, error)
    parts = openAnew(options, error)
  }
  const { db, writer, search, epoch, wasClosed } = parts
  const inode = inodeOf(path)

  return {
    wasClosed,
    epoch,
    isInPlace: () => inodeOf(path) === inode,
    newest: async () => writer.newest(),
    files: async () => writer.files(),
    apply: async (changes) => writer.apply(changes),
    search: async (request) => search.find(request),
    totals: async (sessions) => readTotals(db, sessions),
    bills: async () => readBills(db),
    async size() {
      return sizeOf(path) + sizeOf(`${path}-wal`)
    },
    async verify() {
      return verify(db)
    },
    async tidy() {
      return tidy(db)
    },
    async close() {
      markClosed(db)
      db.close()
    },
  }
}

export interface SqliteStore extends Store {
  /** Whether whoever had it before closed it. One that was not is sound as a rule, and worth a look. */
  readonly wasClosed: boolean
  /** Whether the file it was opened on is still there under its name. */
  isInPlace(): boolean
}

interface Parts {
  readonly db: Database
  readonly writer: Writer
  readonly search: Search
  readonly epoch: string
  readonly wasClosed: boolean
}

function openAnew({ path, onSetAside, busyMs = 5000 }: SqliteOptions, reason: unknown): Parts {
  try {
    onSetAside?.(reason instanceof Error ? reason.message : String(reason), setAside(path))
    return openParts(path, busyMs)
  } catch (error) {
    throw toUnavailable(path, error)
  }
}

/** Everything that needs the tables: one that lacks some is no index. */
function openParts(path: string, busyMs: number): Parts {
  const db = openSound(path, busyMs)
  try {
    const wasClosed = readMeta(db, 'closed') !== 'no'
    writeMeta(db, 'closed', 'no')
    return { db, writer: createWriter(db), search: createSearch(db), epoch: epochOf(db), wasClosed }
  } catch (error) {
    db.close()
    throw error
  }
}

function openSound(path: string, busyMs: number): Database {
  const Sqlite = loadSqlite()
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  // What SQLite makes beside it gets the mode of the file itself.
  closeSync(openSync(path, 'a', 0o600))
  const db = new Sqlite(path, { timeout: busyMs })
  try {
    db.pragma('journal_mode = WAL')
    // Everything here can be built again; what must not happen is a broken file, and that it does not.
    db.pragma('synchronous = NORMAL')
    db.pragma('cache_size = -8000')
    db.pragma('temp_store = MEMORY')
    db.pragma('journal_size_limit = 16777216')
    const version = db.pragma('user_version', { simple: true })
    const isNew = db.prepare('SELECT count(*) FROM sqlite_schema').pluck().get() === 0
    if (isNew) createTables(db, randomUUID())
    else if (version !== INDEX_VERSION) throw new DamagedIndex(`index of version ${String(version)}`)
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

/** Loaded when it is needed: who only lists sessions does not wait for a native module. */
function loadSqlite(): typeof import('better-sqlite3') {
  return createRequire(import.meta.url)('better-sqlite3')
}

class DamagedIndex extends Error {}

function epochOf(db: Database): string {
  const epoch = db.prepare<[], string>("SELECT value FROM meta WHERE key = 'epoch'").pluck().get()
  if (epoch === undefined) throw new DamagedIndex('the index has no name')
  return epoch
}

function readMeta(db: Database, key: string): string | undefined {
  return db.prepare<[string], string>('SELECT value FROM meta WHERE key = ?').pluck().get(key)
}

function writeMeta(db: Database, key: string, value: string): void {
  db.prepare<[string, string]>('INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)').run(key, value)
}

/** Only a hint for the next one: a disk that takes nothing more is no reason not to close. */
function markClosed(db: Database): void {
  try {
    writeMeta(db, 'closed', 'yes')
  } catch {
    // It is looked at when it is opened again.
  }
}

/** What `verify` found, as an error of the file. */
export function toDamage(told: readonly string[]): Error {
  return new DamagedIndex(told.join('; '))
}

/** Errors that say the file itself is not sound, whatever was asked of it. */
export function isDamage(error: unknown): boolean {
  if (error instanceof DamagedIndex) return true
  if (!(error instanceof Error) || !('code' in error) || typeof error.code !== 'string') return false
  const { code, message } = error
  // A short read: a page points to where the file has ended.
  if (/^SQLITE_(?:CORRUPT|NOTADB|FORMAT|IOERR_SHORT_READ|IOERR_DATA|IOERR_CORRUPTFS)/.test(code)) return true
  // Our statements are the same for every index: one that does not understand them is none. What somebody searches for
  // is not, and is told by another name.
  return code === 'SQLITE_ERROR' && !/^fts5: |^near "/.test(message)
}

function toUnavailable(path: string, cause: unknown): ThroughlineError {
  const why = cause instanceof Error ? cause.message : String(cause)
  return new ThroughlineError('index-unavailable', `cannot open the index ${path}: ${why}`, {
    hint: 'Check free space and permissions of the folder. The index may be deleted at any time; it is built again.',
    cause,
  })
}

/** Puts a damaged index out of the way. One is kept, to be looked at; a later one takes its place. */
export function setAside(path: string): string {
  const kept = `${path}.damaged`
  for (const end of ['', '-wal', '-shm']) {
    rmSync(`${kept}${end}`, { force: true })
    if (existsSync(`${path}${end}`)) renameSync(`${path}${end}`, `${kept}${end}`)
  }
  return kept
}

function inodeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.ino
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}

function verify(db: Database): readonly string[] {
  try {
    const told = db.prepare<[], string>('PRAGMA quick_check(5)').pluck().all()
    for (const tier of TIERS) db.exec(`INSERT INTO in_${tier}(in_${tier}) VALUES('integrity-check')`)
    return told.filter((line) => line !== 'ok')
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)]
  }
}

/** Merges pieces of the search index, a little at a time. */
function tidy(db: Database): boolean {
  let changed = false
  for (const tier of TIERS) {
    const before = totalChanges(db)
    db.exec(`INSERT INTO in_${tier}(in_${tier}, rank) VALUES('merge', ${MERGE_PAGES})`)
    changed ||= totalChanges(db) - before > 1
  }
  if (!changed) db.pragma('wal_checkpoint(TRUNCATE)')
  return changed
}

const MERGE_PAGES = 500

function totalChanges(db: Database): number {
  return db.prepare<[], number>('SELECT total_changes()').pluck().get() ?? 0
}
