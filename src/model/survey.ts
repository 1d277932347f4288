import { createChain, type Chain } from './chain.ts'
import { callKeysOf, type Entry } from './entry.ts'
import { BEFORE_ANSWERS, createAnswerTracker } from './answers.ts'
import { createBilling, type Billing } from './billing.ts'
import { createLedger, type UsageLedger } from './ledger.ts'
import { appendDamage, type Damage } from './place.ts'
import type { SessionFacts } from './session.ts'
import { createQueueTracker } from './queue.ts'
import { finishSteps, type Steps } from './steps.ts'
import { addUsage, contextSize, NO_USAGE, type Usage } from './usage.ts'

/** Reads a whole session, entry by entry, and keeps only what its facts need: ids and counts, never bodies. */
export interface Survey {
  addLines(count: number): void
  addEntry(entry: Entry): void
  addDamage(damage: Damage): void
  /** An entry of one of the session's subagents: it costs tokens, and is no turn of the session. `path` names its file. */
  addSubagentEntry(entry: Entry, path: string): void
  /** What was found so far. More may be added afterwards. */
  finish(): SurveyResult
  /** The same in steps that are short each. Nothing is added meanwhile. */
  finishing(): Steps<SurveyResult>
}

export interface SurveyResult {
  readonly facts: SessionFacts
  readonly chain: Chain
  readonly workdirs: readonly string[]
  readonly customTitle?: string
  readonly agentTitle?: string
}

/** What replies of one kind cost, by message, and who wrote them. */
interface Account {
  readonly bills: Map<string, { readonly usage: Usage; readonly inherited: boolean }>
  readonly models: Set<string>
}

/**
 * `session` names the session in the ledger. Sessions that share a ledger are told apart: a message that was copied
 * from one surveyed before is inherited.
 */
export function createSurvey(session: string, ledger: UsageLedger = createLedger()): Survey {
  const chain = createChain()
  const own: Account = { bills: new Map(), models: new Set() }
  /** Apart, so that the same is found in whatever order the files grow. */
  const delegated: Account = { bills: new Map(), models: new Set() }
  const billing = createBilling()
  const delegatedBillings = new Map<string, Billing>()
  const answers = createAnswerTracker(BEFORE_ANSWERS)
  const queue = createQueueTracker()
  const replies = new Set<string>()
  const calls = new Set<string>()
  const workdirs = new Set<string>()
  const damage: Damage[] = []
  const unknownTypes = new Map<string, number>()
  let lines = 0
  let entries = 0
  let prompts = 0
  let turns = 0
  let compactions = 0
  let lastUsage: Usage | undefined
  let customTitle: string | undefined
  let agentTitle: string | undefined

  /** What the entry cost, if it is a bill. */
  function addBill(entry: Entry, by: Billing, { bills, models }: Account): Usage | undefined {
    if (entry.kind === 'reply' && !entry.synthetic && entry.model !== undefined) models.add(entry.model)
    const bill = by.add(entry)
    if (bill === undefined) return undefined
    const inherited = ledger.add(bill, session) === 'inherited'
    if (bill.usage) bills.set(bill.key, { usage: bill.usage, inherited })
    // The request that made a summary had a window that is no more.
    return bill.isCompaction ? undefined : bill.usage
  }

  return {
    addLines(count) {
      lines += count
    },
    addDamage(range) {
      appendDamage(damage, range)
    },
    addSubagentEntry(entry, path) {
      const known = delegatedBillings.get(path) ?? createBilling()
      delegatedBillings.set(path, known)
      addBill(entry, known, delegated)
    },
    addEntry(entry) {
      entries++
      chain.add(entry)
      // A subagent costs tokens, and has a window of its own.
      if (entry.kind === 'delegated') addBill(entry.work, billing, delegated)
      else lastUsage = addBill(entry, billing, own) ?? lastUsage
      const step = answers.add(entry)
      for (const { isPrompt } of queue.add(entry)) if (isPrompt) prompts--
      if (entry.cwd !== undefined) workdirs.add(entry.cwd)
      switch (entry.kind) {
        case 'prompt':
          if (entry.origin !== 'system') prompts++
          if (!entry.midTurn) turns++
          break
        case 'reply':
          if (entry.synthetic) break
          if (entry.part === undefined || step === 'begins') replies.add(entry.messageId ?? entry.id)
          for (const key of callKeysOf(entry)) calls.add(key)
          break
        case 'compaction':
          compactions++
          break
        case 'record':
          if (entry.type === 'custom-title') customTitle = entry.value ?? customTitle
          else if (entry.type === 'ai-title') agentTitle = entry.value ?? agentTitle
          else if (entry.type === 'turn_context' && entry.value !== undefined) own.models.add(entry.value)
          else if (entry.type === 'relocated' && entry.value !== undefined) workdirs.add(entry.value)
          break
        case 'unknown':
          unknownTypes.set(entry.type, (unknownTypes.get(entry.type) ?? 0) + 1)
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
    },
    finish: () => finishSteps(finishing()),
    finishing,
  }

  function* finishing(): Steps<SurveyResult> {
    const done = yield* chain.finishing()
    yield
    let usage = NO_USAGE
    let inherited = NO_USAGE
    for (const bill of new Map([...own.bills, ...delegated.bills]).values()) {
      usage = addUsage(usage, bill.usage)
      if (bill.inherited) inherited = addUsage(inherited, bill.usage)
    }
    return {
      facts: {
        lines,
        entries,
        prompts,
        replies: replies.size,
        toolCalls: calls.size,
        turns,
        compactions,
        branches: done.branches.length,
        models: [...new Set([...own.models, ...delegated.models])],
        usage,
        inherited,
        ...(lastUsage === undefined ? {} : { contextTokens: contextSize(lastUsage) }),
        damage: [...damage],
        unknownTypes: Object.fromEntries(unknownTypes),
      },
      chain: done,
      workdirs: [...workdirs],
      ...(customTitle === undefined ? {} : { customTitle }),
      ...(agentTitle === undefined ? {} : { agentTitle }),
    }
  }
}
