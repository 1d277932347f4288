import type { AnswerStep } from './answers.ts'
import { callKeysOf, type Entry } from './entry.ts'
import { appendDamage, type Damage } from './place.ts'
import type { QueuedWords } from './queue.ts'
import type { SessionFacts } from './session.ts'
import { contextSize, NO_USAGE, type Usage } from './usage.ts'

/** How much there is in a session. Kept up as it grows: one more line costs one line. */
export interface SessionCounts {
  readonly lines: number
  readonly entries: number
  readonly prompts: number
  /** Messages of the model, each counted once however many lines it has. */
  readonly replies: number
  readonly toolCalls: number
  readonly turns: number
  readonly compactions: number
  /** Ranges of bytes that hold no readable record. */
  readonly damaged: number
  /** Lines of types nobody knows yet. */
  readonly unknown: number
  /** Billed in all, subagents included, each message once. */
  readonly usage: Usage
  /** How full the model's window was at the last reply. */
  readonly contextTokens?: number | undefined
}

/** Counts entry by entry, and can be put down as JSON and taken up again. */
export interface Tally {
  lines: number
  entries: number
  prompts: number
  /** Of agents whose bills do not name answers. */
  answers: number
  toolCalls: number
  turns: number
  compactions: number
  unknown: number
  contextTokens: number | null
  damage: Damage[]
  /** Ranges beyond those that are kept. */
  moreDamage: number
}

export function createTally(): Tally {
  return {
    lines: 0,
    entries: 0,
    prompts: 0,
    answers: 0,
    toolCalls: 0,
    turns: 0,
    compactions: 0,
    unknown: 0,
    contextTokens: null,
    damage: [],
    moreDamage: 0,
  }
}

/** Ranges of damage that are kept with their place. */
const DAMAGE_KEPT = 100

export function tallyDamage(tally: Tally, damage: Damage): void {
  appendDamage(tally.damage, damage)
  if (tally.damage.length <= DAMAGE_KEPT) return
  // The last one may still grow; the one before it is the one too many.
  tally.damage.splice(-2, 1)
  tally.moreDamage++
}

/** What of the entries before it this one says again. */
export interface TallyContext {
  readonly step: AnswerStep
  readonly delivered: readonly QueuedWords[]
}

export function tallyEntry(tally: Tally, entry: Entry, { step, delivered }: TallyContext): void {
  for (const { isPrompt } of delivered) if (isPrompt) tally.prompts--
  tally.entries++
  if (step === 'begins') tally.answers++
  switch (entry.kind) {
    case 'prompt':
      if (entry.origin !== 'system') tally.prompts++
      if (!entry.midTurn) tally.turns++
      break
    case 'reply':
      tally.toolCalls += callKeysOf(entry).length
      if (entry.usage && !entry.synthetic) tally.contextTokens = contextSize(entry.usage)
      break
    case 'compaction':
      tally.compactions++
      break
    case 'unknown':
      tally.unknown++
      break
    case 'record':
      if (entry.spent !== undefined) tally.contextTokens = contextSize(entry.spent.usage)
      break
    case 'result':
    case 'command':
    case 'interruption':
    case 'injection':
    case 'summary':
    case 'context':
    case 'notice':
    case 'delegated':
    case 'oversize':
      break
  }
}

/** The counts of a session: what was tallied, and what its bills come to. */
export function toCounts(
  tally: Tally,
  billed: { readonly replies: number; readonly usage: Usage } = { replies: 0, usage: NO_USAGE },
): SessionCounts {
  const { damage, moreDamage, contextTokens, answers, ...counted } = tally
  return {
    ...counted,
    usage: billed.usage,
    replies: answers > 0 ? answers : billed.replies,
    damaged: damage.length + moreDamage,
    ...(contextTokens === null ? {} : { contextTokens }),
  }
}

/** The counts that a full read gives as well. */
export function factsToCounts(facts: SessionFacts): SessionCounts {
  const { lines, entries, prompts, replies, toolCalls, turns, compactions, usage, contextTokens } = facts
  return {
    lines,
    entries,
    prompts,
    replies,
    toolCalls,
    turns,
    compactions,
    damaged: facts.damage.length,
    unknown: Object.values(facts.unknownTypes).reduce((sum, count) => sum + count, 0),
    usage,
    ...(contextTokens === undefined ? {} : { contextTokens }),
  }
}
