import { addOwnBill, addSum, type Spent, type Sums } from './billing.ts'
import { endsAnswer, type Entry } from './entry.ts'

/**
 * What an entry is to the answers of a session, for agents whose lines do not say which answer they belong to:
 *
 * - `begins`, `continues`: it is a part of an answer.
 * - `bills`: it says what the answer at hand, or the one before it, cost.
 * - `bills-next`: it says what the answer behind it cost. Codex wrote the items of an answer behind its cost once.
 */
export type AnswerStep = 'begins' | 'continues' | 'bills' | 'bills-next' | undefined

/** What the entries so far say of the next one. Plain JSON, so that reading can resume later. */
export interface AnswerState extends Sums {
  /** Set while the next part continues an answer. */
  readonly open?: boolean | undefined
  /** Whether the last answer has a bill. `guessed`: one that may be of an answer before the first entry. */
  readonly last?: 'unbilled' | 'guessed' | 'billed' | undefined
  /** A bill that stands before its answer. */
  readonly waiting?: 'guessed' | 'billed' | undefined
}

export interface AnswerTracker {
  add(entry: Entry): AnswerStep
  readonly state: AnswerState
}

/** What is known before the first line of a file: no sum was told. Without it nobody knows. */
export const BEFORE_ANSWERS: AnswerState = { sum: '' }

export function createAnswerTracker(from: AnswerState = {}): AnswerTracker {
  let state = from
  return {
    get state() {
      return state
    },
    add(entry) {
      if (entry.kind === 'record' && entry.spent !== undefined) return addSpent(entry.spent)
      if (entry.kind === 'reply' && entry.part === 'item') {
        if (state.open === true) return 'continues'
        state = { ...state, open: true, last: state.waiting ?? 'unbilled', waiting: undefined }
        return 'begins'
      }
      if (!endsAnswer(entry)) return undefined
      const isEnd = entry.kind === 'reply' && entry.part === 'end'
      const step = isEnd && state.open === true ? 'bills' : undefined
      if (isEnd && entry.usage !== undefined) state = { ...state, ...addOwnBill(state, entry.usage) }
      // Only results stand between an answer and its bill.
      state =
        entry.kind === 'result'
          ? { ...state, open: undefined }
          : { ...state, open: undefined, last: undefined, waiting: undefined }
      return step
    },
  }

  function addSpent(spent: Spent): AnswerStep {
    const { open, last } = state
    const isFirst = state.sum === undefined
    const { sums, isBill } = addSum(state, spent)
    state = { ...state, ...sums }
    if (!isBill) return undefined
    const isOfLast = last === 'unbilled' || (open === true && last === 'guessed')
    state = isOfLast
      ? { ...state, open: undefined, last: 'billed' }
      : { ...state, open: undefined, waiting: isFirst ? 'guessed' : 'billed' }
    return isOfLast ? 'bills' : 'bills-next'
  }
}
