import { TIERS } from '../entry-codes.ts'
import type { Connection } from './connection.ts'
import type { WordSearch } from './index-words.ts'

/** More matches than this in one tier are not weighed against each other: the newest are, and a note says so. */
export const WEIGHED = 15_000

/** The constants of BM25, as FTS5 has them: both stores order alike. */
export const K1 = 1.2
export const B = 0.75

/** How much there is in a tier, of what may be seen. */
interface TierSize {
  readonly texts: number
  readonly words: number
}

/** What BM25 is given beside the text itself. */
export interface Weighing {
  /** Words of a text of the tier, on average. */
  readonly average: number
  /** What each form is worth: the rarer, the more. */
  readonly idfs: readonly number[]
}

/** How much there is to be seen, tier by tier. It is asked for now and then: a little more or less changes no order. */
export interface Sizes {
  of(tier: number): Promise<TierSize>
  /** Something was written here: to be counted again. */
  reset(): void
}

const KNOWN_FOR_MS = 60_000

export function createSizes(connection: Connection): Sizes {
  let known: Promise<readonly TierSize[]> | undefined
  let until = 0

  async function read(): Promise<readonly TierSize[]> {
    const columns = TIERS.map(
      (_, n) => `sum(texts[${n + 1}])::bigint AS t${n}, sum(words[${n + 1}])::bigint AS w${n}`,
    )
    const [row] = await connection.query<Record<string, number | null>>(
      `SELECT ${columns.join(', ')} FROM file`,
    )
    return TIERS.map((_, n) => ({ texts: row?.[`t${n}`] ?? 0, words: row?.[`w${n}`] ?? 0 }))
  }

  return {
    async of(tier) {
      if (known === undefined || performance.now() > until) {
        until = performance.now() + KNOWN_FOR_MS
        known = read()
        known.catch(() => (known = undefined))
      }
      return (await known)[tier] ?? { texts: 0, words: 0 }
    },
    reset() {
      known = undefined
    },
  }
}

/** How rare each form is among what may be seen. With a single form it changes nothing, and is not looked up. */
export async function readIdfs(
  connection: Connection,
  { forms }: WordSearch,
  options: { readonly tier: number; readonly sizes: Sizes },
): Promise<Weighing> {
  const { texts, words } = await options.sizes.of(options.tier)
  const average = Math.max(1, words / Math.max(1, texts))
  if (forms.length === 1) return { average, idfs: [1] }
  const idfs: number[] = []
  for (const { candidates } of forms) {
    const asked = JSON.stringify({ candidates, choices: [], tools: [], flags: [], clauses: [] })
    const [counted] = await connection.query<{ count: number }>(
      'SELECT search_rarity($1::jsonb, $2::integer) AS count',
      [asked, options.tier],
    )
    idfs.push(toIdf(texts, counted?.count ?? 0))
  }
  return { average, idfs }
}

/** As FTS5 has it: what more than half of the texts have is worth next to nothing, and never less. */
function toIdf(texts: number, withForm: number): number {
  // There may be more of them by now than when all were counted.
  return Math.max(1e-6, Math.log((Math.max(0, texts - withForm) + 0.5) / (withForm + 0.5)))
}
