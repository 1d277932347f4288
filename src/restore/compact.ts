import type { Gaps } from './gaps.ts'
import { toMessages, toTurns, type CompactionRecord, type Entry, type Turn } from '#model'
import { toTurnExtract, type TurnExtract } from './extract.ts'
import { toTokenState } from './restore.ts'
import { toSaid, type Said } from './said.ts'
import { toFitting } from './fitting.ts'
import { countSaid } from './said-size.ts'
import { toSummary, withPlaces } from './summary.ts'
import { toTrimmed } from './trim.ts'

export interface CompactOptions {
  readonly id: string
  readonly sessionId: string
  readonly at: string
  /** Turns that stay word by word. Default: 10. */
  readonly keepTurns?: number | undefined
  /** How many tokens are few enough for shortening alone. Default: 100,000. */
  readonly goal?: number | undefined
  /** What the summary may take. Default: 8,000 tokens. */
  readonly budget?: number | undefined
  readonly countTokens: (text: string) => number
  /** Writes the summary; by default it is the draft, which is put together from what was said. */
  readonly summarise?: ((turns: readonly TurnExtract[], draft: string) => Promise<string>) | undefined
}

const KEEP_TURNS = 10
const GOAL = 100_000
const BUDGET = 8_000
/** Of the window that may be full before it is time: the next answer needs room too. */
const TRIGGER = 0.75

/** Whether it is time: by what is in the window now, never by what was billed. */
export function needsCompaction(context: number, window: number): boolean {
  return context >= window * TRIGGER
}

/** How many turns of a conversation are said to be old. At least one turn stays. */
function toCompactionBorder(turns: readonly Turn[], keepTurns: number = KEEP_TURNS): number {
  return Math.max(0, turns.length - Math.max(1, keepTurns))
}

/**
 * Compacts a conversation. What can be looked up again is shortened first; when that is not enough, old turns go into
 * a summary. The last turns stay word by word. Nothing when there is no old turn. Nothing is written here: whoever
 * writes the record down has compacted, and whoever takes it back has not.
 */
export async function toCompaction(
  entries: readonly Entry[],
  options: CompactOptions,
): Promise<CompactionRecord | undefined> {
  const turns = toTurns(toMessages(entries))
  const border = toCompactionBorder(turns, options.keepTurns)
  const first = turns[border]?.messages[0]
  if (border === 0 || first === undefined) return undefined
  const counted = countSaid(toSaid(entries), options.countTokens)
  const before = Math.max(toTokenState(entries).context, counted)
  const shortened = toShortened(entries, first.id, { ...options, before, turns: turns.length })
  // Whoever says how many turns are to stay wants the others in a summary.
  const mayShorten = options.keepTurns === undefined && shortened !== undefined && shortened.trims.length > 0
  if (mayShorten && shortened.tokens.after <= (options.goal ?? GOAL)) return shortened
  const extracts = turns.slice(0, border).map((turn, at) => toTurnExtract(turn, at + 1))
  const kept = entries.slice(entries.findIndex(({ id }) => id === first.id))
  return await toSummarised(extracts, kept, { ...options, before })
}

function toShortened(
  entries: readonly Entry[],
  verbatimFrom: string,
  options: CompactOptions & { readonly before: number; readonly turns: number },
): CompactionRecord | undefined {
  const [first] = entries
  const last = entries.at(-1)
  if (first === undefined || last === undefined) return undefined
  const { id, sessionId, at, before, turns, countTokens } = options
  const { said, trims } = toTrimmed(toSaid(entries), { sessionId, verbatimFrom })
  return {
    id,
    sessionId,
    at,
    upTo: last.id,
    keptFrom: first.id,
    verbatimFrom,
    turns: { summarised: 0, kept: turns },
    text: '',
    trims,
    tokens: { before, after: countSaid(said, countTokens) },
    by: 'trim',
  }
}

/**
 * A compaction of turns of which only the extracts are left, for those who read a session that does not fit in memory.
 * The turns that stay are word by word as far as there is room for them; what is too long is shortened, and what is
 * still too long is summarised too.
 */
export async function toSummarised(
  extracts: readonly TurnExtract[],
  kept: readonly Entry[],
  options: CompactOptions & { readonly before: number },
): Promise<CompactionRecord | undefined> {
  const { id, sessionId, at, countTokens, budget = BUDGET, before } = options
  const room = Math.max(options.goal ?? GOAL, GOAL) - budget
  const fitting = toFitting(kept, { sessionId, room, countTokens, known: extracts.length })
  const [first] = fitting.entries
  const last = kept.at(-1)
  if (first === undefined || last === undefined) return undefined
  const all = [...extracts, ...fitting.extracts]
  const draft = toSummary(all, { sessionId, budget, countTokens })
  const text =
    options.summarise === undefined
      ? draft
      : withPlaces(await options.summarise(all, draft), all, countTokens)
  return {
    id,
    sessionId,
    at,
    upTo: last.id,
    keptFrom: first.id,
    verbatimFrom: fitting.verbatimFrom,
    turns: { summarised: all.length, kept: toTurns(toMessages(fitting.entries)).length },
    text,
    trims: fitting.trims,
    tokens: { before, after: countTokens(text) + fitting.tokens },
    by: options.summarise === undefined ? 'extract' : 'agent',
  }
}

/** What a model is told when it goes on after a compaction: the summary, then what stayed and what came since. */
export function toCompactedSaid(record: CompactionRecord, entries: readonly Entry[], gaps?: Gaps): Said {
  const from = entries.findIndex(({ id }) => id === record.keptFrom)
  const kept = from < 0 ? entries : entries.slice(from)
  const whole = toSaid(kept, gaps && within(gaps, kept))
  const { said } = record.trims.length > 0 ? toTrimmed(whole, record) : { said: whole }
  if (record.text === '') return said
  const summary = {
    block: { kind: 'text', text: record.text } as const,
    exact: { type: 'text', text: record.text },
    origin: { entryId: record.keptFrom, index: 0 },
  }
  const [first, ...rest] = said.messages
  if (first?.role === 'user') {
    return { ...said, messages: [{ ...first, blocks: [summary, ...first.blocks] }, ...rest] }
  }
  return { ...said, messages: [{ role: 'user', blocks: [summary], provider: 'unknown' }, ...said.messages] }
}

/** What is missing in a part of a conversation. */
function within({ bridges, damage }: Gaps, kept: readonly Entry[]): Gaps {
  const ids = new Set(kept.map(({ id }) => id))
  const begin = kept[0]?.place.offset ?? 0
  return {
    bridges: bridges.filter(({ id }) => ids.has(id)),
    damage: damage.filter(({ offset }) => offset >= begin),
  }
}

/**
 * How much is in the window now: what the provider said of the last answer, or, as long as nothing was answered since a
 * compaction of ours, what that left and what was said since.
 */
export function toContextNow(
  entries: readonly Entry[],
  record: CompactionRecord | undefined,
  countTokens: (text: string) => number,
): number {
  const { context } = toTokenState(entries)
  const upTo = record === undefined ? -1 : entries.findIndex(({ id }) => id === record.upTo)
  if (record === undefined || upTo < 0) return context
  const since = entries.slice(upTo + 1)
  const isAnswered = since.some(
    (entry) =>
      (entry.kind === 'reply' && !entry.synthetic && entry.usage !== undefined) ||
      entry.kind === 'compaction',
  )
  return isAnswered ? context : record.tokens.after + countSaid(toSaid(since), countTokens)
}
