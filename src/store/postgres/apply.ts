import { ThroughlineError } from '#base'
import type { Applied, BillRow, Change, IndexedFile } from '../store.ts'
import { putEntries, readyEntries, type Advance, type FileIds } from './apply-entries.ts'
import { applyVoids, toPathKey } from './apply-voids.ts'
import { toColumn, toColumnOrNull } from './column-text.ts'
import type { Connection, Connections } from './connection.ts'
import { toSmallWorkdirs } from './filter.ts'
import type { Entered } from './members.ts'

/** Writes changes. Everything is made ready before the first row is touched, so that little waits for others. */
export async function applyChanges(
  connections: Connections,
  changes: readonly Change[],
  entered: Entered,
): Promise<Applied> {
  const advances = changes.filter((change) => change.kind === 'advance')
  checkOrigins(advances, entered.self.origin)
  const ready = readyEntries(advances)
  return await connections.transact(async (connection) => {
    const voided = await applyVoids(connection, changes, entered)
    const files = await putFiles(connection, advances)
    const billed = await putBills(connection, advances, { files, team: entered.team })
    // From here on nobody else writes: numbers become visible in their order. So it comes last, and is short.
    const { rows, newest } = await putEntries(connection, ready, { files, advances })
    return { rows: voided + advances.length + billed + rows, newest }
  })
}

/** Nobody writes in the name of another machine. */
function checkOrigins(advances: readonly Advance[], origin: string): void {
  if (advances.every(({ file }) => file.origin === origin)) return
  throw new ThroughlineError('not-allowed', 'a file of another machine was to be indexed', {
    hint: 'Every machine indexes what is on it.',
  })
}

async function putFiles(connection: Connection, advances: readonly Advance[]): Promise<FileIds> {
  const ids = new Map<IndexedFile, number>()
  // In one order for everybody: two that write the same files do not wait for each other in a circle.
  const files = advances.map(({ file }) => file).toSorted((a, b) => (a.path < b.path ? -1 : 1))
  for (const file of files) {
    const [row] = await connection.query<{ id: number }>(
      'SELECT put_index_file($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12::text[], $13::text[]) AS id',
      [
        toPathKey(file.path),
        toColumn(file.path),
        toColumn(file.agent),
        toColumn(file.session),
        toColumnOrNull(file.subagent),
        toColumn(file.createdAt),
        JSON.stringify(file.workdirs),
        file.offset,
        toColumn(file.guard),
        toColumn(file.seen),
        toColumn(file.fold),
        [file.agent.toLowerCase(), file.session.toLowerCase(), toSmallWorkdirs(file.workdirs)].map(toColumn),
        file.workdirs.map(toColumn),
      ],
    )
    if (row !== undefined) ids.set(file, row.id)
  }
  return ids
}

/** What goes in one statement at most. */
const MOST_ROWS = 5000

async function putBills(
  connection: Connection,
  advances: readonly Advance[],
  { files, team }: { readonly files: FileIds; readonly team: number },
): Promise<number> {
  // The last of a key counts, and one statement takes each key once.
  const bills = new Map<string, { readonly file: number | null; readonly bill: BillRow }>()
  for (const { file, bills: of } of advances) {
    const id = files.get(file) ?? null
    for (const bill of of) bills.set(`${id} ${bill.key}`, { file: id, bill })
  }
  const all = [...bills.values()]
  for (let from = 0; from < all.length; from += MOST_ROWS) {
    const some = all.slice(from, from + MOST_ROWS)
    await connection.run(PUT_BILLS, [
      some.map(({ file }) => file),
      some.map(({ bill }) => toColumn(bill.key)),
      some.map(({ bill }) => bill.at ?? null),
      some.map(({ bill }) => toColumnOrNull(bill.model)),
      some.map(({ bill }) => toColumnOrNull(bill.workdir)),
      some.map(({ bill }) => bill.usage.input),
      some.map(({ bill }) => bill.usage.output),
      some.map(({ bill }) => bill.usage.cacheRead),
      some.map(({ bill }) => bill.usage.cacheCreation),
      some.map(({ bill }) => bill.usage.cacheCreation5m),
      some.map(({ bill }) => bill.usage.cacheCreation1h),
      team,
    ])
  }
  return advances.reduce((sum, { bills: of }) => sum + of.length, 0)
}

const PUT_BILLS = `
  INSERT INTO bill (team, file, key, at, model, workdir, input, output, cache_read, cache_creation,
                    cache_creation_5m, cache_creation_1h)
  SELECT $12::integer, * FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::text[], $5::text[], $6::bigint[],
                                     $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[])
  ON CONFLICT (team, file, key) DO UPDATE SET
    at = excluded.at, model = excluded.model, workdir = excluded.workdir, input = excluded.input,
    output = excluded.output, cache_read = excluded.cache_read, cache_creation = excluded.cache_creation,
    cache_creation_5m = excluded.cache_creation_5m, cache_creation_1h = excluded.cache_creation_1h`
