import {
  isCopied,
  toPassages,
  toTurns,
  type CopiedFrom,
  type Message,
  type Passage,
  type Reading,
  type Usage,
} from '#model'
import { addUsage, contextSize, NO_USAGE } from '#model'
import type { BranchPath } from '#wire'

/** A line of the conversation view. */
export type ConversationItem =
  | { readonly kind: 'passage'; readonly key: string; readonly passage: Passage }
  /** What a turn cost, at its end. */
  | { readonly kind: 'turn-end'; readonly key: string; readonly turn: TurnEnd }
  /** Where the conversation was taken up again differently. */
  | { readonly kind: 'fork'; readonly key: string; readonly branches: readonly BranchPath[] }
  /** Up to here everything was copied from another session. */
  | { readonly kind: 'copied'; readonly key: string; readonly from: CopiedFrom }
  | { readonly kind: 'day'; readonly key: string; readonly at: string }

export interface TurnEnd {
  readonly usage: Usage
  readonly contextTokens: number | undefined
  readonly toolCalls: number
  readonly ms: number | undefined
}

/** Passages of a window, those that did not change being the same objects as before. */
export function createPassageList(): (readings: readonly Reading[]) => readonly Passage[] {
  let known = new Map<string, Passage>()
  return (readings) => {
    const passages = toPassages(readings, undefined).map((passage) => {
      const before = known.get(keyOf(passage))
      return before !== undefined && isSame(before, passage) ? before : passage
    })
    known = new Map(passages.map((passage) => [keyOf(passage), passage]))
    return passages
  }
}

export function keyOf(passage: Passage): string {
  return passage.kind === 'damage' ? `damage ${passage.damage.offset}` : passage.id
}

/** Where a passage begins in its file. */
export function offsetOf(passage: Passage): number {
  return passage.kind === 'damage' ? passage.damage.offset : (passage.entries[0]?.place.offset ?? 0)
}

function isSame(one: Passage, other: Passage): boolean {
  if (one.kind === 'damage' || other.kind === 'damage') {
    return one.kind === other.kind && JSON.stringify(one) === JSON.stringify(other)
  }
  return (
    one.entries.length === other.entries.length &&
    one.entries.every((entry, at) => entry === other.entries[at])
  )
}

/** Whether an offset is on a branch's own way. */
export function isOwn(branch: BranchPath, offset: number): boolean {
  return branch.own.some(([from, to]) => offset >= from && offset < to)
}

/**
 * What of a window is shown when this branch is chosen (`undefined`: the active one), with the forks between and the
 * cost of each turn behind it.
 */
export function toItems(
  passages: readonly Passage[],
  branches: readonly BranchPath[],
  chosen: BranchPath | undefined,
  copied?: CopiedEnd,
): readonly ConversationItem[] {
  const shown = passages.filter((passage) => isShown(passage, branches, chosen))
  const ends = turnEnds(shown)
  const items: ConversationItem[] = []
  const keys = new Set<string>()
  let day = ''
  let isBehind = false
  for (const passage of shown) {
    const at = passage.kind === 'damage' ? undefined : passage.at
    if (copied !== undefined && at !== undefined) {
      const isOfOrigin = isCopied({ copiedFrom: copied.from }, at)
      if (isBehind && !isOfOrigin) items.push(toCopiedItem(copied.from))
      isBehind = isOfOrigin
    }
    const today = at === undefined ? day : new Date(at).toDateString()
    if (at !== undefined && today !== day) items.push({ kind: 'day', key: `day ${at}`, at })
    day = today
    // Two lines of a damaged file may have one id.
    const key = keys.has(keyOf(passage)) ? `${keyOf(passage)} ${offsetOf(passage)}` : keyOf(passage)
    keys.add(key)
    items.push({ kind: 'passage', key, passage })
    const end = ends.get(passage)
    if (end !== undefined) items.push({ kind: 'turn-end', key: `end ${keyOf(passage)}`, turn: end })
    const forks = branches.filter(({ forkOffset }) => forkOffset !== undefined && holds(passage, forkOffset))
    if (forks.length > 0) items.push({ kind: 'fork', key: `fork ${keyOf(passage)}`, branches: forks })
  }
  if (copied !== undefined && copied.atEnd && isBehind) items.push(toCopiedItem(copied.from))
  return items
}

/** What a session was copied from, and whether the window reaches to its end. */
export interface CopiedEnd {
  readonly from: CopiedFrom
  readonly atEnd: boolean
}

function toCopiedItem(from: CopiedFrom): ConversationItem {
  return { kind: 'copied', key: `copied ${from.id}`, from }
}

function holds(passage: Passage, offset: number): boolean {
  return passage.kind !== 'damage' && passage.entries.some(({ place }) => place.offset === offset)
}

function isShown(passage: Passage, branches: readonly BranchPath[], chosen: BranchPath | undefined): boolean {
  const offset = offsetOf(passage)
  if (chosen === undefined) return !branches.some((branch) => isOwn(branch, offset))
  if (isOwn(chosen, offset)) return true
  if (chosen.forkOffset !== undefined && offset > chosen.forkOffset) return false
  return !branches.some((branch) => isOwn(branch, offset))
}

/** The last passage of every turn that has one after it, and of the last turn once it has an answer. */
function turnEnds(passages: readonly Passage[]): ReadonlyMap<Passage, TurnEnd> {
  const messages = passages.filter((passage): passage is Message => passage.kind !== 'damage')
  const ends = new Map<Passage, TurnEnd>()
  for (const turn of toTurns(messages)) {
    const last = turn.messages.findLast(({ kind }) => kind === 'reply')
    if (last === undefined) continue
    let usage = NO_USAGE
    let contextTokens: number | undefined
    for (const message of turn.messages) {
      if (message.kind !== 'reply' || message.usage === undefined || message.synthetic) continue
      usage = addUsage(usage, message.usage)
      contextTokens = contextSize(message.usage)
    }
    if (contextTokens === undefined) continue
    const [from, to] = [Date.parse(turn.startedAt ?? ''), Date.parse(turn.endedAt ?? '')]
    const ms = Number.isNaN(to - from) ? undefined : to - from
    ends.set(last, { usage, contextTokens, toolCalls: turn.toolCalls, ms })
  }
  return ends
}
