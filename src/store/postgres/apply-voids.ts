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
    if (change.kind !== 'advance') continue
    const file = of(change.file.path)
    if (change.anew) rows += await forgetRows(connection, file)
    else if ((change.replaced ?? []).length > 0)
      rows += await forgetEntries(connection, file, change.replaced ?? [])
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

/** Takes entries out, and what they added to the figures of their file. */
async function forgetEntries(
  connection: Connection,
  [key, origin, team]: readonly [Buffer, number, number],
  offsets: readonly number[],
): Promise<number> {
  const [file] = await connection.query<{ id: number }>(
    'SELECT id FROM file WHERE key = $1 AND origin = $2 AND team = $3',
    [key, origin, team],
  )
  if (file === undefined) return 0
  const isMeant = 'entry.team = $1 AND entry.file = $2 AND entry."offset" = ANY($3::bigint[])'
  const gone = await connection.query<{ tier: number; count: number }>(
    `DELETE FROM entry_text USING entry
     WHERE ${isMeant} AND entry_text.team = $1 AND entry_text.entry = entry.id RETURNING tier, count`,
    [team, file.id, offsets],
  )
  for (const { tier, count } of gone) {
    const at = tier + 1
    await connection.run(
      `UPDATE file SET texts[${at}] = texts[${at}] - 1, words[${at}] = words[${at}] - $3 WHERE team = $1 AND id = $2`,
      [team, file.id, count],
    )
  }
  return gone.length + (await connection.run(`DELETE FROM entry WHERE ${isMeant}`, [team, file.id, offsets]))
}

const NONE = TIERS.map(() => '0').join(',')
