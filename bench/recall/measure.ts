import type { RecallTurn } from '#memory'
import type { Dialogue } from './dialogues.ts'
import type { Method } from './methods.ts'

/** Means over all questions, from 0 to 1. */
export interface RecallFigures {
  readonly name: string
  readonly at5: number
  readonly at10: number
  readonly at25: number
  /** The sessions of the evidence among the first five, sessions ranked by their best turn. */
  readonly sessionsAt5: number
  readonly reciprocalRank: number
  /** Some, and all, of the evidence in the best turns that fit into 1,024 tokens. */
  readonly anyInBudget: number
  readonly allInBudget: number
  readonly msPerQuestion: number
}

const BUDGET = 1_024
/** Dialogue has more characters per token: it is the budget that is counted too small, never the text. */
const CHARACTERS_PER_TOKEN = 4

type Sums = { -readonly [Key in Exclude<keyof RecallFigures, 'name'>]: number }

/** How well a method finds the evidence: one index per dialogue, every question asked of its own. */
export function measureRecall(method: Method, dialogues: readonly Dialogue[]): RecallFigures {
  const sums: Sums = {
    at5: 0,
    at10: 0,
    at25: 0,
    sessionsAt5: 0,
    reciprocalRank: 0,
    anyInBudget: 0,
    allInBudget: 0,
    msPerQuestion: 0,
  }
  let count = 0
  for (const { turns, questions } of dialogues) {
    const find = method.prepare(turns)
    const byId = new Map(turns.map((turn) => [turn.id, turn]))
    for (const { question, evidence } of questions) {
      const began = performance.now()
      const ranked = find(question, turns.length)
      sums.msPerQuestion += performance.now() - began
      add(sums, ranked, { evidence, byId })
      count += 1
    }
  }
  const mean = (sum: number): number => (count === 0 ? 0 : sum / count)
  return {
    name: method.name,
    at5: mean(sums.at5),
    at10: mean(sums.at10),
    at25: mean(sums.at25),
    sessionsAt5: mean(sums.sessionsAt5),
    reciprocalRank: mean(sums.reciprocalRank),
    anyInBudget: mean(sums.anyInBudget),
    allInBudget: mean(sums.allInBudget),
    msPerQuestion: mean(sums.msPerQuestion),
  }
}

function add(
  sums: Sums,
  ranked: readonly string[],
  {
    evidence,
    byId,
  }: { readonly evidence: readonly string[]; readonly byId: ReadonlyMap<string, RecallTurn> },
): void {
  const sessionOf = (id: string): string => byId.get(id)?.sessionId ?? ''
  const inBudget = shareOf(toBudget(ranked, byId), evidence)
  const first = ranked.findIndex((id) => evidence.includes(id))
  sums.at5 += shareOf(ranked.slice(0, 5), evidence)
  sums.at10 += shareOf(ranked.slice(0, 10), evidence)
  sums.at25 += shareOf(ranked.slice(0, 25), evidence)
  sums.sessionsAt5 += shareOf([...new Set(ranked.map(sessionOf))].slice(0, 5), [
    ...new Set(evidence.map(sessionOf)),
  ])
  sums.reciprocalRank += first < 0 ? 0 : 1 / (first + 1)
  sums.anyInBudget += inBudget > 0 ? 1 : 0
  sums.allInBudget += inBudget === 1 ? 1 : 0
}

function shareOf(found: readonly string[], wanted: readonly string[]): number {
  return wanted.filter((id) => found.includes(id)).length / wanted.length
}

/** The best turns, each with its id and speaker, until the next one does not fit. */
function toBudget(ranked: readonly string[], byId: ReadonlyMap<string, RecallTurn>): readonly string[] {
  let left = BUDGET * CHARACTERS_PER_TOKEN
  const end = ranked.findIndex((id) => {
    const turn = byId.get(id)
    left -= `${id} ${turn?.speaker ?? ''}: ${[turn?.text, ...(turn?.notes ?? [])].join(' ')}\n`.length
    return left < 0
  })
  return end < 0 ? ranked : ranked.slice(0, end)
}
