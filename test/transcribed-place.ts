import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Database } from 'better-sqlite3'
import { openThroughline } from '#app'
import { isObject, parseJson } from '#base'
import type { Source } from '#sources'
import { outlineOf } from '#testing'

/** Every session of a source as outlines, and what all of them cost. Transcriptions read as Claude Code's lines do. */
export async function outlinesOf(source: Source): Promise<string> {
  const { sessions, problems } = await source.list()
  const names = sessions.map(
    ({ id, name, nameFrom, agent, state, problem }) =>
      `${agent} ${id}: ${JSON.stringify(name)} from ${nameFrom ?? 'nothing'}, ${state}${problem === undefined ? '' : `, ${problem}`}`,
  )
  const throughline = await openThroughline({ env: { CLAUDE_CONFIG_DIR: source.root } })
  const listed = await throughline.list({ full: true })
  const outlines: string[] = []
  for (const session of listed.sessions.toSorted((a, b) => (a.id < b.id ? -1 : 1)))
    outlines.push(await outlineOf(throughline, session))
  return [
    [...names.toSorted(), ...problems.map(({ path, message }) => `${path} ${message}`)].join('\n'),
    ...outlines,
    `in all ${JSON.stringify(listed.usage)}\n`,
  ].join('\n\n')
}

/** The tables of opencode 1.18.33 that a conversation is in, and one that nobody may ask. */
const SCHEMA = `
  CREATE TABLE session (id TEXT PRIMARY KEY, project_id TEXT, workspace_id TEXT, parent_id TEXT, slug TEXT,
    directory TEXT, path TEXT, title TEXT, version TEXT, share_url TEXT, summary_additions INTEGER,
    summary_deletions INTEGER, summary_files INTEGER, summary_diffs TEXT, metadata TEXT, cost REAL,
    tokens_input INTEGER, tokens_output INTEGER, tokens_reasoning INTEGER, tokens_cache_read INTEGER,
    tokens_cache_write INTEGER, revert TEXT, permission TEXT, agent TEXT, model TEXT, time_created INTEGER,
    time_updated INTEGER, time_compacting INTEGER, time_archived INTEGER);
  CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT);
  CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, time_created INTEGER,
    time_updated INTEGER, data TEXT);
  CREATE TABLE event_sequence (aggregate_id TEXT PRIMARY KEY, seq INTEGER, owner_id TEXT);
  CREATE TABLE credential (id TEXT PRIMARY KEY, token TEXT);
  INSERT INTO credential VALUES ('one', 'not-to-be-read');
`

export function openSqlite(path: string): Database {
  const Sqlite: typeof import('better-sqlite3') = createRequire(import.meta.url)('better-sqlite3')
  return new Sqlite(path)
}

/** Makes a data folder of opencode with these rows, and closes it as opencode does. */
export function writeOpencode(dataDir: string, ...fixtures: readonly string[]): string {
  const path = openOpencode(dataDir)
  const db = openSqlite(path)
  for (const fixture of fixtures)
    for (const name of readdirSync(fixture)) if (name.endsWith('.json')) addRows(db, join(fixture, name))
  db.close()
  return path
}

/** An empty database of opencode. */
export function openOpencode(dataDir: string): string {
  mkdirSync(dataDir, { recursive: true })
  const path = join(dataDir, 'opencode.db')
  const db = openSqlite(path)
  db.pragma('journal_mode = WAL')
  db.exec(SCHEMA)
  db.close()
  return path
}

function addRows(db: Database, file: string): void {
  const [, table = ''] = /([a-z_]+)\.json$/u.exec(file) ?? []
  const rows = parseJson(readFileSync(file, 'utf8'))
  for (const row of Array.isArray(rows) ? rows : []) if (isObject(row)) addRow(db, table, row)
}

/** Adds a row, or replaces it. */
export function addRow(db: Database, table: string, row: Readonly<Record<string, unknown>>): void {
  const columns = Object.keys(row)
  const marks = columns.map(() => '?').join(', ')
  const sql = `INSERT OR REPLACE INTO "${table}" (${columns.join(', ')}) VALUES (${marks})`
  db.prepare(sql).run(...Object.values(row))
}
