import type { Database } from 'better-sqlite3'
import { list, parseJson } from '#base'
import { identifierParts } from '../identifier.ts'
import type { Applied, BillRow, Change, EntryRow, IndexedFile } from '../store.ts'
import { FLAGS, KINDS, SPEAKERS, TIERS } from '../entry-codes.ts'

/** Writes to the index. One at a time: the file has one writer. */
export interface Writer {
  newest(): number
  files(): readonly IndexedFile[]
  apply(changes: readonly Change[]): Applied
}

interface FileColumns {
  readonly path: string
  readonly origin: string
  readonly agent: string
  readonly session: string
  readonly subagent: string | null
  readonly created: string
  readonly workdirs: string
  readonly offset: number
  readonly guard: string
  readonly seen: string
  readonly fold: string
}

export function createWriter(db: Database): Writer {
  const statements = prepare(db)
  const words = createWords(db)

  const applyAll = db.transaction((changes: readonly Change[]): Applied => {
    let rows = 0
    const numbers = readNumbers()
    for (const change of changes) {
      if (change.kind === 'move')
        rows += forget(change.to) + statements.moveFile.run(change.to, change.from).changes
      else if (change.kind === 'forget') rows += forget(change.path)
    }
    // Of what a build found, the newest comes first and gets the highest numbers: so it is numbered last.
    const past = changes.filter((change) => change.kind === 'advance' && change.as === 'past')
    const count = past.reduce((sum, change) => sum + entriesOf(change).length, 0)
    let next = numbers.lowest - count
    numbers.lowest = next
    for (const change of past.toReversed()) {
      if (change.kind !== 'advance') continue
      rows += advance(change, next)
      next += change.entries.length
    }
    for (const change of changes) {
      if (change.kind !== 'advance' || change.as === 'past') continue
      rows += advance(change, numbers.highest + 1)
      numbers.highest += change.entries.length
    }
    statements.putMeta.run(String(numbers.lowest), 'lowest')
    statements.putMeta.run(String(numbers.highest), 'highest')
    return { rows, newest: numbers.highest }
  })

  function readNumbers(): { lowest: number; highest: number } {
    return {
      lowest: Number(statements.getMeta.get('lowest')),
      highest: Number(statements.getMeta.get('highest')),
    }
  }

  function advance(change: Extract<Change, { kind: 'advance' }>, first: number): number {
    const { file } = change
    let rows = change.anew ? forgetRows(file.path, file.origin) : 0
    const id = putFile(file)
    rows++
    for (const offset of change.replaced ?? []) rows += forgetEntry(id, offset)
    for (const [index, entry] of change.entries.entries()) rows += putEntry(first + index, id, entry)
    for (const bill of change.bills) {
      putBill(id, bill)
      rows++
    }
    return rows
  }

  function putFile(file: IndexedFile): number | bigint {
    const { path, origin } = file
    const id = statements.fileId.get(path, origin)
    const values = [
      file.agent,
      file.session,
      file.subagent ?? null,
      file.createdAt,
      JSON.stringify(file.workdirs),
      file.offset,
      file.guard,
      file.seen,
      file.fold,
    ] as const
    if (id === undefined) return statements.addFile.run(path, origin, ...values).lastInsertRowid
    statements.setFile.run(...values, id)
    return id
  }

  function putEntry(number: number, file: number | bigint, entry: EntryRow): number {
    let flags = (entry.isError ? FLAGS.error : 0) | (entry.hasDirective ? FLAGS.directive : 0)
    let rows = 1
    for (const tier of TIERS) {
      const text = entry.text[tier]
      if (text === undefined) continue
      flags |= FLAGS[tier]
      const parts = identifierParts(text)
      statements.addText[tier].run(number, parts === '' ? text : `${text}\n${parts}`)
      rows++
    }
    statements.addEntry.run(
      number,
      file,
      entry.offset,
      entry.length,
      entry.at ?? null,
      KINDS.indexOf(entry.kind),
      SPEAKERS.indexOf(entry.speaker),
      words.idOf(entry.tool),
      flags,
    )
    return rows
  }

  function putBill(file: number | bigint, { key, at, model, workdir, usage }: BillRow): void {
    statements.putBill.run(
      file,
      key,
      at ?? null,
      words.idOf(model),
      words.idOf(workdir),
      usage.input,
      usage.output,
      usage.cacheRead,
      usage.cacheCreation,
      usage.cacheCreation5m,
      usage.cacheCreation1h,
    )
  }

  function forgetEntry(file: number | bigint, offset: number): number {
    let rows = 0
    for (const { id, flags } of statements.entriesAt.all(file, offset)) {
      for (const tier of TIERS)
        if ((flags & FLAGS[tier]) !== 0) rows += statements.deleteOneText[tier].run(id).changes
      rows += statements.deleteEntry.run(id).changes
    }
    return rows
  }

  function forget(path: string): number {
    let rows = 0
    for (const origin of statements.origins.all(path)) {
      rows += forgetRows(path, origin) + statements.deleteFile.run(path, origin).changes
    }
    return rows
  }

  function forgetRows(path: string, origin: string): number {
    const id = statements.fileId.get(path, origin)
    if (id === undefined) return 0
    let rows = statements.deleteBills.run(id).changes
    for (const tier of TIERS) rows += statements.deleteText[tier].run(id, FLAGS[tier]).changes
    return rows + statements.deleteEntries.run(id).changes
  }

  return {
    newest: () => readNumbers().highest,
    files: () =>
      db
        .prepare<[], FileColumns>(
          'SELECT path, origin, agent, session, subagent, created, workdirs, "offset", guard, seen, fold FROM file',
        )
        .all()
        .map(toIndexedFile),
    apply(changes) {
      try {
        return applyAll.immediate(changes)
      } catch (error) {
        // What was numbered in a transaction that was undone has no number.
        words.clear()
        throw error
      }
    },
  }
}

function entriesOf(change: Change): readonly EntryRow[] {
  return change.kind === 'advance' ? change.entries : []
}

function toIndexedFile(row: FileColumns): IndexedFile {
  const workdirs = list({ workdirs: parseJson(row.workdirs) }, 'workdirs')
  return {
    path: row.path,
    origin: row.origin,
    agent: row.agent,
    session: row.session,
    subagent: row.subagent ?? undefined,
    createdAt: row.created,
    workdirs: workdirs.filter((workdir) => typeof workdir === 'string'),
    offset: row.offset,
    guard: row.guard,
    seen: row.seen,
    fold: row.fold,
  }
}

/** Words that repeat a thousand times are stored once: names of tools, models, working directories. */
function createWords(db: Database): { idOf(text: string | undefined): number | null; clear(): void } {
  const known = new Map<string, number>()
  const find = db.prepare<[string], number>('SELECT id FROM word WHERE text = ?').pluck()
  const add = db.prepare<[string]>('INSERT INTO word (text) VALUES (?)')
  return {
    idOf(text) {
      if (text === undefined) return null
      const id = known.get(text) ?? find.get(text) ?? Number(add.run(text).lastInsertRowid)
      if (known.size > 10_000) known.clear()
      known.set(text, id)
      return id
    },
    clear: () => known.clear(),
  }
}

function perTier<T>(make: (tier: (typeof TIERS)[number]) => T): Record<(typeof TIERS)[number], T> {
  return { said: make('said'), thought: make('thought'), tool: make('tool') }
}

function prepare(db: Database) {
  type FileValues = [string, string, string | null, string, string, number, string, string, string]
  return {
    getMeta: db.prepare<[string], string>('SELECT value FROM meta WHERE key = ?').pluck(),
    putMeta: db.prepare<[string, string]>('UPDATE meta SET value = ? WHERE key = ?'),
    fileId: db.prepare<[string, string], number>('SELECT id FROM file WHERE path = ? AND origin = ?').pluck(),
    origins: db.prepare<[string], string>('SELECT origin FROM file WHERE path = ?').pluck(),
    addFile: db.prepare<[string, string, ...FileValues]>(
      `INSERT INTO file (path, origin, agent, session, subagent, created, workdirs, "offset", guard, seen, fold)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    setFile: db.prepare<[...FileValues, number]>(
      `UPDATE file SET agent = ?, session = ?, subagent = ?, created = ?, workdirs = ?, "offset" = ?, guard = ?,
       seen = ?, fold = ? WHERE id = ?`,
    ),
    moveFile: db.prepare<[string, string]>('UPDATE file SET path = ? WHERE path = ?'),
    deleteFile: db.prepare<[string, string]>('DELETE FROM file WHERE path = ? AND origin = ?'),
    addEntry: db.prepare<
      [number, number | bigint, number, number, number | null, number, number, number | null, number]
    >(
      `INSERT INTO entry (id, file, "offset", length, at, kind, speaker, tool, flags)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    deleteEntries: db.prepare<[number]>('DELETE FROM entry WHERE file = ?'),
    entriesAt: db.prepare<[number | bigint, number], { id: number; flags: number }>(
      'SELECT id, flags FROM entry WHERE file = ? AND "offset" = ?',
    ),
    deleteEntry: db.prepare<[number]>('DELETE FROM entry WHERE id = ?'),
    deleteOneText: perTier((tier) => db.prepare<[number]>(`DELETE FROM in_${tier} WHERE rowid = ?`)),
    putBill: db.prepare(
      `INSERT OR REPLACE INTO bill (file, key, at, model, workdir, input, output, cache_read, cache_creation,
       cache_creation_5m, cache_creation_1h) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    deleteBills: db.prepare<[number]>('DELETE FROM bill WHERE file = ?'),
    addText: perTier((tier) =>
      db.prepare<[number, string]>(`INSERT INTO in_${tier} (rowid, text) VALUES (?, ?)`),
    ),
    deleteText: perTier((tier) =>
      db.prepare<[number, number]>(
        `DELETE FROM in_${tier} WHERE rowid IN (SELECT id FROM entry WHERE file = ? AND flags & ? <> 0)`,
      ),
    ),
  }
}
