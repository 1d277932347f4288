import { field, isObject, list, number, parseJson, string } from '#base'
import {
  BEFORE_ANSWERS,
  createAnswerTracker,
  createBilling,
  createQueueTracker,
  createTally,
  readCostState,
  toCompactionFact,
  tallyDamage,
  tallyEntry,
  workOf,
  type AnswerState,
  type AnswerTracker,
  type Bill,
  type Billing,
  type BillSetting,
  type Damage,
  type Entry,
  type QueuedWords,
  type QueueTracker,
  type Reading,
  type Tally,
} from '#model'
import { toSearchText, type BillRow, type CompactionRow, type EntryRow } from '#store'

/** What is carried from one piece of a transcript to the next. */
export interface FileFold {
  readonly tally: Tally
  /** Names of tools whose result has not come yet, by the id of the call. */
  readonly calls: Map<string, string>
  readonly workdirs: Set<string>
  /** By their keys. */
  readonly compactions: Map<string, CompactionRow>
  readonly billing: Billing
  readonly answers: AnswerTracker
  readonly queue: QueueTracker
  /** Keys of bills that are no replies of the session: of subagents in its file, and of requests that made summaries. */
  readonly noReplies: Set<string>
  /** What is wrong with a last line that cannot be read: it is counted, and read again when it has gone on. */
  torn?: readonly Damage[] | undefined
}

/** More calls than this wait for a result only where results never came. */
const CALLS_KEPT = 200

export function createFileFold(): FileFold {
  return {
    tally: createTally(),
    calls: new Map(),
    workdirs: new Set(),
    compactions: new Map(),
    billing: createBilling(),
    answers: createAnswerTracker(BEFORE_ANSWERS),
    queue: createQueueTracker(),
    noReplies: new Set(),
  }
}

/** What the index is told of a file. */
export interface FoldedRows {
  readonly entries: EntryRow[]
  readonly bills: Map<string, BillRow>
  /** Offsets of entries that it was told before, and that another one stands for now. */
  readonly replaced: number[]
}

/** Takes readings in; what the index wants of them comes out. */
export function foldReadings(fold: FileFold, readings: readonly Reading[], out: FoldedRows): number {
  let characters = 0
  for (const reading of readings) {
    if (reading.kind === 'damage') {
      tallyDamage(fold.tally, reading.damage)
      continue
    }
    const { entry } = reading
    const delivered = fold.queue.add(entry)
    tallyEntry(fold.tally, entry, { step: fold.answers.add(entry), delivered })
    for (const { offset } of delivered) replace(offset, out)
    if (entry.cwd !== undefined) fold.workdirs.add(entry.cwd)
    if (entry.kind === 'record' && entry.type === 'relocated' && entry.value !== undefined) {
      fold.workdirs.add(entry.value)
    }
    if (entry.kind === 'compaction') {
      const fact = toCompactionFact(entry)
      const workdir = entry.cwd ?? fold.billing.setting.workdir
      fold.compactions.set(fact.key, { ...fact, at: toMs(entry.at), workdir })
    }
    const found = fold.billing.add(entry)
    const bill = found && toBill(entry, found)
    if (bill !== undefined) {
      // The last line of a message has its final figures; a line in between may lack them.
      out.bills.delete(bill.key)
      out.bills.set(bill.key, bill)
      if (entry.kind === 'delegated' || found?.isCompaction) fold.noReplies.add(bill.key)
    }
    const row = toRow(entry, fold.calls)
    if (row === undefined) continue
    out.entries.push(row)
    const { said, thought, tool } = row.text
    characters += (said?.length ?? 0) + (thought?.length ?? 0) + (tool?.length ?? 0)
  }
  return characters
}

/** What was queued is found where it was delivered. */
function replace(offset: number, { entries, replaced }: FoldedRows): void {
  const known = entries.findIndex((row) => row.offset === offset)
  if (known >= 0) entries.splice(known, 1)
  else replaced.push(offset)
}

function toBill(entry: Entry, { key, usage, model, workdir, at = entry.at }: Bill): BillRow | undefined {
  return usage && { key, at: toMs(at), model, workdir, usage }
}

function toRow(entry: Entry, calls: Map<string, string>): EntryRow | undefined {
  const found = toSearchText(entry)
  if (found === undefined) return undefined
  const { callIds, tool, ...rest } = found
  let named = tool
  for (const id of callIds) {
    if (tool !== undefined) {
      calls.set(id, tool)
      const [oldest] = calls.keys()
      if (calls.size > CALLS_KEPT && oldest !== undefined) calls.delete(oldest)
    } else {
      named ??= calls.get(id)
      calls.delete(id)
    }
  }
  const { offset, length } = entry.place
  return { ...rest, tool: named, kind: workOf(entry).kind, at: toMs(entry.at), offset, length }
}

function toMs(at: string | undefined): number | undefined {
  if (at === undefined) return undefined
  const ms = Date.parse(at)
  return Number.isNaN(ms) ? undefined : ms
}

/** What was tallied, with a last line that cannot be read. */
export function tallyOf({ tally, torn }: FileFold): Tally {
  if (torn === undefined) return tally
  const whole = { ...tally, lines: tally.lines + 1, damage: [...tally.damage] }
  for (const damage of torn) tallyDamage(whole, damage)
  return whole
}

export function toFoldJson(fold: FileFold): string {
  const { tally, calls, compactions, billing, answers, queue, noReplies, torn } = fold
  // As it is read again: the same state gives the same text, however it came about.
  const setting = readSetting(billing.setting)
  const state = readAnswers(answers.state)

  return JSON.stringify({
    tally,
    calls: [...calls],
    ...(compactions.size === 0 ? {} : { compactions: [...compactions.values()] }),
    ...(isBlank(setting) ? {} : { setting }),
    ...(isBlank(state) ? {} : { answers: state }),
    ...(queue.state.waiting === undefined ? {} : { queue: queue.state.waiting }),
    ...(noReplies.size === 0 ? {} : { noReplies: [...noReplies] }),
    ...(torn === undefined ? {} : { torn }),
  })
}

function isBlank(state: object): boolean {
  return Object.values(state).every((value) => value === undefined || value === '')
}

/** Takes a fold up again. Our own JSON, but from a file that anything may have happened to. */
export function readFold(json: string, workdirs: readonly string[]): FileFold {
  const value = parseJson(json)
  const calls = new Map<string, string>()
  for (const call of list(value, 'calls')) {
    if (!Array.isArray(call)) continue
    const [id, name] = call
    if (typeof id === 'string' && typeof name === 'string') calls.set(id, name)
  }
  return {
    tally: readTally(isObject(value) ? value['tally'] : undefined),
    calls,
    workdirs: new Set(workdirs),
    compactions: new Map(list(value, 'compactions').map((one) => readCompactionRow(one))),
    answers: createAnswerTracker(readAnswers(isObject(value) ? value['answers'] : undefined)),
    billing: createBilling(readSetting(isObject(value) ? value['setting'] : undefined)),
    queue: createQueueTracker({ waiting: list(value, 'queue').flatMap(readQueuedWords) }),
    noReplies: new Set(list(value, 'noReplies').filter((key) => typeof key === 'string')),
    torn: isObject(value) && Array.isArray(value['torn']) ? list(value, 'torn').filter(isDamage) : undefined,
  }
}

function readSetting(value: unknown): BillSetting {
  return {
    model: string(value, 'model'),
    workdir: string(value, 'workdir'),
    thread: string(value, 'thread'),
    turn: string(value, 'turn'),
    copied: field(value, 'copied') === true || undefined,
    cost: readCostState(field(value, 'cost')),
    ...readSums(value),
  }
}

function readSums(value: unknown): Pick<AnswerState, 'sum' | 'billed'> {
  const billed = list(value, 'billed').filter((each) => typeof each === 'string')
  return { sum: string(value, 'sum'), billed: billed.length === 0 ? undefined : billed }
}

function readAnswers(value: unknown): AnswerState {
  const last = string(value, 'last')
  const waiting = string(value, 'waiting')
  const { sum = BEFORE_ANSWERS.sum, billed } = readSums(value)
  return {
    sum,
    billed,
    open: field(value, 'open') === true || undefined,
    last: last === 'unbilled' || last === 'guessed' || last === 'billed' ? last : undefined,
    waiting: waiting === 'guessed' || waiting === 'billed' ? waiting : undefined,
  }
}

function readQueuedWords(value: unknown): readonly QueuedWords[] {
  const [id, words, offset] = [string(value, 'id'), string(value, 'words'), number(value, 'offset')]
  if (id === undefined || words === undefined || offset === undefined) return []
  const isPrompt = field(value, 'isPrompt') === true
  return [{ id, offset, words, isPrompt, ...(field(value, 'isWithdrawn') === true && { isWithdrawn: true }) }]
}

function readCompactionRow(value: unknown): readonly [string, CompactionRow] {
  const key = string(value, 'key') ?? ''
  const tokens = number(value, 'tokens')
  const unseen = field(value, 'unseen') === true ? { unseen: true as const } : {}
  const row = { key, at: number(value, 'at'), workdir: string(value, 'workdir'), ...unseen }
  return [key, tokens === undefined ? row : { ...row, tokens }]
}

function readTally(value: unknown): Tally {
  const count = (key: string): number => number(value, key) ?? 0
  return {
    lines: count('lines'),
    entries: count('entries'),
    prompts: count('prompts'),
    answers: count('answers'),
    toolCalls: count('toolCalls'),
    turns: count('turns'),
    compactions: count('compactions'),
    unknown: count('unknown'),
    contextTokens: number(value, 'contextTokens') ?? null,
    damage: list(value, 'damage').filter(isDamage),
    moreDamage: count('moreDamage'),
  }
}

function isDamage(value: unknown): value is Damage {
  return (
    isObject(value) &&
    typeof value['offset'] === 'number' &&
    typeof value['length'] === 'number' &&
    typeof value['reason'] === 'string'
  )
}
