import { boolean, isObject, number, object, string } from '#base'
import type { Block } from './block.ts'
import { compactionKey } from './compaction.ts'
import type { CompactionEntry, ReplyEntry } from './entry.ts'
import { addUsage, NO_USAGE, type Usage } from './usage.ts'

/** What a client says that a session has cost so far, by model, requests included that left no line. */
export interface CostTotals {
  /** Tells totals that go on from those that begin anew. */
  readonly startedAt: number
  readonly models: Readonly<Record<string, Usage>>
}

/** What is known since the last totals. Plain JSON, so that reading can resume later. */
export interface CostState {
  readonly totals: CostTotals
  /** Messages billed since, by key. */
  readonly bills: Readonly<Record<string, CountedBill>>
  readonly compaction?: PendingCompaction | undefined
  /** Something else was paid for as well that no line of this file tells of, or there is too much to keep. */
  readonly unclear?: true | undefined
  /** A subagent was started that may still be working when the turn is over. */
  readonly background?: true | undefined
}

interface CountedBill {
  readonly model: string
  readonly usage: Usage
}

interface PendingCompaction {
  readonly key: string
  readonly at?: string | undefined
  readonly workdir?: string | undefined
  readonly tokensBefore?: number | undefined
}

/** The bill of the request that made a compaction. */
export interface CompactionBill {
  readonly key: string
  readonly at: string | undefined
  readonly model: string
  readonly workdir: string | undefined
  readonly usage: Usage
}

/** How the bill of a compaction is named. */
export function compactionBillKey(key: string): string {
  return `compaction ${key}`
}

/** More messages between two totals are not kept. */
const MOST_BILLS = 500
/** A summary is made from the window, and the window is what it costs: more than this many times is something else. */
const LIKELY = 2

export function addReply(
  state: CostState | undefined,
  key: string,
  { usage, model = '', stopReason, blocks }: ReplyEntry,
): CostState | undefined {
  if (state === undefined) return undefined
  // What subagents cost is in the totals, and stands in their own files.
  const started = blocks.filter((block) => block.kind === 'tool-use' && SUBAGENTS.has(block.name))
  const isFull = Object.keys(state.bills).length >= MOST_BILLS
  const noted = {
    ...state,
    ...(isFull || started.length > 0 ? { unclear: true as const } : {}),
    ...(started.some(isBackground) ? { background: true as const } : {}),
  }
  // Of a reply that was cut off the client never learned what it cost.
  if (isFull || usage === undefined || stopReason === undefined) return noted
  return { ...noted, bills: { ...state.bills, [key]: { model, usage } } }
}

const SUBAGENTS: ReadonlySet<string> = new Set(['Agent', 'Task'])

function isBackground(block: Block): boolean {
  return block.kind === 'tool-use' && boolean(block.input, 'run_in_background') === true
}

export function addCompaction(
  state: CostState | undefined,
  entry: CompactionEntry,
  workdir: string | undefined,
): CostState | undefined {
  if (state === undefined) return undefined
  if (state.compaction !== undefined) return { ...state, unclear: true }
  const { tokensBefore } = entry.compaction
  return { ...state, compaction: { key: compactionKey(entry), at: entry.at, workdir, tokensBefore } }
}

/**
 * What the request of the compaction since the last totals cost: what the new ones have more than the messages between.
 * Nothing where that cannot be told for certain.
 */
export function billCompaction(state: CostState | undefined, totals: CostTotals): CompactionBill | undefined {
  if (state?.compaction === undefined || state.unclear || state.background) return undefined
  if (state.totals.startedAt !== totals.startedAt) return undefined
  const bills = Object.values(state.bills)
  if (bills.some(({ model }) => !Object.hasOwn(totals.models, model))) return undefined
  const rest = new Map<string, Usage>()
  for (const [model, usage] of Object.entries(totals.models)) {
    let known = state.totals.models[model] ?? NO_USAGE
    for (const bill of bills) if (bill.model === model) known = addUsage(known, bill.usage)
    const more = minus(usage, known)
    if (more.input !== 0 || more.output !== 0 || more.cacheRead !== 0 || more.cacheCreation !== 0)
      rest.set(model, more)
  }
  const [found, another] = rest
  if (found === undefined || another !== undefined) return undefined
  const [model, usage] = found
  const { key, at, workdir, tokensBefore } = state.compaction
  const given = usage.input + usage.cacheRead + usage.cacheCreation
  const isLikely = tokensBefore === undefined || given <= tokensBefore * LIKELY
  if (!isLikely || usage.output === 0 || Object.values(usage).some((tokens) => tokens < 0)) return undefined
  return { key: compactionBillKey(key), at, workdir, model, usage }
}

function minus(a: Usage, b: Usage): Usage {
  const cacheCreation = a.cacheCreation - b.cacheCreation
  // How long the cache lives is not said by every client.
  const part = (tokens: number): number => Math.max(0, Math.min(tokens, cacheCreation))
  return {
    input: a.input - b.input,
    output: a.output - b.output,
    cacheRead: a.cacheRead - b.cacheRead,
    cacheCreation,
    cacheCreation5m: part(a.cacheCreation5m - b.cacheCreation5m),
    cacheCreation1h: part(a.cacheCreation1h - b.cacheCreation1h),
  }
}

/** The same after new totals. */
export function withTotals(state: CostState | undefined, totals: CostTotals): CostState {
  return { totals, bills: {}, ...(state?.background === true ? { background: true } : {}) }
}

/** Our own JSON, but from a file that anything may have happened to. */
export function readCostState(value: unknown): CostState | undefined {
  const totals = readCostTotals(object(value, 'totals'))
  if (totals === undefined) return undefined
  const bills = Object.entries(object(value, 'bills') ?? {}).map(([key, bill]): [string, CountedBill] => [
    key,
    { model: string(bill, 'model') ?? '', usage: readUsageFields(object(bill, 'usage')) },
  ])
  const compaction = object(value, 'compaction')
  const key = string(compaction, 'key')
  return {
    totals,
    bills: Object.fromEntries(bills),
    ...(key === undefined
      ? {}
      : {
          compaction: {
            key,
            at: string(compaction, 'at'),
            workdir: string(compaction, 'workdir'),
            tokensBefore: number(compaction, 'tokensBefore'),
          },
        }),
    ...(boolean(value, 'unclear') === true ? { unclear: true } : {}),
    ...(boolean(value, 'background') === true ? { background: true } : {}),
  }
}

function readCostTotals(value: unknown): CostTotals | undefined {
  const startedAt = number(value, 'startedAt')
  const models = object(value, 'models')
  if (startedAt === undefined || models === undefined) return undefined
  const read = Object.entries(models).map(([model, usage]): [string, Usage] => [
    model,
    readUsageFields(usage),
  ])
  return { startedAt, models: Object.fromEntries(read) }
}

function readUsageFields(value: unknown): Usage {
  const count = (key: keyof Usage): number => (isObject(value) ? (number(value, key) ?? 0) : 0)
  return {
    input: count('input'),
    output: count('output'),
    cacheRead: count('cacheRead'),
    cacheCreation: count('cacheCreation'),
    cacheCreation5m: count('cacheCreation5m'),
    cacheCreation1h: count('cacheCreation1h'),
  }
}
