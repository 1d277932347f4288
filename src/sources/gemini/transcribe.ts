import { isObject, string, type JsonObject } from '#base'
import {
  callsOf,
  isContext,
  isContextOnly,
  partsOf,
  textOfParts,
  thoughtsOf,
  toBlock,
  toResult,
  usageOf,
} from './blocks.ts'
import { findSummary, toCompaction } from './compaction.ts'
import type { GeminiMessage, Operation } from './operations.ts'
import { createThread, type Told } from './thread.ts'

/** Makes lines of operations, one operation after the other. What was told stays told: lines are only ever added. */
export interface GeminiTranscriber {
  /** The lines that this operation adds, without newlines. */
  take(operation: Operation): readonly string[]
}

/** A result of a tool, with the call that it belongs to. */
interface FoundResult {
  readonly id: string
  readonly block: JsonObject
  readonly agentId: string | undefined
}

/**
 * Begins a transcription. A message that is written again, by an update or by the rewriting of a resumed session, adds
 * what is new in it; what the rewriting leaves out (times, tokens, models, thoughts) was told before and stays.
 */
export function createGeminiTranscriber(session: {
  readonly id: string
  readonly cwd: string | undefined
}): GeminiTranscriber {
  const thread = createThread(session)
  let calls = new Map<string, string>()
  let results = new Set<string>()
  /** Contexts are told with the first thing that is said in them: alone they are no conversation. */
  const contexts = new Map<string, GeminiMessage>()
  /** The same ids as in the order: long sessions have many. */
  let members = new Set<string>()
  let knowsFacts = false
  let title: string | undefined
  let records = 0

  function record(original: JsonObject): void {
    records += 1
    const timestamp = string(original, 'startTime') ?? string(original, 'timestamp')
    thread.note({ type: 'transcribed', uuid: `${session.id}:${String(records)}`, original, timestamp })
  }

  function tell(message: GeminiMessage): void {
    if (isContextOnly(message)) {
      contexts.set(message.id, message)
      return
    }
    switch (string(message.fields, 'type')) {
      case 'user':
        return tellUser(message)
      case 'gemini':
        return tellAnswer(message)
      case 'info':
      case 'warning':
      case 'error':
        return tellNotice(message)
      default:
        if (thread.isNew(message, JSON.stringify(message.fields))) record(message.fields)
    }
  }

  function tellContextsBefore(message: GeminiMessage): void {
    for (const context of contexts.values()) {
      const content = partsOf(context).map(toBlock)
      if (!thread.isNew(context, JSON.stringify(content))) continue
      thread.sayBefore(message, context, {
        type: 'user',
        more: { isMeta: true },
        message: { role: 'user', content },
        original: context.fields,
      })
    }
    contexts.clear()
  }

  function tellUser(message: GeminiMessage, more: JsonObject = {}): void {
    const parts = partsOf(message)
    const answers = parts.map((part) => part['functionResponse']).filter(isObject)
    tellResults(
      message,
      answers.map((answer, index) => {
        const id = string(answer, 'id') ?? `${message.id}:answer${String(index)}`
        return { id, block: toResult(answer, id, false), agentId: undefined }
      }),
    )
    const said = parts.filter((part) => !isObject(part['functionResponse']))
    for (const isAround of [true, false]) {
      const content = said.filter((part) => isContext(part) === isAround).map(toBlock)
      if (content.length === 0 || !thread.isNew(message, JSON.stringify(content))) continue
      tellContextsBefore(message)
      thread.say(message, {
        type: 'user',
        more: isAround ? { isMeta: true } : more,
        message: { role: 'user', content },
        original: message.fields,
      })
    }
  }

  /** A result is written with its call and once more as a message: it is told once. */
  function tellResults(message: GeminiMessage, found: readonly FoundResult[]): void {
    const fresh = found.filter(({ id }) => !results.has(id))
    if (fresh.length === 0) return
    tellContextsBefore(message)
    for (const { id } of fresh) results.add(id)
    const [only, another] = fresh
    const caller = another === undefined ? calls.get(only?.id ?? '') : undefined
    const agentId = fresh.find((each) => each.agentId !== undefined)?.agentId
    thread.say(message, {
      type: 'user',
      more: {
        ...(caller === undefined ? {} : { sourceToolAssistantUUID: caller }),
        ...(agentId === undefined ? {} : { toolUseResult: { agentId } }),
      },
      message: { role: 'user', content: fresh.map(({ block }) => block) },
      ...(string(message.fields, 'type') === 'user' ? { original: message.fields } : {}),
    })
  }

  function tellAnswer(message: GeminiMessage): void {
    const tale = thread.tellOf(message)
    const parts = partsOf(message)
    const made = callsOf(message, parts)
    const fresh = new Map(made.filter(({ id }) => !calls.has(id)).map((call) => [call.id, call.block]))
    const content = [...toNewContent(message, parts, tale), ...fresh.values()]
    const usage = usageOf(message)
    const isCounted = usage !== undefined && thread.isNew(message, JSON.stringify(usage))
    tale.usage = usage ?? tale.usage
    tale.model = string(message.fields, 'model') ?? tale.model
    if (content.length > 0 || isCounted) {
      tellContextsBefore(message)
      const uuid = thread.say(message, {
        type: 'assistant',
        message: toAnswer(message.id, tale, { content, hasCalls: made.length > 0 }),
        original: message.fields,
      })
      for (const id of fresh.keys()) calls.set(id, uuid)
    }
    tellResults(
      message,
      made.flatMap(({ id, result, agentId }) =>
        result === undefined ? [] : [{ id, block: result, agentId }],
      ),
    )
  }

  /** Thoughts, words and other parts of an answer that stand in no line yet. */
  function toNewContent(
    message: GeminiMessage,
    parts: readonly JsonObject[],
    tale: Told,
  ): readonly JsonObject[] {
    const content: JsonObject[] = []
    for (const thinking of thoughtsOf(message, parts)) {
      if (thread.isNew(message, `thought ${thinking.replaceAll(/\s+/gu, ' ').trim()}`))
        content.push({ type: 'thinking', thinking, signature: '' })
    }
    const text = textOfParts(parts)
    if (text !== '' && thread.isNew(message, `text ${text}`)) {
      const rest = tale.text !== '' && text.startsWith(tale.text) ? text.slice(tale.text.length) : text
      content.push({ type: 'text', text: rest })
      tale.text = text
    }
    for (const part of parts) {
      const isOther = string(part, 'text') === undefined && !isObject(part['functionCall'])
      if (isOther && thread.isNew(message, JSON.stringify(part))) content.push(toBlock(part))
    }
    return content
  }

  function tellNotice(message: GeminiMessage): void {
    const content = textOfParts(partsOf(message))
    if (!thread.isNew(message, content)) return
    const level = string(message.fields, 'type') ?? 'info'
    const more = { subtype: `gemini_${level}`, content, level }
    thread.say(message, { type: 'system', more, original: message.fields })
  }

  function replace(messages: readonly GeminiMessage[]): void {
    const end = thread.end()
    setOrder(messages.map(({ id }) => id))
    const summary = end === undefined ? undefined : findSummary(messages, thread)
    if (summary !== undefined && end !== undefined) {
      // What a compaction keeps is written anew, under the same calls.
      calls = new Map()
      results = new Set()
      thread.cut(`${summary.id}:boundary`, toCompaction(summary, end))
    }
    for (const message of messages) {
      if (message.id === summary?.id) tellUser(message, { isCompactSummary: true })
      else tell(message)
    }
  }

  function takeFacts({ facts, messages, replaces }: Operation & { kind: 'facts' }): void {
    const name = string(facts, 'summary')
    if (name !== undefined && name !== title) thread.note({ type: 'ai-title', more: { aiTitle: name } })
    title = name ?? title
    if (!knowsFacts || Object.keys(facts).some((key) => !ORDINARY.has(key))) {
      const { messages: _told, ...rest } = facts
      record(rest)
    }
    knowsFacts = true
    if (replaces) replace(messages)
    else for (const message of messages) add(message)
  }

  function add(message: GeminiMessage): void {
    if (!members.has(message.id)) thread.order.push(message.id)
    members.add(message.id)
    tell(message)
  }

  function setOrder(ids: readonly string[]): void {
    members = new Set(ids)
    thread.order = [...members]
  }

  return {
    take(operation) {
      switch (operation.kind) {
        case 'message':
          add(operation.message)
          break
        case 'rewind': {
          const at = thread.order.indexOf(operation.to)
          setOrder(thread.order.slice(0, Math.max(0, at)))
          record(operation.original)
          break
        }
        case 'facts':
          takeFacts(operation)
          break
        case 'unknown':
          record(operation.original)
          break
        case 'damage':
          thread.keep(operation.text)
          break
      }
      return thread.drain()
    },
  }
}

/** What every session has, and what changes with every message. */
const ORDINARY: ReadonlySet<string> = new Set([
  'sessionId',
  'projectHash',
  'startTime',
  'lastUpdated',
  'kind',
  'messages',
  'summary',
  'messageCount',
  'userMessageCount',
  'firstUserMessage',
  'hasResumableContent',
])

function toAnswer(
  id: string,
  tale: Told,
  { content, hasCalls }: { readonly content: readonly JsonObject[]; readonly hasCalls: boolean },
): JsonObject {
  return {
    id,
    type: 'message',
    role: 'assistant',
    ...(tale.model === undefined ? {} : { model: tale.model }),
    content,
    stop_reason: hasCalls ? 'tool_use' : 'end_turn',
    ...(tale.usage === undefined ? {} : { usage: tale.usage }),
  }
}
