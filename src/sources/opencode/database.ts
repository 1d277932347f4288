import { randomBytes } from 'node:crypto'
import { existsSync, linkSync, mkdirSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Database } from 'better-sqlite3'
import { isObject, number, parseJson, string, ThroughlineError } from '#base'
import type { OpencodeMessage, OpencodePart, OpencodeRows, OpencodeSession } from './rows.ts'
import { findStats } from '../folders.ts'

/**
 * Opens the database of opencode for reading, without a trace in its folder: nothing is written, nothing is moved from
 * its log to its file, and no file is made beside it. Only the tables of the conversation are asked; those with tokens
 * and accounts never are. `dir`: a folder of ours.
 */
export function openDatabase(path: string, dir: string): OpencodeRows {
  // While it runs, and after it was killed, there is a log, and everybody has to read it through the same files.
  if (existsSync(`${path}-wal`)) return readThrough(path)
  return openAtRest(path, dir)
}

/** Tells when the database may have changed, without opening it. */
export function stampOfDatabase(path: string): string {
  return [path, `${path}-wal`]
    .map((each) => {
      const stats = findStats(each)
      return stats === undefined ? '-' : `${String(stats.ino)}:${String(stats.size)}:${String(stats.mtimeMs)}`
    })
    .join(' ')
}

/**
 * Nobody has it open, so there is no log. SQLite would make one, and leave it behind: under another name of the same
 * file it makes it in a folder of ours.
 */
function openAtRest(path: string, dir: string): OpencodeRows {
  const name = join(dir, `at-rest-${randomBytes(6).toString('hex')}.db`)
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 })
    linkSync(path, name)
  } catch {
    // Another disk, or one without links, or one that takes no change.
    return readThrough(path)
  }
  const forget = (): void => {
    for (const end of ['', '-wal', '-shm']) rmSync(`${name}${end}`, { force: true })
  }
  try {
    const rows = readThrough(name)
    return {
      ...rows,
      messagesOf(sessionId) {
        const messages = rows.messagesOf(sessionId)
        if (existsSync(`${path}-wal`)) throw beganToRun(path)
        return messages
      },
      close() {
        rows.close()
        forget()
      },
    }
  } catch (error) {
    forget()
    throw error
  }
}

function beganToRun(path: string): ThroughlineError {
  return new ThroughlineError('not-a-transcript', `${path} was opened by opencode while it was read`, {
    hint: 'It is read again in a moment.',
  })
}

function readThrough(path: string): OpencodeRows {
  const db = openSqlite(path)
  try {
    // One state of everything, whatever is written meanwhile.
    db.exec('BEGIN')
    const tables = columnsOf(db)
    const sessions = readSessions(db, tables)
    const messages = selectOf(tables, 'message', ['id', 'data', 'session_id'])
    const parts = selectOf(tables, 'part', ['id', 'message_id', 'data', 'session_id'])
    return {
      sessions,
      messagesOf(sessionId) {
        if (messages === undefined || parts === undefined) return []
        const byMessage = new Map<string, OpencodePart[]>()
        for (const row of db.prepare(`${parts} WHERE session_id = ? ORDER BY id`).iterate(sessionId)) {
          const id = string(row, 'id')
          const owner = string(row, 'message_id') ?? ''
          if (id === undefined) continue
          const list = byMessage.get(owner) ?? []
          list.push({ id, data: readData(row) })
          byMessage.set(owner, list)
        }
        const rows = db.prepare(`${messages} WHERE session_id = ? ORDER BY id`).all(sessionId)
        return rows.flatMap((row): readonly OpencodeMessage[] => {
          const id = string(row, 'id')
          return id === undefined ? [] : [{ id, data: readData(row), parts: byMessage.get(id) ?? [] }]
        })
      },
      close: () => db.close(),
    }
  } catch (error) {
    db.close()
    throw error
  }
}

/** How long to wait for a moment in which it can be read. */
const BUSY_MS = 2000

function openSqlite(path: string): Database {
  // Loaded here and not before: whoever has no opencode needs no database.
  const Sqlite: typeof import('better-sqlite3') = createRequire(import.meta.url)('better-sqlite3')
  return new Sqlite(path, { readonly: true, fileMustExist: true, timeout: BUSY_MS })
}

type Tables = ReadonlyMap<string, ReadonlySet<string>>

/** The tables that are asked here, with the columns that this version of opencode has in them. */
const ASKED: readonly string[] = ['session', 'message', 'part', 'event_sequence']

function columnsOf(db: Database): Tables {
  const tables = new Map<string, ReadonlySet<string>>()
  for (const table of ASKED) {
    const columns = db.prepare('SELECT name FROM pragma_table_info(?)').all(table)
    const names = columns.flatMap((column) => string(column, 'name') ?? [])
    if (names.length > 0) tables.set(table, new Set(names))
  }
  return tables
}

function selectOf(tables: Tables, table: string, columns: readonly string[]): string | undefined {
  const has = tables.get(table)
  if (has === undefined || !columns.every((column) => has.has(column))) return undefined
  return `SELECT ${columns.join(', ')} FROM "${table}"`
}

const SESSION_COLUMNS = [
  'id',
  'parent_id',
  'project_id',
  'directory',
  'title',
  'version',
  'time_created',
  'time_updated',
  'time_archived',
]

function readSessions(db: Database, tables: Tables): readonly OpencodeSession[] {
  const has = tables.get('session')
  if (has === undefined || !has.has('id')) return []
  const columns = SESSION_COLUMNS.filter((column) => has.has(column))
  const messages = countsOf(db, tables, 'message')
  const events = new Map<string, string>()
  if (tables.get('event_sequence')?.has('seq') === true)
    for (const row of db.prepare('SELECT aggregate_id, seq FROM event_sequence').iterate())
      events.set(string(row, 'aggregate_id') ?? '', String(number(row, 'seq')))
  const rows = db.prepare(`SELECT ${columns.join(', ')} FROM session`).all()
  return rows.flatMap((row): readonly OpencodeSession[] => {
    const id = string(row, 'id')
    if (id === undefined) return []
    // Every change has a number, except in what was imported: there the parts are counted.
    const changes = events.get(id) ?? partsOf(db, tables, id)
    const stamp = [number(row, 'time_updated'), messages.get(id), changes, string(row, 'title')].join(' ')
    return [
      {
        id,
        parentId: string(row, 'parent_id'),
        projectId: string(row, 'project_id'),
        directory: string(row, 'directory'),
        title: string(row, 'title'),
        version: string(row, 'version'),
        archived: number(row, 'time_archived') !== undefined,
        created: number(row, 'time_created'),
        stamp,
      },
    ]
  })
}

function countsOf(db: Database, tables: Tables, table: string): ReadonlyMap<string, string> {
  const has = tables.get(table)
  const counts = new Map<string, string>()
  if (has === undefined || !has.has('session_id') || !has.has('time_updated')) return counts
  const sql = `SELECT session_id, count(*) AS n, max(time_updated) AS at FROM "${table}" GROUP BY session_id`
  for (const row of db.prepare(sql).iterate())
    counts.set(string(row, 'session_id') ?? '', `${String(number(row, 'n'))}:${String(number(row, 'at'))}`)
  return counts
}

function partsOf(db: Database, tables: Tables, sessionId: string): string {
  const has = tables.get('part')
  if (has === undefined || !has.has('session_id') || !has.has('time_updated')) return '-'
  const row = db
    .prepare('SELECT count(*) AS n, max(time_updated) AS at FROM part WHERE session_id = ?')
    .get(sessionId)
  return `p${String(number(row, 'n'))}:${String(number(row, 'at'))}`
}

function readData(row: unknown): OpencodePart['data'] {
  const text = string(row, 'data')
  const data = text === undefined ? undefined : parseJson(text)
  // What cannot be read is kept as the text that it is.
  return isObject(data) ? data : { type: 'unreadable', text: text ?? '' }
}
