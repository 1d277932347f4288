import { createChain, type Chain } from './chain.ts'
import { endsAnswer, isWakeUpEntry, type Entry, type ReplyEntry } from './entry.ts'
import { billKey, createLedger, type UsageLedger } from './ledger.ts'
import { appendDamage, type Damage } from './place.ts'
import type { SessionFacts } from './session.ts'
import { finishSteps, type Steps } from './steps.ts'
import { addUsage, contextSize, NO_USAGE, type Usage } from './usage.ts'

/** Reads a whole session, entry by entry, and keeps only what its facts need: ids and counts, never bodies. */
export interface Survey {
  addLines(count: number): void
  addEntry(entry: Entry): void
  addDamage(damage: Damage): void
  /** An entry of one of the session's subagents: it costs tokens, and is no turn of the session. */
  addSubagentEntry(entry: Entry): void
  /** What was found so far. More may be added afterwards. */
  finish(): SurveyResult
  /** The same in steps that are short each. Nothing is added meanwhile. */
  finishing(): Steps<SurveyResult>
}

export interface SurveyResult {
  readonly facts: SessionFacts
  readonly chain: Chain
  readonly workdirs: readonly string[]
  /** Calls on the active path that have no result, oldest first. */
  readonly unanswered: readonly string[]
  /** Results on the active path whose call is nowhere in the file. */
  readonly orphans: readonly string[]
  readonly customTitle?: string
  readonly agentTitle?: string
}

/** What replies of one kind cost, by message, and who wrote them. */
interface Spent {
  readonly bills: Map<string, { readonly usage: Usage; readonly inherited: boolean }>
  readonly models: Set<string>
}

/**
 * `session` names the session in the ledger. Sessions that share a ledger are told apart: a message that was copied
 * from one surveyed before is inherited.
 */
export function createSurvey(session: string, ledger: UsageLedger = createLedger()): Survey {
  const chain = createChain()
  const own: Spent = { bills: new Map(), models: new Set() }
  /** Apart, so that the same is found in whatever order the files grow. */
  const delegated: Spent = { bills: new Map(), models: new Set() }
  const replies = new Set<string>()
  const calls = new Map<string, string>()
  const answers = new Map<string, string>()
  const workdirs = new Set<string>()
  const damage: Damage[] = []
  const unknownTypes = new Map<string, number>()
  let lines = 0
  let entries = 0
  let prompts = 0
  let turns = 0
  let compactions = 0
  let lastUsage: Usage | undefined
  /** Whether the answer before goes on, for agents whose lines do not say which they belong to. */
  let answering = false
  let customTitle: string | undefined
  let agentTitle: string | undefined

  function addReply(entry: ReplyEntry, { bills, models }: Spent): void {
    if (entry.synthetic) return
    if (entry.model !== undefined) models.add(entry.model)
    const inherited = ledger.add(entry, session) === 'inherited'
    if (entry.usage) bills.set(billKey(entry), { usage: entry.usage, inherited })
  }

  return {
    addLines(count) {
      lines += count
    },
    addDamage(range) {
      appendDamage(damage, range)
    },
    addSubagentEntry(entry) {
      if (entry.kind === 'reply') addReply(entry, delegated)
    },
    addEntry(entry) {
      entries++
      chain.add(entry)
      const goesOn = answering && entry.kind === 'reply' && entry.part !== undefined
      if (endsAnswer(entry)) answering = false
      if (entry.cwd !== undefined) workdirs.add(entry.cwd)
      switch (entry.kind) {
        case 'prompt':
          if (!isWakeUpEntry(entry)) prompts++
          if (!entry.midTurn) turns++
          break
        case 'reply':
          addReply(entry, own)
          if (entry.synthetic) break
          if (entry.part === 'item') answering = true
          if (!goesOn && entry.part !== 'end') replies.add(entry.messageId ?? entry.id)
          if (entry.usage) lastUsage = entry.usage
          for (const block of entry.blocks) if (block.kind === 'tool-use') calls.set(block.id, entry.id)
          break
        case 'result':
          for (const block of entry.blocks)
            if (block.kind === 'tool-result') answers.set(block.toolUseId, entry.id)
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
        case 'command':
        case 'interruption':
        case 'injection':
        case 'summary':
        case 'context':
        case 'notice':
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
    const onPath = new Set(done.path)
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
      unanswered: [...calls]
        .filter(([call, by]) => !answers.has(call) && onPath.has(by))
        .map(([call]) => call),
      orphans: [...answers].filter(([call, by]) => !calls.has(call) && onPath.has(by)).map(([, by]) => by),
      ...(customTitle === undefined ? {} : { customTitle }),
      ...(agentTitle === undefined ? {} : { agentTitle }),
    }
  }
}
