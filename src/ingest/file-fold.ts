import { isObject, list, number, parseJson, string } from '#base'
import {
  billKey,
  compactionKey,
  createTally,
  savedTokens,
  tallyDamage,
  tallyEntry,
  type Damage,
  type Entry,
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
  /** What holds until it is said anew, for agents whose bills name neither a model nor a folder. */
  setting: Setting
}

interface Setting {
  readonly model?: string | undefined
  readonly workdir?: string | undefined
}

/** More calls than this wait for a result only where results never came. */
const CALLS_KEPT = 200

export function createFileFold(): FileFold {
  return { tally: createTally(), calls: new Map(), workdirs: new Set(), compactions: new Map(), setting: {} }
}

/** Takes readings in; what the index wants of them comes out. */
export function foldReadings(
  fold: FileFold,
  readings: readonly Reading[],
  out: { readonly entries: EntryRow[]; readonly bills: Map<string, BillRow> },
): number {
  let characters = 0
  for (const reading of readings) {
    if (reading.kind === 'damage') {
      tallyDamage(fold.tally, reading.damage)
      continue
    }
    const { entry } = reading
    tallyEntry(fold.tally, entry)
    if (entry.cwd !== undefined) fold.workdirs.add(entry.cwd)
    if (entry.kind === 'record' && entry.type === 'relocated' && entry.value !== undefined) {
      fold.workdirs.add(entry.value)
    }
    if (entry.kind === 'compaction') {
      const key = compactionKey(entry)
      const workdir = entry.cwd ?? fold.setting.workdir
      const tokens = savedTokens(entry.compaction)
      fold.compactions.set(key, { key, at: toMs(entry.at), workdir, tokens })
    }
    if (entry.kind === 'record' && entry.type === 'turn_context') {
      fold.setting = { model: entry.value ?? fold.setting.model, workdir: entry.cwd ?? fold.setting.workdir }
    }
    const bill = toBill(entry, fold.setting)
    if (bill !== undefined) {
      // The last line of a message has its final figures; a line in between may lack them.
      out.bills.delete(bill.key)
      out.bills.set(bill.key, bill)
    }
    const row = toRow(entry, fold.calls)
    if (row === undefined) continue
    out.entries.push(row)
    const { said, thought, tool } = row.text
    characters += (said?.length ?? 0) + (thought?.length ?? 0) + (tool?.length ?? 0)
  }
  return characters
}

function toBill(entry: Entry, setting: Setting): BillRow | undefined {
  if (entry.kind !== 'reply' || entry.synthetic || entry.usage === undefined) return undefined
  return {
    key: billKey(entry),
    at: toMs(entry.at),
    model: entry.model ?? setting.model,
    workdir: entry.cwd ?? setting.workdir,
    usage: entry.usage,
  }
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
  return { ...rest, tool: named, kind: entry.kind, at: toMs(entry.at), offset, length }
}

function toMs(at: string | undefined): number | undefined {
  if (at === undefined) return undefined
  const ms = Date.parse(at)
  return Number.isNaN(ms) ? undefined : ms
}

export function toFoldJson({ tally, calls, compactions, setting }: FileFold): string {
  return JSON.stringify({
    tally,
    calls: [...calls],
    ...(compactions.size === 0 ? {} : { compactions: [...compactions.values()] }),
    ...(setting.model === undefined && setting.workdir === undefined ? {} : { setting }),
  })
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
    setting: readSetting(isObject(value) ? value['setting'] : undefined),
  }
}

function readSetting(value: unknown): Setting {
  return { model: string(value, 'model'), workdir: string(value, 'workdir') }
}

function readCompactionRow(value: unknown): readonly [string, CompactionRow] {
  const key = string(value, 'key') ?? ''
  const tokens = number(value, 'tokens') ?? 0
  return [key, { key, at: number(value, 'at'), workdir: string(value, 'workdir'), tokens }]
}

function readTally(value: unknown): Tally {
  const count = (key: string): number => number(value, key) ?? 0
  return {
    lines: count('lines'),
    entries: count('entries'),
    prompts: count('prompts'),
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
