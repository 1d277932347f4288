import { createHash } from 'node:crypto'
import { TIERS } from '../entry-codes.ts'
import type { Change } from '../store.ts'
import { toColumn } from './column-text.ts'
import type { Connection } from './connection.ts'
import type { Entered } from './members.ts'

/** What a path is found by: a path may be longer than what an index takes. */
export function toPathKey(path: string): Buffer {
  return createHash('sha256').update(Buffer.from(path, 'utf16le')).digest()
}

/** What is forgotten, moved over or begun anew. */
export async function applyVoids(
  connection: Connection,
  changes: readonly Change[],
  { team, origin }: Pick<Entered, 'team' | 'origin'>,
): Promise<number> {
  let rows = 0
  const of = (path: string): readonly [Buffer, number, number] => [toPathKey(path), origin, team]
  const IS_MEANT = 'key = $1 AND origin = $2 AND team = $3'
  async function forget(path: string): Promise<void> {
    rows += await forgetRows(connection, of(path))
    rows += await connection.run(`DELETE FROM file WHERE ${IS_MEANT}`, of(path))
  }
  for (const change of changes) {
    if (change.kind === 'forget') await forget(change.path)
    else if (change.kind === 'move') {
      await forget(change.to)
      rows += await connection.run(`UPDATE file SET key = $4, path = $5 WHERE ${IS_MEANT}`, [
        ...of(change.from),
        toPathKey(change.to),
        toColumn(change.to),
      ])
    }
  }
  for (const change of changes) {
    if (change.kind === 'advance' && change.anew) rows += await forgetRows(connection, of(change.file.path))
  }
  return rows
}

async function forgetRows(
  connection: Connection,
  [key, origin, team]: readonly [Buffer, number, number],
): Promise<number> {
  const [file] = await connection.query<{ id: number }>(
    `UPDATE file SET texts = '{${NONE}}', words = '{${NONE}}' WHERE key = $1 AND origin = $2 AND team = $3 RETURNING id`,
    [key, origin, team],
  )
  if (file === undefined) return 0
  const bills = await connection.run('DELETE FROM bill WHERE team = $1 AND file = $2', [team, file.id])
  const texts = await connection.run(
    `DELETE FROM entry_text USING entry
     WHERE entry.team = $1 AND entry.file = $2 AND entry_text.team = $1 AND entry_text.entry = entry.id`,
    [team, file.id],
  )
  return (
    bills + texts + (await connection.run('DELETE FROM entry WHERE team = $1 AND file = $2', [team, file.id]))
  )
}

const NONE = TIERS.map(() => '0').join(',')
