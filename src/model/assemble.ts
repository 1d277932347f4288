import { textOf, type Block } from './block.ts'
import type { IdSet } from './chain.ts'
import { createAnswerTracker, type AnswerTracker } from './answers.ts'
import type { CommandEntry, Entry, RecordEntry, ReplyEntry, ResultEntry } from './entry.ts'
import type { CommandMessage, CompactionMessage, Message, PromptMessage } from './message.ts'
import { addWork, createStarterTracker, withWork, type WorkDraft } from './delegated-work.ts'
import { repeatsAmong, toRepeatNotice, type RepeatTracker } from './repeats.ts'
import { addLine, createReplyDraft, endReply, toReply, type ReplyDraft } from './reply-draft.ts'
import { findDelivered, isQueued } from './queue.ts'
import { toAnswer } from './tool-answer.ts'

export interface AssembleOptions {
  /** Ids of the active path. Messages with no entry on it are marked `offPath`. */
  readonly path?: Pick<IdSet, 'has'>
  /** For entries that follow others: what is known of the answers before them. */
  readonly answers?: AnswerTracker
  /** Ids of queued words that another entry delivers. Default: those that one of the entries delivers. */
  readonly delivered?: ReadonlySet<string>
  /** For entries that follow others: what lines before them said. */
  readonly repeats?: RepeatTracker
}

/**
 * Puts entries together the way they were said: one message from several lines, results with their calls, a command
 * with its output, a compaction with its summary. Everything in file order, every entry in exactly one message.
 */
export function toMessages(entries: Iterable<Entry>, options: AssembleOptions = {}): readonly Message[] {
  const drafts: Draft[] = []
  const replies = new Map<string, ReplyDraft>()
  const calls = new Map<string, ReplyDraft>()
  const starters = createStarterTracker()
  const answers = options.answers ?? createAnswerTracker()
  const all = [...entries]
  const repeats = options.repeats ?? repeatsAmong(all)
  const delivered = options.delivered ?? (all.some(isQueued) ? findDelivered(all) : undefined)
  /** The last answer, for agents whose lines do not say which they belong to. */
  let answer: ReplyDraft | undefined
  /** Told what the answer behind it cost. */
  let bill: WaitingBill | undefined

  for (const entry of all) {
    const step = answers.add(entry)
    const repeat = repeats.add(entry)
    if (repeat === 'other') drafts.push({ kind: 'message', message: toRepeatNotice(entry) })
    // What it says is said by the one that delivers it, or by the line that it repeats.
    if (repeat === 'same' || delivered?.has(entry.id) === true) {
      addAside(entry, drafts)
      continue
    }
    switch (entry.kind) {
      case 'reply':
        starters.note(entry)
        if (entry.part === undefined) addReply(entry, drafts, replies, calls)
        else if (entry.part === 'end') addEnd(entry, drafts, step === 'bills' ? answer : undefined)
        else {
          if (answer === undefined || step !== 'continues') {
            answer = beginAnswer(drafts, bill)
            bill = undefined
          }
          addLine(entry, answer, calls)
        }
        break
      case 'record':
        if (step === 'bills') addEnd(entry, drafts, answer)
        else {
          const aside = addAside(entry, drafts)
          if (step === 'bills-next') bill = { entry, aside }
        }
        break
      case 'result':
        addResult(entry, drafts, calls)
        break
      case 'prompt':
        drafts.push({ kind: 'message', message: toPrompt(entry) })
        break
      case 'command':
        addCommand(entry, drafts)
        break
      case 'compaction':
        drafts.push({
          kind: 'message',
          message: {
            kind: 'compaction',
            ...common(entry),
            compaction: entry.compaction,
            summary: entry.summary ?? [],
          },
        })
        break
      case 'summary':
        addSummary(entry, entry.blocks, drafts)
        break
      case 'interruption':
        drafts.push(notice(entry, 'warning', toStopWords(entry.text)))
        break
      case 'notice':
        if (QUIET_LEVELS.has(entry.level) || entry.text === '') addAside(entry, drafts)
        else drafts.push(notice(entry, entry.level, entry.text))
        break
      case 'oversize':
        drafts.push(
          notice(
            entry,
            'warning',
            `a ${entry.type} record of ${entry.place.length} bytes, too large to show`,
          ),
        )
        break
      case 'delegated':
        // It is told by the subagent's own file, where there is one.
        if (entry.inFile) addAside(entry, drafts)
        else addWork(starters.add(entry), drafts, calls)
        break
      case 'context':
      case 'injection':
      case 'unknown':
        addAside(entry, drafts)
        break
    }
  }
  return drafts.flatMap((draft) => finish(draft)).map((message) => markOffPath(message, options.path))
}

/** A message that may still grow. */
type Draft = { readonly kind: 'message'; message: Message } | ReplyDraft | AsideDraft | WorkDraft

interface AsideDraft {
  readonly kind: 'aside'
  readonly entries: Entry[]
}

interface WaitingBill {
  readonly entry: RecordEntry
  /** Where it stands unless an answer claims it. */
  readonly aside: AsideDraft
}

const QUIET_LEVELS: ReadonlySet<string> = new Set(['info', 'suggestion'])

function common(entry: Entry): { id: string; at?: string; entries: readonly Entry[] } {
  return { id: entry.id, ...(entry.at === undefined ? {} : { at: entry.at }), entries: [entry] }
}

function notice(entry: Entry, level: string, text: string): Draft {
  return { kind: 'message', message: { kind: 'notice', ...common(entry), level, text } }
}

function toPrompt(entry: Entry & { kind: 'prompt' }): PromptMessage {
  const { blocks, origin, midTurn } = entry
  return { kind: 'prompt', ...common(entry), blocks, origin, midTurn }
}

function addReply(
  entry: ReplyEntry,
  drafts: Draft[],
  replies: Map<string, ReplyDraft>,
  calls: Map<string, ReplyDraft>,
): void {
  if (entry.synthetic) {
    if (entry.apiError) drafts.push(notice(entry, 'error', textOf(entry.blocks)))
    else addAside(entry, drafts)
    return
  }
  let draft = entry.messageId === undefined ? undefined : replies.get(entry.messageId)
  if (draft === undefined) {
    draft = createReplyDraft()
    drafts.push(draft)
    if (entry.messageId !== undefined) replies.set(entry.messageId, draft)
  }
  addLine(entry, draft, calls)
}

/** Begins an answer, with what it cost where that stands before it. */
function beginAnswer(drafts: Draft[], bill: WaitingBill | undefined): ReplyDraft {
  const draft = createReplyDraft()
  if (bill !== undefined) {
    const { entry, aside } = bill
    aside.entries.splice(aside.entries.indexOf(entry), 1)
    if (aside.entries.length === 0) drafts.splice(drafts.indexOf(aside), 1)
    addEnd(entry, drafts, draft)
  }
  drafts.push(draft)
  return draft
}

function addEnd(entry: ReplyEntry | RecordEntry, drafts: Draft[], answer: ReplyDraft | undefined): void {
  if (answer === undefined) addAside(entry, drafts)
  else endReply(entry, answer)
}

function addResult(entry: ResultEntry, drafts: Draft[], calls: ReadonlyMap<string, ReplyDraft>): void {
  const results = entry.blocks.filter((block) => block.kind === 'tool-result')
  const beside = entry.blocks.filter((block) => block.kind !== 'tool-result')
  let owned = false
  for (const [index, result] of results.entries()) {
    const answer = toAnswer(entry, result, index === results.length - 1 ? beside : [])
    const draft = calls.get(result.toolUseId)
    // A second result for one call is a repetition of a damaged client; the first one is what the model saw.
    if (draft !== undefined && !draft.answers.has(result.toolUseId)) {
      draft.answers.set(result.toolUseId, answer)
      if (!owned) draft.entries.push(entry)
      owned = true
    } else {
      // The entry itself is in one message only; what it says is never left out.
      const entries = owned ? [] : [entry]
      const { toolUseId } = result
      drafts.push({
        kind: 'message',
        message: { kind: 'orphan', ...common(entry), entries, toolUseId, answer },
      })
      owned = true
    }
  }
}

/** Who stopped a turn, in words for people: what clients write is addressed to the model. */
function toStopWords(text: string): string {
  if (text.startsWith('[Request interrupted by user')) return 'You interrupted'
  return text === 'The turn was stopped: interrupted' ? 'Interrupted' : text
}

function addCommand(entry: CommandEntry, drafts: Draft[]): void {
  const last = lastMessage(drafts)
  if (last?.message.kind === 'command' && entry.command === undefined && last.message.output === undefined) {
    last.message = {
      ...last.message,
      output: entry.output ?? '',
      entries: [...last.message.entries, entry],
    } satisfies CommandMessage
    return
  }
  const { command, args, output } = entry
  drafts.push({
    kind: 'message',
    message: {
      kind: 'command',
      ...common(entry),
      ...(command === undefined ? {} : { command }),
      ...(args === undefined ? {} : { args }),
      ...(output === undefined ? {} : { output }),
    },
  })
}

function addSummary(entry: Entry, summary: readonly Block[], drafts: Draft[]): void {
  const last = lastMessage(drafts)
  if (last?.message.kind === 'compaction' && last.message.summary.length === 0) {
    last.message = {
      ...last.message,
      summary,
      entries: [...last.message.entries, entry],
    } satisfies CompactionMessage
    return
  }
  const compaction = { trigger: 'unknown' }
  drafts.push({ kind: 'message', message: { kind: 'compaction', ...common(entry), compaction, summary } })
}

function addAside(entry: Entry, drafts: Draft[]): AsideDraft {
  const last = drafts.at(-1)
  if (last?.kind === 'aside') {
    last.entries.push(entry)
    return last
  }
  const draft: AsideDraft = { kind: 'aside', entries: [entry] }
  drafts.push(draft)
  return draft
}

/** The last message that is not an aside. */
function lastMessage(drafts: readonly Draft[]): (Draft & { kind: 'message' }) | undefined {
  const last = drafts.findLast((draft) => draft.kind !== 'aside')
  return last?.kind === 'message' ? last : undefined
}

function finish(draft: Draft): readonly Message[] {
  switch (draft.kind) {
    case 'message':
      return [draft.message]
    case 'reply':
      return [withWork(toReply(draft), toMessages)]
    case 'work':
      return toMessages(draft.entries.map(({ work }) => work))
    case 'aside': {
      const first = draft.entries[0]
      if (first === undefined) throw new Error('an aside is begun with its first entry')
      return [{ kind: 'aside', ...common(first), entries: draft.entries }]
    }
  }
}

function markOffPath(message: Message, path: Pick<IdSet, 'has'> | undefined): Message {
  if (path === undefined || message.kind === 'aside') return message
  const linked = message.entries.filter((entry) => entry.link !== undefined)
  return linked.length === 0 || linked.some((entry) => path.has(entry.id))
    ? message
    : { ...message, offPath: true }
}
