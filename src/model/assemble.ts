import { textOf, type Block } from './block.ts'
import { endsAnswer, type CommandEntry, type Entry, type ReplyEntry, type ResultEntry } from './entry.ts'
import type {
  CommandMessage,
  CompactionMessage,
  Message,
  PromptMessage,
  ReplyMessage,
  ToolAnswer,
} from './message.ts'
import { stopOf, toAnswer, toCall } from './tool-answer.ts'

export interface AssembleOptions {
  /** Ids of the active path. Messages with no entry on it are marked `offPath`. */
  readonly path?: ReadonlySet<string>
}

/**
 * Puts entries together the way they were said: one message from several lines, results with their calls, a command
 * with its output, a compaction with its summary. Everything in file order, every entry in exactly one message.
 */
export function toMessages(entries: Iterable<Entry>, options: AssembleOptions = {}): readonly Message[] {
  const drafts: Draft[] = []
  const replies = new Map<string, ReplyDraft>()
  const calls = new Map<string, ReplyDraft>()
  /** The answer that goes on, for agents whose lines do not say which they belong to. */
  let open: ReplyDraft | undefined

  for (const entry of entries) {
    const answer = open
    if (endsAnswer(entry)) open = undefined
    switch (entry.kind) {
      case 'reply':
        if (entry.part === 'end') addEnd(entry, drafts, answer)
        else if (entry.part === 'item') open = addItem(entry, { drafts, calls, answer })
        else addReply(entry, drafts, replies, calls)
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
        drafts.push(notice(entry, 'warning', entry.text))
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
      case 'context':
      case 'injection':
      case 'record':
      case 'unknown':
        addAside(entry, drafts)
        break
    }
  }
  return drafts.map((draft) => markOffPath(finish(draft), options.path))
}

/** A message that may still grow. */
type Draft = { readonly kind: 'message'; message: Message } | ReplyDraft | AsideDraft

interface AsideDraft {
  readonly kind: 'aside'
  readonly entries: Entry[]
}

interface ReplyDraft {
  readonly kind: 'reply'
  readonly entries: Entry[]
  readonly lines: ReplyEntry[]
  readonly answers: Map<string, ToolAnswer>
  /** Told to be at its end, by a line that holds nothing of it. */
  ended?: ReplyEntry
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
    draft = { kind: 'reply', entries: [], lines: [], answers: new Map() }
    drafts.push(draft)
    if (entry.messageId !== undefined) replies.set(entry.messageId, draft)
  }
  draft.entries.push(entry)
  draft.lines.push(entry)
  for (const block of entry.blocks) if (block.kind === 'tool-use') calls.set(block.id, draft)
}

/** Goes on with the answer at hand, or begins one. */
function addItem(
  entry: ReplyEntry,
  {
    drafts,
    calls,
    answer,
  }: {
    readonly drafts: Draft[]
    readonly calls: Map<string, ReplyDraft>
    readonly answer: ReplyDraft | undefined
  },
): ReplyDraft {
  const draft: ReplyDraft = answer ?? { kind: 'reply', entries: [], lines: [], answers: new Map() }
  if (answer === undefined) drafts.push(draft)
  draft.entries.push(entry)
  draft.lines.push(entry)
  for (const block of entry.blocks) if (block.kind === 'tool-use') calls.set(block.id, draft)
  return draft
}

function addEnd(entry: ReplyEntry, drafts: Draft[], answer: ReplyDraft | undefined): void {
  if (answer === undefined) return addAside(entry, drafts)
  answer.entries.push(entry)
  answer.ended = entry
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

function addAside(entry: Entry, drafts: Draft[]): void {
  const last = drafts.at(-1)
  if (last?.kind === 'aside') last.entries.push(entry)
  else drafts.push({ kind: 'aside', entries: [entry] })
}

/** The last message that is not an aside. */
function lastMessage(drafts: readonly Draft[]): (Draft & { kind: 'message' }) | undefined {
  const last = drafts.findLast((draft) => draft.kind !== 'aside')
  return last?.kind === 'message' ? last : undefined
}

function finish(draft: Draft): Message {
  switch (draft.kind) {
    case 'message':
      return draft.message
    case 'reply':
      return toReply(draft)
    case 'aside': {
      const first = draft.entries[0]
      if (first === undefined) throw new Error('an aside is begun with its first entry')
      return { kind: 'aside', ...common(first), entries: draft.entries }
    }
  }
}

function toReply(draft: ReplyDraft): ReplyMessage {
  const first = draft.lines[0]
  const last = draft.lines.at(-1)
  if (first === undefined || last === undefined) throw new Error('a reply is begun with its first line')
  const blocks = draft.lines.flatMap((line) => line.blocks)
  const { ended } = draft
  const usage = ended?.usage ?? last.usage
  const stopReason = ended === undefined ? last.stopReason : stopOf(blocks)
  return {
    kind: 'reply',
    id: first.id,
    ...(first.at === undefined ? {} : { at: first.at }),
    entries: draft.entries,
    ...(first.messageId === undefined ? {} : { messageId: first.messageId }),
    ...(first.model === undefined ? {} : { model: first.model }),
    blocks,
    calls: blocks.flatMap((block) => (block.kind === 'tool-use' ? [toCall(block, draft.answers)] : [])),
    // Lines repeat the usage, and while streaming it grew: the last one is the message's.
    ...(usage === undefined ? {} : { usage }),
    ...(stopReason === undefined ? {} : { stopReason }),
    synthetic: false,
    apiError: first.apiError,
  }
}

function markOffPath(message: Message, path: ReadonlySet<string> | undefined): Message {
  if (path === undefined || message.kind === 'aside') return message
  const linked = message.entries.filter((entry) => entry.link !== undefined)
  return linked.length === 0 || linked.some((entry) => path.has(entry.id))
    ? message
    : { ...message, offPath: true }
}
