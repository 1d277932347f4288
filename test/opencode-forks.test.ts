import { dirname, join } from 'node:path'
import type { Database } from 'better-sqlite3'
import { openThroughline } from '#app'
import { openTempDir } from '#testing'
import { expect, test } from 'vitest'
import { openSqlite, writeOpencode } from './transcribed-place.ts'

const FORKED = join(import.meta.dirname, 'fixtures/opencode/forked')

/** A session of two answers, its fork with one more, and the fork of that with another one. The fork was renamed. */
const FIRST = 'ses_e0f20c263ffe0JqU3ELylN5Y5P'
const FORK = 'ses_e0f20b76affeCT3AL1WUKfIFWy'
const FORK_OF_FORK = 'ses_e0f20b64cffeY7ENznleCDybgk'

/** What each of them paid, by the input that was not cached: 212 tokens an answer. */
async function paid(change: (db: Database) => void): Promise<Readonly<Record<string, number>>> {
  const dir = await openTempDir()
  const dataDir = join(dir.path, '.local/share/opencode')
  const db = openSqlite(writeOpencode(dataDir, FORKED))
  change(db)
  db.close()
  const env = { HOME: dir.path, XDG_DATA_HOME: dirname(dataDir), THROUGHLINE_HOME: join(dir.path, 'home') }
  const scanning = await openThroughline({ env })
  const indexed = await openThroughline({ env, index: true })
  try {
    while ((await indexed.health()).index.state !== 'complete') await indexed.settled()
    const report = await scanning.usage({ by: 'session' })
    expect(await indexed.usage({ by: 'session' })).toEqual(report)
    return Object.fromEntries(report.rows.map(({ key, usage }) => [key, usage.input]))
  } finally {
    await scanning.close()
    await indexed.close()
    await dir.remove()
  }
}

const EACH = { [FIRST]: 424, [FORK]: 212, [FORK_OF_FORK]: 212 }

/** Gives a session another id, in every row. */
function rename(db: Database, id: string, other: string): void {
  db.prepare('UPDATE session SET id = ? WHERE id = ?').run(other, id)
  for (const table of ['message', 'part'])
    db.prepare(`UPDATE ${table} SET session_id = ? WHERE session_id = ?`).run(other, id)
  db.prepare('UPDATE event_sequence SET aggregate_id = ? WHERE aggregate_id = ?').run(other, id)
}

test('[OPC7] [USE1] [CPY3] forks of the real opencode pay for what was said in them', async () => {
  expect(await paid(() => undefined)).toEqual(EACH)
})

test('[OPC7] [USE1] ids of sessions that ascend, and titles that say nothing, change nothing', async () => {
  const other = { [FIRST]: 'ses_0001', [FORK]: 'ses_0002', [FORK_OF_FORK]: 'ses_0003' }
  const found = await paid((db) => {
    for (const [id, its] of Object.entries(other)) rename(db, id, its)
    db.exec(`UPDATE session SET title = 'The same'`)
  })
  expect(found).toEqual({ ses_0001: 424, ses_0002: 212, ses_0003: 212 })
})

test('[OPC7] [USE1] neither do times that tie, while titles or the ids of messages tell', async () => {
  const tie = (db: Database): unknown => db.exec('UPDATE session SET time_created = 1795042524572')
  expect(
    await paid((db) => {
      tie(db)
      const title = db.prepare('UPDATE session SET title = ? WHERE id = ?')
      title.run('Named', FIRST)
      title.run('Named (fork #1)', FORK)
      title.run('Named (fork #1) (fork #1)', FORK_OF_FORK)
    }),
  ).toEqual(EACH)
  expect(
    await paid((db) => {
      tie(db)
      db.exec(`UPDATE session SET title = 'Named (fork #1)'`)
    }),
  ).toEqual(EACH)
})

test('[OPC7] a fork pays for what it copied when the session that it was made of is gone', async () => {
  const found = await paid((db) => {
    for (const table of ['message', 'part'])
      db.prepare(`DELETE FROM ${table} WHERE session_id = ?`).run(FIRST)
    db.prepare('DELETE FROM session WHERE id = ?').run(FIRST)
  })
  expect(found).toEqual({ [FORK]: 636, [FORK_OF_FORK]: 212 })
})
