import { number, object, string, type JsonObject } from '#base'
import { toTranscribedLine, type TranscribedLine } from '../transcribed-line.ts'
import type { Copies } from './copies.ts'
import { providerOf, toBlock, toResult, toTime, usageOf } from './blocks.ts'
import type { OpencodeMessage, OpencodePart, OpencodeSession } from './rows.ts'

/**
 * The lines of a session. What is still under way has no line yet, and what has one does not change any more: when a
 * session goes on, lines are added.
 */
export function transcribeOpencode(
  session: OpencodeSession,
  messages: readonly OpencodeMessage[],
  copies: Copies,
): readonly string[] {
  const lines: string[] = []
  let tail: string | null = null
  /** The prompt that asks for a compaction, until there is a summary. */
  let compacting: OpencodeMessage | undefined

  function push(message: OpencodeMessage, line: Omit<TranscribedLine, 'sessionId'>): void {
    const { data } = message
    const cwd = string(object(data, 'path'), 'cwd') ?? session.directory
    const about = { provider: providerOf(data), cwd, sessionId: session.id, version: session.version }
    lines.push(toTranscribedLine({ ...about, parentUuid: tail, ...line }))
    // A result hangs from its call alone: in which order calls end is not known before they do.
    if (line.uuid !== undefined && line.parentUuid === undefined) tail = line.uuid
  }

  function tellPrompt(message: OpencodeMessage): void {
    const { id, data, parts } = message
    if (parts.length === 0) return
    const timestamp = toTime(number(object(data, 'time'), 'created'))
    // Changes long after the prompt was told: what the turn did to files.
    const { summary: _later, ...stable } = data
    const compaction = parts.find((part) => string(part.data, 'type') === 'compaction')
    if (compaction !== undefined) compacting = message
    const said = parts.filter((part) => part !== compaction)
    for (const isAround of [true, false]) {
      const own = said.filter((part) => (part.data['synthetic'] === true) === isAround)
      if (own.length === 0) continue
      push(message, {
        type: 'user',
        uuid: isAround ? `${id}:around` : id,
        more: isAround ? { isMeta: true } : {},
        message: { role: 'user', content: own.map((part) => toBlock(part.data)) },
        original: { message: stable, parts: own },
        timestamp,
      })
    }
  }

  function tellAnswer(message: OpencodeMessage, isLast: boolean): void {
    const { id, data, parts } = message
    const time = object(data, 'time')
    const completed = number(time, 'completed')
    const isOver = completed !== undefined || data['error'] !== undefined || !isLast
    const billed = copies.originals.get(id)
    const model = string(data, 'modelID')
    const head = {
      id: billed?.messageId ?? id,
      type: 'message',
      role: 'assistant',
      ...(model === undefined ? {} : { model }),
    }
    const forked =
      billed === undefined
        ? {}
        : { forkedFrom: { sessionId: billed.sessionId, messageUuid: billed.messageId } }
    const isSummary = data['summary'] === true
    const pieces = isSummary ? [] : toPieces(parts, { begin: number(time, 'created') ?? 0, isOver })
    for (const piece of pieces) {
      const timestamp = toTime(piece.at)
      if (piece.kind === 'said') {
        const content = [piece.block]
        push(message, {
          type: 'assistant',
          uuid: piece.part.id,
          more: forked,
          message: { ...head, content, ...(piece.isCall ? { stop_reason: 'tool_use' } : {}) },
          original: piece.part,
          timestamp,
        })
      } else {
        push(message, {
          type: 'user',
          uuid: `${piece.part.id}:result`,
          parentUuid: piece.part.id,
          more: { ...forked, sourceToolAssistantUUID: piece.part.id, ...startedBy(piece.part) },
          message: { role: 'user', content: [piece.block] },
          original: piece.part,
          timestamp,
        })
      }
    }
    if (!isOver) return
    const rest = parts.filter((part) => isSummary || !pieces.some((piece) => piece.part.id === part.id))
    const usage = usageOf(data)
    const failure = object(data, 'error')
    if (completed === undefined && failure === undefined && usage === undefined) {
      // It died: what it said is told, and there is nothing that it came to.
      const kept = { message: data, parts: rest }
      lines.push(toTranscribedLine({ type: 'transcribed', uuid: id, original: kept, sessionId: session.id }))
      return
    }
    const original = { message: data, parts: rest }
    const timestamp = toTime(completed ?? number(time, 'created'))
    const isEmpty = pieces.length === 0 && usage === undefined && failure !== undefined
    if (!isEmpty) {
      const isDone = completed !== undefined && failure === undefined
      push(message, {
        type: 'assistant',
        uuid: id,
        more: forked,
        message: {
          ...head,
          content: [],
          ...(isDone ? { stop_reason: toStopReason(string(data, 'finish')) } : {}),
          ...(usage === undefined ? {} : { usage }),
        },
        original,
        timestamp,
      })
    }
    if (failure !== undefined)
      push(message, {
        ...toFailure(failure),
        uuid: `${id}:failure`,
        timestamp,
        ...(isEmpty ? { original } : {}),
      })
    if (isSummary && failure === undefined) tellCompaction(message, toTime(completed))
  }

  function tellCompaction(summary: OpencodeMessage, timestamp: string | undefined): void {
    const asked = compacting ?? summary
    const part = asked.parts.find(({ data }) => string(data, 'type') === 'compaction')?.data
    const logicalParentUuid = tail
    compacting = undefined
    tail = null
    push(summary, {
      type: 'system',
      uuid: `${summary.id}:boundary`,
      more: {
        subtype: 'compact_boundary',
        logicalParentUuid,
        content: 'The conversation was compacted',
        level: 'info',
        compactMetadata: { trigger: part?.['auto'] === true ? 'auto' : 'manual' },
      },
      original: { message: asked.data, parts: asked.parts },
      timestamp,
    })
    const texts = summary.parts.filter(({ data }) => string(data, 'type') === 'text')
    push(summary, {
      type: 'user',
      uuid: `${summary.id}:summary`,
      more: { isCompactSummary: true },
      message: { role: 'user', content: texts.map(({ data }) => toBlock(data)) },
      timestamp,
    })
  }

  // What a fork copied is older than the fork: the first line says when the fork began.
  if (copies.ownSince !== undefined)
    lines.push(
      toTranscribedLine({
        type: 'transcribed',
        original: { session: { id: session.id, time: { created: session.created } } },
        timestamp: toTime(copies.ownSince),
        sessionId: session.id,
      }),
    )
  for (const [index, message] of messages.entries()) {
    if (string(message.data, 'role') === 'assistant') tellAnswer(message, index === messages.length - 1)
    else tellPrompt(message)
  }
  return lines
}

type Piece =
  | {
      readonly kind: 'said'
      readonly part: OpencodePart
      readonly block: JsonObject
      readonly at: number
      readonly isCall: boolean
    }
  | { readonly kind: 'result'; readonly part: OpencodePart; readonly block: JsonObject; readonly at: number }

/**
 * What an answer consists of, in the order in which it came: calls that run at the same time end in an order of their
 * own. While the answer is not over, what is not finished is left out, and what stands behind it waits: words may end
 * after the call that follows them has begun.
 */
function toPieces(
  parts: readonly OpencodePart[],
  { begin, isOver }: { readonly begin: number; readonly isOver: boolean },
): readonly Piece[] {
  const settled = isOver ? parts.length : parts.findLastIndex(({ data }) => isEnded(data)) + 1
  const pieces: (Piece & { readonly order: number })[] = []
  let order = begin
  for (const [index, part] of parts.entries()) {
    if (index >= settled && isUnderWay(part.data)) break
    const { data } = part
    const type = string(data, 'type')
    const text = string(data, 'text') ?? ''
    if ((type === 'text' || type === 'reasoning') && text !== '') {
      const at = number(object(data, 'time'), 'end') ?? begin
      order = Math.max(order, at)
      const block = type === 'text' ? { type, text } : { type: 'thinking', thinking: text, signature: '' }
      pieces.push({ kind: 'said', part, block, at, isCall: false, order })
    }
    if (type !== 'tool') continue
    const state = object(data, 'state')
    const time = object(state, 'time')
    const id = string(data, 'callID') ?? part.id
    const at = number(time, 'start') ?? begin
    order = Math.max(order, at)
    const block = {
      type: 'tool_use',
      id,
      name: string(data, 'tool') ?? 'unknown',
      input: object(state, 'input') ?? {},
    }
    // How it ended stands with its result: a call that was told does not change.
    const called = { id: part.id, data: { type, tool: block.name, callID: id } }
    pieces.push({ kind: 'said', part: called, block, at, isCall: true, order })
    const result = toResult(data, id)
    const end = number(time, 'end') ?? at
    if (result !== undefined)
      pieces.push({ kind: 'result', part, block: result, at: end, order: Math.max(order, end) })
  }
  return pieces.toSorted((a, b) => a.order - b.order)
}

function isUnderWay(data: JsonObject): boolean {
  const type = string(data, 'type')
  if (type === 'tool') return string(object(data, 'state'), 'status') === 'pending'
  return (type === 'text' || type === 'reasoning') && number(object(data, 'time'), 'end') === undefined
}

/** Something that only comes when all before it came. */
function isEnded(data: JsonObject): boolean {
  const status = string(object(data, 'state'), 'status')
  return string(data, 'type') === 'step-finish' || status === 'completed' || status === 'error'
}

/** A task of a subagent names the session that does it. */
function startedBy(part: OpencodePart): JsonObject {
  const agentId = string(object(object(part.data, 'state'), 'metadata'), 'sessionId')
  return agentId === undefined ? {} : { toolUseResult: { agentId } }
}

function toStopReason(finish: string | undefined): string {
  if (finish === 'tool-calls') return 'tool_use'
  return finish === 'length' ? 'max_tokens' : 'end_turn'
}

/** How an answer ended that came to no end: a person stopped it, or the API did. */
function toFailure(failure: JsonObject): Pick<TranscribedLine, 'type' | 'more' | 'message'> {
  if (string(failure, 'name') === 'MessageAbortedError') {
    const content = [{ type: 'text', text: '[Request interrupted by user]' }]
    return { type: 'user', message: { role: 'user', content } }
  }
  const text = string(object(failure, 'data'), 'message') ?? string(failure, 'name') ?? 'unknown error'
  const message = { role: 'assistant', model: '<synthetic>', content: [{ type: 'text', text }] }
  return { type: 'assistant', more: { isApiErrorMessage: true }, message }
}
