import { createHash } from 'node:crypto'
import { fromColumn, toColumn } from './column-text.ts'
import type { Connection } from './connection.ts'

/** Words that repeat a thousand times are stored once: names of tools, models, working directories. */
export interface Words {
  /** Knows all of these from then on. A word that nobody uses in the end does no harm. */
  idsOf(wanted: ReadonlyMap<string, ReadonlySet<string>>): Promise<WordIds>
  /** Every word of a kind. */
  all(kind: string): Promise<readonly { readonly id: number; readonly text: string }[]>
}

interface WordIds {
  idOf(kind: string, text: string | undefined): number | null
}

const MOST_KNOWN = 20_000

export function createWords(connection: Connection): Words {
  const known = new Map<string, number>()

  async function learn(kind: string, texts: readonly string[]): Promise<void> {
    const rows = texts
      .map((text) => ({ text, key: hashOf(text) }))
      .toSorted((a, b) => (a.key < b.key ? -1 : 1))
    const keys = rows.map(({ key }) => key)
    await connection.run(
      `INSERT INTO word (kind, key, text)
       SELECT $1, decode(key, 'hex'), text FROM unnest($2::text[], $3::text[]) AS given (key, text)
       ON CONFLICT (kind, key) DO NOTHING`,
      [kind, keys, rows.map(({ text }) => toColumn(text))],
    )
    const found = await connection.query<{ id: number; text: string }>(
      `SELECT id, text FROM word WHERE kind = $1
       AND key IN (SELECT decode(key, 'hex') FROM unnest($2::text[]) AS given (key))`,
      [kind, keys],
    )
    for (const { id, text } of found) known.set(keyOf(kind, fromColumn(text)), id)
  }

  return {
    async idsOf(wanted) {
      if (known.size > MOST_KNOWN) known.clear()
      for (const [kind, texts] of wanted) {
        const unknown = [...texts].filter((text) => !known.has(keyOf(kind, text)))
        if (unknown.length > 0) await learn(kind, unknown)
      }
      const ids = new Map(
        [...wanted].flatMap(([kind, texts]) =>
          [...texts].map((text) => [keyOf(kind, text), known.get(keyOf(kind, text)) ?? null] as const),
        ),
      )
      return { idOf: (kind, text) => (text === undefined ? null : (ids.get(keyOf(kind, text)) ?? null)) }
    },
    async all(kind) {
      const rows = await connection.query<{ id: number; text: string }>(
        'SELECT id, text FROM word WHERE kind = $1',
        [kind],
      )
      return rows.map(({ id, text }) => ({ id, text: fromColumn(text) }))
    },
  }
}

function keyOf(kind: string, text: string): string {
  return `${kind} ${text}`
}

function hashOf(text: string): string {
  return createHash('sha256').update(Buffer.from(text, 'utf16le')).digest('hex')
}
