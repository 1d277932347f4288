import type { Block, Entry, Mend, TroubleKind } from '#model'
import { blocksOf } from './checked-blocks.ts'
import { DROP, type What } from './wrong-block.ts'

/** Tells what is wrong with one block of an entry. */
export type Tell = (kind: TroubleKind, index: number, what: What) => void

/** Who made a call, and who answered it. */
interface Call {
  readonly entryId: string
  readonly at: number
  readonly answers: number[]
}

export function findCalls(entries: readonly Entry[]): ReadonlyMap<string, Call> {
  const calls = new Map<string, Call>()
  const each = (kind: Block['kind'], visit: (block: Block, at: number) => void): void => {
    for (const [at, entry] of entries.entries())
      for (const block of blocksOf(entry))
        if (block.kind === kind && isInPlace(block, entry)) visit(block, at)
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

/** Calls are made in answers, and results are given outside of them. What stands elsewhere is malformed. */
function isInPlace({ kind }: Block, entry: Entry): boolean {
  return (kind === 'tool-use') === (entry.kind === 'reply')
}

export function findMispaired(
  entries: readonly Entry[],
  at: number,
  { calls, tell }: { readonly calls: ReadonlyMap<string, Call>; readonly tell: Tell },
): void {
  const entry = entries[at]
  if (entry === undefined) return
  for (const [index, block] of blocksOf(entry).entries()) {
    if (!isInPlace(block, entry)) continue
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
