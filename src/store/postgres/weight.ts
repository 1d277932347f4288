import type { Connection } from './connection.ts'
import type { Statement } from './statement.ts'
import type { WordSearch } from './index-words.ts'

/** More matches than this in one tier are not weighed against each other: the newest are, and a note says so. */
export const WEIGHED = 15_000

/** What BM25 is given beside the text itself. */
export interface Weighing {
  /** Words of a text of the tier, on average. */
  readonly average: number
  /** What each form is worth: the rarer, the more. */
  readonly idfs: readonly number[]
}

/** How rare each form is. With a single form it changes nothing, and is not looked up. */
export async function readIdfs(
  connection: Connection,
  { forms }: WordSearch,
  tier: number,
): Promise<Weighing> {
  const [row] = await connection.query<{ texts: number; words: number }>(
    'SELECT texts, words FROM index_weight WHERE tier = $1',
    [tier],
  )
  const texts = row?.texts ?? 0
  const average = Math.max(1, (row?.words ?? 0) / Math.max(1, texts))
  if (forms.length === 1) return { average, idfs: [1] }
  const idfs: number[] = []
  for (const { candidates } of forms) {
    const [counted] = await connection.query<{ count: number }>(
      `SELECT count(*) AS count FROM (
         SELECT 1 FROM entry_text WHERE tier = ${tier} AND lexemes @@ $1::tsquery LIMIT ${WEIGHED}) AS counted`,
      [candidates],
    )
    idfs.push(toIdf(texts, counted?.count ?? 0))
  }
  return { average, idfs }
}

/** As FTS5 has it: what more than half of the texts have is worth next to nothing, and never less. */
function toIdf(texts: number, withForm: number): number {
  return Math.max(1e-6, Math.log((texts - withForm + 0.5) / (withForm + 0.5)))
}

const K1 = 1.2
const B = 0.75

/** How well a text matches, as SQL: BM25 with the constants of FTS5, so that both stores order alike. */
export function weightOf({ forms }: WordSearch, { average, idfs }: Weighing, { bind }: Statement): string {
  const norm = `${K1} * (${1 - B} + ${B} * entry_text.count / ${bind(average)}::float8)`
  return forms
    .map(({ piece }, n) => {
      const bound = `${bind(piece)}::text`
      const times = `((octet_length(words) - octet_length(replace(words, ${bound}, ''))) / ${Buffer.byteLength(piece)})`
      return `${bind(idfs[n] ?? 0)}::float8 * ${times} * ${K1 + 1} / (${times} + ${norm})`
    })
    .join(' + ')
}
