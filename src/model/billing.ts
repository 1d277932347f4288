import { addCompaction, addReply, billCompaction, withTotals, type CostState } from './compaction-cost.ts'
import { billKey } from './ledger.ts'
import { workOf, type Entry, type RecordEntry } from './entry.ts'
import type { Usage } from './usage.ts'

/** What a line beside an answer says of its cost, for agents that write sums instead of bills. */
export interface Spent {
  /** Of the last answer alone. */
  readonly usage: Usage
  /** Names the sums and the last answer's part in them. A line with the same name repeats the one before it. */
  readonly sum: string
  /** The context window of the model, in tokens. */
  readonly window?: number | undefined
}

/** What one message cost, as one line tells it. */
export interface Bill {
  readonly key: string
  /** Absent where the line belongs to a message and has no figures. */
  readonly usage?: Usage | undefined
  readonly model?: string | undefined
  readonly workdir?: string | undefined
  /** When, where its line has no time. */
  readonly at?: string | undefined
  /** It is for the request that made a compaction, which is no message. */
  readonly isCompaction?: true
}

/** What is known of the sums of a thread. */
export interface Sums {
  /** The last one. */
  readonly sum?: string | undefined
  /** Figures of answers that have a bill of their own, until the sum after them repeats the figures. */
  readonly billed?: readonly string[] | undefined
}

/** A killed agent leaves a bill without its sum: more of them than this never wait at once. */
const PENDING = 20

export function addOwnBill(sums: Sums, usage: Usage): Sums {
  return { ...sums, billed: [...(sums.billed ?? []), figuresOf(usage)].slice(-PENDING) }
}

/** Whether a sum is the only bill of an answer: neither a repetition, nor the sum behind the answer's own bill. */
export function addSum(sums: Sums, { sum, usage }: Spent): { readonly sums: Sums; readonly isBill: boolean } {
  if (sum === sums.sum) return { sums, isBill: false }
  const hasBill = sums.billed?.includes(figuresOf(usage)) ?? false
  return { sums: { sum, billed: hasBill ? undefined : sums.billed }, isBill: !hasBill }
}

function figuresOf({ input, output, cacheRead, cacheCreation }: Usage): string {
  return `${input} ${output} ${cacheRead} ${cacheCreation}`
}

/** What the lines read so far say of the bills to come. Plain JSON, so that reading can resume later. */
export interface BillSetting extends Sums {
  readonly model?: string | undefined
  readonly workdir?: string | undefined
  /** The thread that wrote the lines. A fork copies the lines of another one together with its name. */
  readonly thread?: string | undefined
  readonly turn?: string | undefined
  /** Set from the first line of a fork until its first turn: these lines are copies. */
  readonly copied?: boolean | undefined
  /** For clients that write down what all of a session has cost. */
  readonly cost?: CostState | undefined
}

/** Finds the bills in the lines of one file, taken in order. */
export interface Billing {
  /** The bill that the line holds. A repeated sum is none. */
  add(entry: Entry): Bill | undefined
  readonly setting: BillSetting
}

export function createBilling(from: BillSetting = {}): Billing {
  let setting = from
  return {
    get setting() {
      return setting
    },
    add(line) {
      const entry = workOf(line)
      if (entry.kind === 'reply') {
        if (entry.synthetic) return undefined
        if (entry.part === 'end' && entry.usage !== undefined)
          setting = { ...setting, ...addOwnBill(setting, entry.usage) }
        const key = billKey(entry)
        if (setting.cost !== undefined) setting = { ...setting, cost: addReply(setting.cost, key, entry) }
        return {
          key,
          usage: entry.usage,
          model: entry.model ?? setting.model,
          workdir: entry.cwd ?? setting.workdir,
        }
      }
      if (entry.kind === 'compaction' && setting.cost !== undefined)
        setting = { ...setting, cost: addCompaction(setting.cost, entry, entry.cwd ?? setting.workdir) }
      if (entry.kind !== 'record') return undefined
      if (entry.totals !== undefined) {
        const bill = billCompaction(setting.cost, entry.totals)
        setting = { ...setting, cost: withTotals(setting.cost, entry.totals) }
        return bill && { ...bill, isCompaction: true }
      }
      setting = settingAfter(setting, entry)
      return entry.spent === undefined ? undefined : readSum(entry.spent)
    },
  }

  function readSum(spent: Spent): Bill | undefined {
    const { sums, isBill } = addSum(setting, spent)
    setting = { ...setting, ...sums }
    const { turn, thread, copied, model, workdir } = setting
    if (!isBill || copied === true) return undefined
    return { key: `${turn ?? thread ?? ''} ${spent.sum}`, usage: spent.usage, model, workdir }
  }
}

function settingAfter(setting: BillSetting, entry: RecordEntry): BillSetting {
  switch (entry.type) {
    case 'session_meta':
      // The first line of a fork names what it was made of; the copied lines may begin with their own first line.
      return {
        ...setting,
        thread: entry.sessionId,
        copied:
          setting.copied === true || (setting.turn === undefined && entry.value !== undefined) || undefined,
      }
    case 'turn_context':
      return {
        ...setting,
        model: entry.value ?? setting.model,
        workdir: entry.cwd ?? setting.workdir,
        turn: entry.turn ?? setting.turn,
        copied: undefined,
      }
    case 'event_msg/task_started':
      return { ...setting, turn: entry.turn, copied: undefined }
    default:
      return setting
  }
}
