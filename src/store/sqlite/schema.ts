import type { Database } from 'better-sqlite3'
import { TIERS } from '../entry-codes.ts'

/** Raised whenever an index of the former version cannot be used as it is. It is then built anew beside it. */
export const INDEX_VERSION = 6

/**
 * Entries are numbered from the middle: what a build finds counts down, what happens counts up. A build goes from the
 * newest session to the oldest, so a higher number is, nearly always, a younger entry. The middle is chosen so that
 * numbers take four bytes where they are stored.
 */
const FIRST_NUMBER: number = 2 ** 27

/** Text is not stored: FTS5 keeps where each word stands, the transcript keeps the words. */
const FTS = "content='', contentless_delete=1, tokenize='unicode61 remove_diacritics 2'"

const TABLES = `
  CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE file (
    id INTEGER PRIMARY KEY,
    path TEXT NOT NULL,
    origin TEXT NOT NULL,
    agent TEXT NOT NULL,
    session TEXT NOT NULL,
    subagent TEXT,
    created TEXT NOT NULL,
    workdirs TEXT NOT NULL,
    "offset" INTEGER NOT NULL,
    guard TEXT NOT NULL,
    seen TEXT NOT NULL,
    fold TEXT NOT NULL,
    UNIQUE (path, origin)
  );
  CREATE INDEX file_session ON file (session);
  CREATE TABLE word (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);
  CREATE TABLE entry (
    id INTEGER PRIMARY KEY,
    file INTEGER NOT NULL,
    "offset" INTEGER NOT NULL,
    length INTEGER NOT NULL,
    at INTEGER,
    kind INTEGER NOT NULL,
    speaker INTEGER NOT NULL,
    tool INTEGER,
    flags INTEGER NOT NULL
  );
  CREATE INDEX entry_file ON entry (file);
  CREATE TABLE bill (
    file INTEGER NOT NULL,
    key TEXT NOT NULL,
    at INTEGER,
    model INTEGER,
    workdir INTEGER,
    input INTEGER NOT NULL,
    output INTEGER NOT NULL,
    cache_read INTEGER NOT NULL,
    cache_creation INTEGER NOT NULL,
    cache_creation_5m INTEGER NOT NULL,
    cache_creation_1h INTEGER NOT NULL,
    PRIMARY KEY (file, key)
  ) WITHOUT ROWID;
  ${TIERS.map((tier) => `CREATE VIRTUAL TABLE in_${tier} USING fts5(text, ${FTS});`).join('\n')}
`

/** Makes the tables of a new index, and names it. */
export function createTables(db: Database, epoch: string): void {
  db.transaction(() => {
    db.exec(TABLES)
    // Merging in small steps while rows come in costs a tenth more than merging once in a while.
    for (const tier of TIERS)
      db.exec(`INSERT INTO in_${tier}(in_${tier}, rank) VALUES('hashsize', ${HASH_BYTES})`)
    const put = db.prepare('INSERT INTO meta (key, value) VALUES (?, ?)')
    put.run('epoch', epoch)
    put.run('lowest', String(FIRST_NUMBER))
    put.run('highest', String(FIRST_NUMBER - 1))
    db.pragma(`user_version = ${INDEX_VERSION}`)
  })()
}

/** How much FTS5 holds in memory before it writes a piece of the index. */
const HASH_BYTES = 8 * 1024 * 1024
