import { createHash } from 'node:crypto'
import { TIERS } from '../entry-codes.ts'
import type { Change } from '../store.ts'
import type { Viewer } from './access.ts'
import { toColumn, toColumnOrNull } from './column-text.ts'
import type { Connection } from './connection.ts'

/** Whose files are written. */
export interface WriterOptions {
  /** Those of one machine; not given: of all. */
  readonly origin?: string | undefined
  /** Those of a person in a team; not given: there is no team. */
  readonly member: Viewer
}

/** Who writes where there is no team. */
export const NOBODY: Viewer = { team: 0, person: 0 }

/** What a path is found by: a path may be longer than what an index takes. */
export function toPathKey(path: string): Buffer {
  return createHash('sha256').update(Buffer.from(path, 'utf16le')).digest()
}

/** How many texts and words each tier has gained or lost. */
export interface Weight {
  add(tier: number, texts: number, words: number): void
  save(connection: Connection): Promise<void>
}

export function createWeight(): Weight {
  const gained = TIERS.map(() => ({ texts: 0, words: 0 }))
  return {
    add(tier, texts, words) {
      const of = gained[tier]
      if (of === undefined) return
      of.texts += texts
      of.words += words
    },
    async save(connection) {
      const changed = gained.flatMap((of, tier) => (of.texts === 0 && of.words === 0 ? [] : { tier, ...of }))
      if (changed.length === 0) return
      await connection.run(
        `UPDATE index_weight AS w SET texts = w.texts + more.texts, words = w.words + more.words
         FROM unnest($1::smallint[], $2::bigint[], $3::bigint[]) AS more (tier, texts, words) WHERE w.tier = more.tier`,
        [
          changed.map(({ tier }) => tier),
          changed.map(({ texts }) => texts),
          changed.map(({ words }) => words),
        ],
      )
    },
  }
}

type Voiding = WriterOptions & { readonly weight: Weight }

/** What is forgotten, moved over or begun anew. */
export async function applyVoids(
  connection: Connection,
  changes: readonly Change[],
  { origin, member, weight }: Voiding,
): Promise<number> {
  let rows = 0
  const of = (path: string): readonly [Buffer, string | null, number] => [
    toPathKey(path),
    toColumnOrNull(origin),
    member.team,
  ]
  const IS_MEANT = 'key = $1 AND ($2::text IS NULL OR origin = $2) AND team = $3'
  async function forget(path: string): Promise<void> {
    rows += await forgetRows(connection, weight, { sql: IS_MEANT, values: of(path) })
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
    if (change.kind !== 'advance' || !change.anew) continue
    const values = [toPathKey(change.file.path), toColumn(change.file.origin), member.team]
    rows += await forgetRows(connection, weight, { sql: 'key = $1 AND origin = $2 AND team = $3', values })
  }
  return rows
}

async function forgetRows(
  connection: Connection,
  weight: Weight,
  { sql, values }: { readonly sql: string; readonly values: readonly (Buffer | string | number | null)[] },
): Promise<number> {
  const found = await connection.query<{ id: number }>(`SELECT id FROM file WHERE ${sql}`, values)
  if (found.length === 0) return 0
  const files = found.map(({ id }) => id)
  let rows = await connection.run('DELETE FROM bill WHERE file = ANY($1::bigint[])', [files])
  const gone = await connection.query<{ tier: number; texts: number; words: number }>(
    `WITH gone AS (
       DELETE FROM entry_text USING entry
       WHERE entry.file = ANY($1::bigint[]) AND entry_text.entry = entry.id
       RETURNING entry_text.tier, entry_text.count)
     SELECT tier, count(*) AS texts, coalesce(sum(count), 0)::bigint AS words FROM gone GROUP BY tier`,
    [files],
  )
  for (const { tier, texts, words } of gone) {
    weight.add(tier, -texts, -words)
    rows += texts
  }
  return rows + (await connection.run('DELETE FROM entry WHERE file = ANY($1::bigint[])', [files]))
}
