import { field, object, parseJson, string } from '#base'
import {
  contextSize,
  endsAnswer,
  type Block,
  type Entry,
  type RedactedThinkingBlock,
  type ThinkingBlock,
} from '#model'
import type { Mend, Trouble, TroubleKind } from '#model'
import { readExactContent } from './exact-content.ts'
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
  const lonely = findLonely(entries)
  for (const [at, entry] of entries.entries()) {
    const tell = (kind: TroubleKind, index: number, what: What): void => {
      troubles.push({ kind, origin: { entryId: entry.id, index }, place: entry.place, ...what })
    }
    for (const [index, block] of blocksOf(entry).entries()) {
      const what = findWrong(block, { images, isAnthropic: isAnthropic(entry) })
      if (what !== undefined && !isSilent(entry, block, index)) tell(what.kind, index, what)
    }
    for (const index of lonely.get(entry.id) ?? []) tell('reasoning-alone', index, ALONE)
    findMispaired(entries, at, { calls, tell })
    findRole(entry, tell)
  }
  findOverall(entries, options, troubles)
  return troubles
}

/** A tool that printed nothing: a result may be an empty string, only no empty text in a list. */
function isSilent(entry: Entry, block: Block, index: number): boolean {
  if (block.kind !== 'tool-result' || block.content.length !== 1) return false
  const [only] = block.content
  if (only?.kind !== 'text' || only.text.trim() !== '') return false
  return typeof field(readExactContent(entry, blocksOf(entry))?.[index], 'content') === 'string'
}

/** Whether what it says goes back to Anthropic. Lines of Claude Code name no provider. */
function isAnthropic({ provider }: Entry): boolean {
  return provider === undefined || provider === 'anthropic'
}

const ALONE: What = {
  reason: 'reasoning without the item that it led to, or without its encrypted form',
  fix: 'The reasoning is left out.',
  mend: DROP,
}

/**
 * Reasoning of OpenAI's behind which its answer has nothing more, because the agent died or the stream broke off, or
 * which cannot be sent: the places of its blocks, by entry.
 */
function findLonely(entries: readonly Entry[]): ReadonlyMap<string, readonly number[]> {
  const lonely = new Map<string, number[]>()
  let waiting: (readonly [entryId: string, index: number])[] = []
  let answer: string | undefined
  const tellAll = (): void => {
    for (const [entryId, index] of waiting) lonely.set(entryId, [...(lonely.get(entryId) ?? []), index])
    waiting = []
  }
  for (const entry of entries) {
    const id = entry.kind === 'reply' ? (entry.messageId ?? 'one whose lines do not say') : undefined
    if (endsAnswer(entry) && id !== answer) tellAll()
    answer = id ?? answer
    if (entry.kind !== 'reply') continue
    for (const [index, block] of blocksOf(entry).entries()) {
      if (!isThought(block)) waiting = []
      const own = isThought(block) ? object(block.extra, 'openai') : undefined
      if (string(own, 'type') !== 'reasoning') continue
      // Stored by the provider, under an id that means nothing to it once it has forgotten it.
      if (own?.['encrypted_content'] === undefined)
        lonely.set(entry.id, [...(lonely.get(entry.id) ?? []), index])
      else waiting.push([entry.id, index])
    }
  }
  tellAll()
  return lonely
}

function isThought(block: Block): block is ThinkingBlock | RedactedThinkingBlock {
  return block.kind === 'thinking' || block.kind === 'redacted-thinking'
}

type Tell = (kind: TroubleKind, index: number, what: What) => void

function blocksOf(entry: Entry): readonly Block[] {
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
  const each = (kind: Block['kind'], visit: (block: Block, at: number) => void): void => {
    for (const [at, entry] of entries.entries())
      for (const block of blocksOf(entry)) if (block.kind === kind) visit(block, at)
  }
  each('tool-use', (block, at) => {
    const entryId = entries[at]?.id ?? ''
    if (block.kind === 'tool-use' && !calls.has(block.id)) calls.set(block.id, { entryId, at, answers: [] })
  })
  each('tool-result', (block, at) => {
    if (block.kind === 'tool-result') calls.get(block.toolUseId)?.answers.push(at)
  })
  // One that comes behind its call answers it before one that came too early.
  for (const { at, answers } of calls.values())
    answers.sort((a, b) => Number(a < at) - Number(b < at) || a - b)
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
      } else if (call !== undefined && !isAnswered(entries, call)) {
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
    if (call === undefined || (call.at > at && (call.answers[0] !== at || isShared(entry)))) {
      const reason = `the result of ${block.toolUseId} answers no call before it`
      tell('result-orphaned', index, { reason, fix: 'The result is left out.', mend: DROP })
    } else if (call.answers[0] !== at) {
      const reason = `the call ${block.toolUseId} was answered before`
      tell('result-repeated', index, { reason, fix: 'The second result is left out.', mend: DROP })
    } else if (call.at > at || isWedged(entries, call.at, at)) {
      const reason =
        call.at > at
          ? 'the result stands before its call'
          : 'something was said between the call and its result'
      const mend: Mend = { kind: 'move-line', behind: call.entryId }
      tell('result-late', index, { reason, fix: 'The result is moved behind its call.', mend })
    }
  }
}

/** A result that stands before its call answers it only if it can be moved behind it. */
function isAnswered(entries: readonly Entry[], { at, answers: [first] }: Call): boolean {
  const line = first === undefined ? undefined : entries[first]
  return first !== undefined && line !== undefined && (first > at || !isShared(line))
}

/** A line with more than one result in it cannot be moved behind a call. */
function isShared(entry: Entry): boolean {
  return blocksOf(entry).length > 1
}

/** Whether a user or another answer speaks between a call and its result. OpenAI takes it, others do not. */
function isWedged(entries: readonly Entry[], call: number, result: number): boolean {
  const caller = entries[call]
  if (caller?.provider === 'openai') return false
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
