import { object, parseJson, string } from '#base'
import { contextSize, type Block, type Entry } from '#model'
import type { Mend, Trouble, TroubleKind } from '#model'
import { findWrong, DROP, type What } from './wrong-block.ts'

/** What is to be known beside the conversation itself. */
export interface CheckOptions {
  /** How many tokens the model takes. Default: 200,000. */
  readonly window?: number | undefined
  /** Whether a folder is there. Asked for where the session went on last. */
  readonly hasFolder?: ((path: string) => boolean) | undefined
}

const WINDOW = 200_000
/**
 * What would make the provider refuse the conversation as its lines have it. In the order of the lines; nothing means
 * that it can be gone on with.
 */
export function findTroubles(entries: readonly Entry[], options: CheckOptions = {}): readonly Trouble[] {
  const troubles: Trouble[] = []
  const images = countImages(entries)
  const calls = findCalls(entries)
  for (const [at, entry] of entries.entries()) {
    const tell = (kind: TroubleKind, index: number, what: What): void => {
      troubles.push({ kind, origin: { entryId: entry.id, index }, place: entry.place, ...what })
    }
    for (const [index, block] of blocksOf(entry).entries()) {
      const what = findWrong(block, images)
      if (what !== undefined) tell(what.kind, index, what)
    }
    findMispaired(entries, at, { calls, tell })
    findRole(entry, tell)
  }
  findOverall(entries, options, troubles)
  return troubles
}

type Tell = (kind: TroubleKind, index: number, what: What) => void

export function blocksOf(entry: Entry): readonly Block[] {
  switch (entry.kind) {
    case 'reply':
      return entry.synthetic ? [] : entry.blocks
    case 'prompt':
    case 'result':
    case 'injection':
    case 'summary':
      return entry.blocks
    case 'command':
    case 'interruption':
    case 'compaction':
    case 'context':
    case 'notice':
    case 'record':
    case 'oversize':
    case 'unknown':
      return []
  }
}

/** Who made a call, and who answered it. */
interface Call {
  readonly entryId: string
  readonly at: number
  readonly answers: number[]
}

function findCalls(entries: readonly Entry[]): ReadonlyMap<string, Call> {
  const calls = new Map<string, Call>()
  for (const [at, entry] of entries.entries()) {
    for (const block of blocksOf(entry)) {
      if (block.kind === 'tool-use' && !calls.has(block.id))
        calls.set(block.id, { entryId: entry.id, at, answers: [] })
      if (block.kind === 'tool-result') calls.get(block.toolUseId)?.answers.push(at)
    }
  }
  return calls
}

function findMispaired(
  entries: readonly Entry[],
  at: number,
  { calls, tell }: { readonly calls: ReadonlyMap<string, Call>; readonly tell: Tell },
): void {
  const entry = entries[at]
  if (entry === undefined) return
  for (const [index, block] of blocksOf(entry).entries()) {
    if (block.kind === 'tool-use') {
      const call = calls.get(block.id)
      if (call !== undefined && call.at !== at) {
        const reason = `the id ${block.id} is that of an earlier call`
        tell('call-repeated', index, { reason, fix: 'The second call is left out.', mend: DROP })
      } else if (call?.answers.length === 0) {
        const reason = `the call of ${block.name} was never answered`
        const mend: Mend = { kind: 'add-result', toolUseId: block.id }
        tell('call-unanswered', index, {
          reason,
          fix: 'A result is added that says it was interrupted.',
          mend,
        })
      }
    }
    if (block.kind !== 'tool-result') continue
    const call = calls.get(block.toolUseId)
    if (call === undefined || call.at > at) {
      const reason = `the result of ${block.toolUseId} answers no call before it`
      tell('result-orphaned', index, { reason, fix: 'The result is left out.', mend: DROP })
    } else if (call.answers[0] !== at) {
      const reason = `the call ${block.toolUseId} was answered before`
      tell('result-repeated', index, { reason, fix: 'The second result is left out.', mend: DROP })
    } else if (isWedged(entries, call.at, at)) {
      const reason = 'something was said between the call and its result'
      const mend: Mend = { kind: 'move-line', behind: call.entryId }
      tell('result-late', index, { reason, fix: 'The result is moved behind its call.', mend })
    }
  }
}

/** Whether a user or another answer speaks between a call and its result. */
function isWedged(entries: readonly Entry[], call: number, result: number): boolean {
  const caller = entries[call]
  const answer = caller?.kind === 'reply' ? (caller.messageId ?? caller.id) : undefined
  return entries.slice(call + 1, result).some((entry) => {
    if (entry.kind === 'reply') return !entry.synthetic && (entry.messageId ?? entry.id) !== answer
    return (entry.kind === 'prompt' && entry.type === 'user') || entry.kind === 'interruption'
  })
}

function countImages(entries: readonly Entry[]): number {
  let count = 0
  for (const entry of entries) {
    for (const block of blocksOf(entry)) {
      if (block.kind === 'image') count++
      if (block.kind === 'tool-result') count += block.content.filter(({ kind }) => kind === 'image').length
    }
  }
  return count
}

/** What was left behind by programs that write a system's words among the messages. */
function findRole(entry: Entry, tell: Tell): void {
  if (entry.type !== 'user' && entry.type !== 'assistant') return
  if (entry.raw.length === 0 || !Buffer.from(entry.raw).includes('"system"')) return
  const role = string(object(parseJson(new TextDecoder().decode(entry.raw)), 'message'), 'role')
  if (role === undefined || role === 'user' || role === 'assistant') return
  tell('role-unknown', 0, { reason: `a message of the role ${role}`, fix: 'It is left out.', mend: DROP })
}

function findOverall(entries: readonly Entry[], options: CheckOptions, troubles: Trouble[]): void {
  const last = entries.at(-1)
  if (last === undefined) return
  const here = { origin: { entryId: last.id, index: 0 }, place: last.place }
  const window = options.window ?? WINDOW
  const size = toContextSize(entries)
  if (size > window)
    troubles.push({
      kind: 'context-too-long',
      ...here,
      reason: `${size} tokens are in the conversation, and the model takes ${window}`,
      fix: 'Compact it before it is gone on with.',
    })
  const workdir = entries.findLast(({ cwd }) => cwd !== undefined)?.cwd
  if (workdir === undefined || options.hasFolder === undefined || options.hasFolder(workdir)) return
  const reason = `the folder ${workdir} is not there any more`
  troubles.push({ kind: 'workdir-gone', ...here, reason, fix: 'Go on in another folder.' })
}

/** How many tokens the model was given last, and filled: what is in its window now. */
export function toContextSize(entries: readonly Entry[]): number {
  for (const entry of entries.toReversed()) {
    if (entry.kind === 'reply' && !entry.synthetic && entry.usage !== undefined)
      return contextSize(entry.usage)
    if (entry.kind === 'compaction') return entry.compaction.tokensAfter ?? 0
  }
  return 0
}
