import { createRequire } from 'node:module'
import { join } from 'node:path'
import { INDEX_VERSION } from '#store'

/** The file of a home's index. */
export function indexPath(home: string): string {
  return join(home, `index.v${INDEX_VERSION}.db`)
}

/** Everything an index says, as sorted lines: what two indexes of the same files have in common, whatever their numbers. */
export function readRows(path: string): readonly string[] {
  const Sqlite: typeof import('better-sqlite3') = createRequire(import.meta.url)('better-sqlite3')
  const db = new Sqlite(path, { readonly: true, timeout: 5000 })
  try {
    const entries = db
      .prepare<[], unknown[]>(
        `SELECT 'entry', path, session, subagent, entry."offset", length, at, kind, speaker, word.text, flags
         FROM entry JOIN file ON file.id = entry.file LEFT JOIN word ON word.id = entry.tool`,
      )
      .raw()
      .all()
    const files = db
      .prepare<[], unknown[]>(
        `SELECT 'file', path, agent, session, subagent, created, workdirs, "offset", fold FROM file`,
      )
      .raw()
      .all()
    const bills = db
      .prepare<[], unknown[]>(
        `SELECT 'bill', path, key, at, model.text, workdir.text, input, output, cache_read, cache_creation
         FROM bill JOIN file ON file.id = bill.file LEFT JOIN word AS model ON model.id = bill.model
         LEFT JOIN word AS workdir ON workdir.id = bill.workdir`,
      )
      .raw()
      .all()
    return [...entries, ...files, ...bills].map((row) => JSON.stringify(row)).toSorted()
  } finally {
    db.close()
  }
}
