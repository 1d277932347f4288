import { isObject, string, type JsonObject } from '#base'
import { isInjectedOnly } from './injected.ts'
import type { AssistantMessage, Content, Provider, ToolResult, TurnFacts } from './turn.ts'

/** A line without what only the recording knows: its place in the conversation. */
export interface LineDraft {
  readonly type: 'user' | 'assistant'
  readonly message: JsonObject
  /** Nobody said it: a client put it in a user's place. */
  readonly isMeta?: true | undefined
  readonly toolUseResult?: unknown
}

/** What stands around every message. */
export interface Envelope {
  readonly sessionId: string
  readonly uuid: string
  readonly parentUuid: string | null
  readonly timestamp: string
  readonly cwd: string
  readonly version: string
  readonly agent: string
  readonly provider: Provider | undefined
  readonly requestId: string | undefined
  /** The subagent that speaks. */
  readonly agentId: string | undefined
  readonly extra: TurnFacts['extra']
}

/** Names that no further field can have: they say what a line is, and what was taken out of it. */
const NAMED: ReadonlySet<string> = new Set(
  (
    'type sessionId uuid parentUuid timestamp cwd version agent provider isSidechain agentId userType requestId ' +
    'message toolUseResult blobs isMeta'
  ).split(' '),
)

/**
 * What a user said. Results of tools stand in a line of their own, before the rest: any text beside them would be
 * counted as another prompt.
 */
export function toUserDrafts(content: Content, toolUseResult?: unknown): readonly LineDraft[] {
  if (typeof content === 'string') return [userDraft(content, toolUseResult)]
  const results = content.filter((block) => string(block, 'type') === 'tool_result')
  if (results.length === 0 || results.length === content.length) return [userDraft(content, toolUseResult)]
  const rest = content.filter((block) => string(block, 'type') !== 'tool_result')
  return [userDraft(results, toolUseResult), userDraft(rest)]
}

export function toResultDraft(
  results: ToolResult | readonly ToolResult[],
  toolUseResult?: unknown,
): LineDraft {
  const blocks = (isList(results) ? results : [results]).map((result) => ({ type: 'tool_result', ...result }))
  return userDraft(blocks, toolUseResult)
}

/** An answer. Content is always a list and an id is always there: without them its tokens are not counted. */
export function toAssistantDraft(given: AssistantMessage | string, newId: () => string): LineDraft {
  const message = typeof given === 'string' ? { content: given } : given
  const { id, content, stop_reason, stop_sequence, ...rest } = message
  const said = content === '' ? [] : [{ type: 'text', text: content }]
  const named = { id: id === undefined || id === '' ? newId() : id, type: 'message', role: 'assistant' }
  return {
    type: 'assistant',
    message: {
      ...named,
      ...rest,
      // What an SDK gives may have these too, as it likes.
      ...named,
      content: typeof content === 'string' ? said : content,
      stop_reason: stop_reason ?? null,
      stop_sequence: stop_sequence ?? null,
    },
  }
}

export function toRecordedLine(draft: LineDraft, envelope: Envelope): JsonObject {
  const { sessionId, uuid, parentUuid, timestamp, cwd, version, agent } = envelope
  const { provider, requestId, agentId, extra = {} } = envelope
  const further = Object.entries(extra).filter(([name]) => !NAMED.has(name))
  return {
    type: draft.type,
    sessionId,
    uuid,
    parentUuid,
    timestamp,
    cwd,
    version,
    agent,
    ...(provider === undefined ? {} : { provider }),
    isSidechain: agentId !== undefined,
    ...(agentId === undefined ? {} : { agentId }),
    userType: 'external',
    ...(draft.isMeta === true ? { isMeta: true } : {}),
    ...(requestId === undefined ? {} : { requestId }),
    ...Object.fromEntries(further),
    message: draft.message,
    ...(draft.toolUseResult === undefined ? {} : { toolUseResult: draft.toolUseResult }),
  }
}

/** The words of a message, as Entire reads a prompt: texts with an empty line between them. */
export function textOfMessage(message: unknown): string {
  const content = isObject(message) ? message['content'] : undefined
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content
    .flatMap((block) => (string(block, 'type') === 'text' ? [string(block, 'text') ?? ''] : []))
    .join('\n\n')
}

function userDraft(content: Content, toolUseResult?: unknown): LineDraft {
  const message = { role: 'user', content }
  return {
    type: 'user',
    message,
    ...(isInjectedOnly(content) ? { isMeta: true } : {}),
    ...(toolUseResult === undefined ? {} : { toolUseResult }),
  }
}

function isList(results: ToolResult | readonly ToolResult[]): results is readonly ToolResult[] {
  return Array.isArray(results)
}
