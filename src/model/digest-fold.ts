import { textOf } from './block.ts'
import type { Chain } from './chain.ts'
import { createBilling } from './billing.ts'
import { createToolFold, toFirstLine } from './digest-tools.ts'
import type { BranchPath, Digest, OutlinePoint } from './digest.ts'
import { callKeysOf, type Entry, type PromptEntry, type ReplyEntry } from './entry.ts'
import { appendDamage, type Damage, type Place } from './place.ts'
import { createQueueTracker } from './queue.ts'
import type { Reading } from './reading.ts'
import type { SessionFacts } from './session.ts'
import { createSurvey } from './survey.ts'
import { finishSteps, type Steps } from './steps.ts'
import { contextSize } from './usage.ts'

/** Reads a whole session once and keeps what its digest needs: ids, places and first lines, never bodies. */
export interface DigestFold {
  addLines(count: number): void
  /** In file order. */
  add(reading: Reading): void
  /** Of one of the session's subagents, whose file `path` names. */
  addSubagent(reading: Reading, path: string): void
  /**
   * The digest of what was added so far. More may be added afterwards. `tail` is a last line that cannot be read: it
   * is in this digest, and not in what is kept.
   */
  finish(tail?: readonly Damage[]): Digest
  /** The same in steps that are short each. Nothing is added meanwhile. */
  finishing(tail?: readonly Damage[]): Steps<Digest>
}

type Writable<T> = { -readonly [Key in keyof T]: T[Key] }
type PromptPoint = Writable<Extract<OutlinePoint, { kind: 'prompt' }>>
type CompactionPoint = Extract<OutlinePoint, { kind: 'compaction' }>

const LONGEST_LINE = 160

/** What an outline has of a prompt: its first line, cut. */
export function toPromptLine(text: string): string {
  return toFirstLine(text, LONGEST_LINE)
}

/** `session` is the id of the session. */
export function createDigestFold(session: string): DigestFold {
  const survey = createSurvey(session)
  const queue = createQueueTracker()
  const tools = createToolFold()
  /** By id: a line that was written twice counts where it was written last. */
  const points = new Map<string, PromptPoint | CompactionPoint>()
  const bills = new Map<string, { readonly point: PromptPoint; tokens: number }>()
  const billing = createBilling()
  const calls = new Set<string>()
  const spots = new Map<string, Spot>()
  const words = new Map<string, Words>()
  let current: PromptPoint | undefined

  function addPrompt(entry: PromptEntry): void {
    const text = toPromptLine(textOf(entry.blocks))
    words.set(entry.id, { text, isPrompt: true })
    // Reports that nobody said are no places that somebody looks for.
    if (entry.origin === 'system') return
    const known = points.get(entry.id)
    const fresh = known?.kind === 'prompt' ? known : { tokens: 0, toolCalls: 0 }
    const { id, at } = entry
    const point = Object.assign(fresh, { kind: 'prompt' as const, id, at, offset: entry.place.offset, text })
    points.delete(id)
    points.set(id, point)
    // What comes next is the answer to the prompt before it, as long as it waits.
    if (entry.queued !== true) current = point
  }

  function addReply(entry: ReplyEntry): void {
    const said = entry.blocks.find((block) => block.kind === 'text')
    if (said !== undefined)
      words.set(entry.id, { text: toFirstLine(said.text, LONGEST_LINE), isPrompt: false })
    if (entry.synthetic) return
    for (const block of entry.blocks) if (block.kind === 'tool-use') tools.call(block, entry)
    for (const key of callKeysOf(entry)) {
      if (calls.has(key)) continue
      calls.add(key)
      if (current !== undefined) current.toolCalls++
    }
  }

  function addBill(entry: Entry): void {
    const { key, usage, isCompaction } = billing.add(entry) ?? {}
    if (isCompaction) return
    if (key === undefined || usage === undefined || current === undefined) return
    const bill = bills.get(key) ?? { point: current, tokens: 0 }
    bills.set(key, bill)
    // All lines of a message repeat its usage, and the last one has the final figures.
    const tokens = contextSize(usage)
    bill.point.tokens += tokens - bill.tokens
    bill.tokens = tokens
    current.contextTokens = tokens
  }

  function addEntry(entry: Entry): void {
    survey.addEntry(entry)
    for (const { id } of queue.add(entry)) {
      points.delete(id)
      words.delete(id)
    }
    // What a subagent costs is no part of the turn, whose window it does not fill.
    if (entry.kind !== 'delegated') addBill(entry)
    if (entry.link !== undefined) spots.set(entry.id, { place: entry.place, at: entry.at })
    if (entry.kind === 'prompt') addPrompt(entry)
    else if (entry.kind === 'reply') addReply(entry)
    else if (entry.kind === 'result') {
      const isDenied = entry.decision?.outcome === 'rejected'
      for (const block of entry.blocks) if (block.kind === 'tool-result') tools.answer(block, isDenied)
    } else if (entry.kind === 'compaction') {
      const { trigger, tokensBefore, tokensAfter } = entry.compaction
      const { id, at } = entry
      points.delete(id)
      points.set(id, {
        kind: 'compaction',
        id,
        at,
        offset: entry.place.offset,
        trigger,
        tokensBefore,
        tokensAfter,
      })
    }
  }

  return {
    addLines: (count) => survey.addLines(count),
    add(reading) {
      if (reading.kind === 'entry') addEntry(reading.entry)
      else survey.addDamage(reading.damage)
    },
    addSubagent(reading, path) {
      if (reading.kind === 'entry') survey.addSubagentEntry(reading.entry, path)
    },
    finish: (tail) => finishSteps(finishing(tail)),
    finishing,
  }

  function* finishing(tail: readonly Damage[] = []): Steps<Digest> {
    const { facts: whole, chain } = yield* survey.finishing()
    const facts = withTail(whole, tail)
    yield
    const isOffPath = (id: string): boolean => spots.has(id) && !chain.spine.has(id)
    const places = [...points.values()].map((point) =>
      point.kind === 'prompt' && isOffPath(point.id) ? { ...point, offPath: true as const } : { ...point },
    )
    const outline = [...places, ...facts.damage.map(toDamagePoint)].toSorted((a, b) => a.offset - b.offset)
    const branches = yield* toBranches(chain, spots, words)
    yield
    return { facts, outline, branches, ...tools.finish() }
  }
}

function withTail(facts: SessionFacts, tail: readonly Damage[]): SessionFacts {
  if (tail.length === 0) return facts
  const damage = [...facts.damage]
  for (const range of tail) appendDamage(damage, range)
  return { ...facts, lines: facts.lines + 1, damage }
}

interface Spot {
  readonly place: Place
  readonly at: string | undefined
}

interface Words {
  readonly text: string
  readonly isPrompt: boolean
}

function toDamagePoint({ offset, length, reason }: Damage): OutlinePoint {
  return { kind: 'damage', offset, length, reason }
}

function* toBranches(
  chain: Chain,
  spots: ReadonlyMap<string, Spot>,
  words: ReadonlyMap<string, Words>,
): Steps<readonly BranchPath[]> {
  const told = new Set<string>()
  const branches: BranchPath[] = []
  // Of calls that were made at once each result is an end: they are one branch, known by the last of them.
  for (const { leafId, forkId, size } of chain.branches.toReversed()) {
    if (told.has(leafId)) continue
    yield
    const ids = chain.ownOf(leafId)
    for (const id of ids) told.add(id)
    const said = ids.flatMap((id) => words.get(id) ?? [])
    const text = (said.find(({ isPrompt }) => isPrompt) ?? said.at(-1))?.text ?? ''
    const fork = forkId === undefined ? undefined : spots.get(forkId)
    branches.push({
      leafId,
      at: spots.get(leafId)?.at,
      text,
      size,
      ...(fork === undefined ? {} : { forkOffset: fork.place.offset }),
      own: toRanges(ids.flatMap((id) => spots.get(id)?.place ?? [])),
    })
  }
  return branches.toReversed()
}

/** A newline, or two bytes of one, is all that stands between two lines. */
const NEWLINE_BYTES = 2

function toRanges(places: readonly Place[]): readonly (readonly [from: number, to: number])[] {
  const ranges: [number, number][] = []
  for (const { offset, length } of places.toSorted((a, b) => a.offset - b.offset)) {
    const last = ranges.at(-1)
    if (last !== undefined && offset - last[1] <= NEWLINE_BYTES) last[1] = offset + length
    else ranges.push([offset, offset + length])
  }
  return ranges
}
