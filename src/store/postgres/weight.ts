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

/** How often each form stands in a text, as columns `t0`, `t1`… */
export function timesOf({ forms }: WordSearch, { bind }: Statement): string {
  return forms
    .map(({ piece }, n) => {
      const rest = `octet_length(replace(words, ${bind(piece)}::text, ''))`
      return `(octet_length(words) - ${rest}) / ${Buffer.byteLength(piece)} AS t${n}`
    })
    .join(', ')
}

/** How well a text matches, from these and its `count` of words: BM25 as FTS5 has it, so that both stores order alike. */
export function weightOf({ average, idfs }: Weighing, { bind }: Statement): string {
  const norm = `${K1} * (${1 - B} + ${B} * count / ${bind(average)}::float8)`
  return idfs.map((idf, n) => `${bind(idf)}::float8 * t${n} * ${K1 + 1} / (t${n} + ${norm})`).join(' + ')
}
