import { field, isObject, list, number, parseJson, string, type JsonObject } from '#base'
import { isWakeUp, textOf, type Block, type Entry, type Envelope } from '#model'
import { readDenial } from '../denial.ts'
import { AT_THE_BEGINNING, IN_ORDER } from './envelope.ts'
import { isFailure } from './outcome.ts'
import { NOTES, readParts, readReasoning, toExtra, toSent } from './parts.ts'

/**
 * The entry for an item of a conversation, as it stands in a line of its own or in what a compaction left. `notes` are
 * those of the line. Items that stand beside the conversation have no link.
 */
export function readItem(item: JsonObject, envelope: Envelope, notes: unknown): Entry {
  const type = string(item, 'type')
  const linked: Envelope = { ...envelope, link: IN_ORDER }
  switch (type) {
    case 'message':
      return readMessage(item, linked, notes)
    case 'reasoning':
      return toReply(linked, [readReasoning(item)])
    case 'function_call':
    case 'custom_tool_call':
    case 'local_shell_call':
      return toReply(linked, [readCall(item, type)])
    case 'function_call_output':
    case 'custom_tool_call_output':
      return readOutput(item, linked)
    case 'agent_message':
      return {
        kind: 'prompt',
        ...linked,
        blocks: readAgentWords(item),
        origin: 'system',
        midTurn: isReport(item),
      }
    // The provider's own tools are called and answered on its side: nothing here answers them.
    case 'web_search_call':
    case 'image_generation_call':
    case 'tool_search_call':
    case 'tool_search_output':
    case 'compaction':
    case 'context_compaction':
      return toReply(linked, [{ kind: 'unknown', value: toSent(item) }])
    case 'additional_tools':
    case 'configuration_update':
    case 'compaction_trigger':
      return { kind: 'context', ...envelope }
    // A commit that Codex could undo to. No model sees it.
    case 'ghost_snapshot':
      return { kind: 'record', ...envelope }
    default:
      return { kind: 'unknown', ...envelope }
  }
}

/** What one agent says to another is encrypted in part: those parts stay with the item, where nobody takes them for words. */
function readAgentWords(item: JsonObject): readonly Block[] {
  const parts = list(item, 'content')
  const words = parts.filter((part) => string(part, 'type') !== 'encrypted_content')
  const kept =
    words.length === parts.length
      ? item
      : { ...item, encrypted: parts.filter((part) => !words.includes(part)) }
  return withItem(readParts(words), kept)
}

/** An agent that another one started tells how it went; anything else that one agent says to another is work to do. */
function isReport(item: JsonObject): boolean {
  const recipient = string(item, 'recipient')
  return recipient !== undefined && (string(item, 'author') ?? '').startsWith(`${recipient}/`)
}

function toReply(envelope: Envelope, blocks: readonly Block[]): Entry {
  return { kind: 'reply', ...envelope, part: 'item', blocks, synthetic: false, apiError: false }
}

function readMessage(item: JsonObject, envelope: Envelope, notes: unknown): Entry {
  // The model's answer to the request for a summary: what it comes to stands in the compaction.
  if (field(notes, 'compaction_output') === true) return { kind: 'record', ...envelope, link: undefined }
  const blocks = withItem(readParts(list(item, 'content')), item)
  const role = string(item, 'role')
  if (role === 'assistant') return toReply(envelope, blocks)
  if (role !== 'user' || field(notes, 'inherited_user_message') === true || isInjected(item, blocks))
    return { kind: 'injection', ...envelope, blocks }
  const text = textOf(blocks)
  const origin = isWakeUp(text) || REPORTED.test(text) ? 'system' : 'person'
  return { kind: 'prompt', ...envelope, blocks, origin, midTurn: false }
}

/** The first block has what the message has beyond its parts; the others say that they belong to it. */
function withItem(blocks: readonly Block[], item: JsonObject): readonly Block[] {
  const extra = toExtra(item, ['type', 'content', ...(item['role'] === 'assistant' ? ['role'] : [])])
  return blocks.map((block, index) => {
    if (block.kind === 'unknown') return block
    const own = field(block.extra, 'openai')
    const openai = { ...(index === 0 ? ownOf(extra) : pickId(extra)), ...(isObject(own) ? own : {}) }
    return { ...block, extra: index === 0 ? { ...extra, openai } : { openai } }
  })
}

function ownOf(extra: JsonObject): JsonObject {
  const openai = extra['openai']
  return isObject(openai) ? openai : {}
}

function pickId(extra: JsonObject): JsonObject {
  const openai = ownOf(extra)
  return Object.fromEntries(Object.entries(openai).filter(([key]) => key === 'id' || key === 'role'))
}

/** Codex says of every part what it is. Older versions, and those who write sessions for it, say nothing. */
function isInjected(item: JsonObject, blocks: readonly Block[]): boolean {
  const kinds = list(item[NOTES], 'content_item_kinds').filter((kind) => kind !== 'unknown')
  if (kinds.length > 0) return !kinds.some((kind) => typeof kind === 'string' && kind.startsWith('user.'))
  return INJECTED.test(textOf(blocks))
}

/** What a review came to, told to the model in the person's place. */
const REPORTED = /^\s*<user_action>/u

const INJECTED =
  /^\s*(?:<(?:environment_context|environments_instructions|user_instructions|turn_aborted|skill|skills_instructions|permissions instructions|collaboration_mode|personality_spec|model_switch|subagent_notification|user_shell_command|apps_instructions|plugins_instructions|recommended_plugins|hook_prompt|goal_context|realtime_delegation)>|<codex_internal_context\b|<external_|# AGENTS\.md instructions|Warning: (?:apply_patch was requested via|The maximum number of unified exec processes|Your account was flagged for potentially high-risk))/iu

function readCall(item: JsonObject, type: string): Block {
  const id = string(item, 'call_id') ?? string(item, 'id')
  const name = string(item, 'name') ?? (type === 'local_shell_call' ? 'local_shell' : undefined)
  if (id === undefined || name === undefined) return { kind: 'unknown', value: toSent(item) }
  if (type === 'local_shell_call')
    return { kind: 'tool-use', id, name, input: item['action'] ?? {}, extra: toExtra(item, ['call_id']) }
  if (type === 'custom_tool_call') {
    const input = { input: string(item, 'input') ?? '' }
    return { kind: 'tool-use', id, name, input, extra: toExtra(item, ['call_id', 'name', 'input']) }
  }
  const text = string(item, 'arguments') ?? ''
  const parsed = parseJson(text)
  const input = isObject(parsed) ? parsed : text
  // Their exact text is kept only where writing them again would give another one.
  const known = JSON.stringify(input) === text ? ['call_id', 'name', 'arguments'] : ['call_id', 'name']
  return { kind: 'tool-use', id, name, input, extra: toExtra(item, known) }
}

function readOutput(item: JsonObject, envelope: Envelope): Entry {
  const { output } = item
  const toolUseId = string(item, 'call_id')
  const isText = typeof output === 'string'
  const content: readonly Block[] = isText
    ? [{ kind: 'text', text: output }]
    : Array.isArray(output)
      ? readParts(output)
      : [{ kind: 'unknown', value: output }]
  if (toolUseId === undefined) return toReply(envelope, [{ kind: 'unknown', value: toSent(item) }])
  const extra = toExtra(item, isText ? ['call_id', 'output'] : ['call_id'])
  const blocks = [{ kind: 'tool-result', toolUseId, content, isError: isFailure(output), extra } as const]
  return {
    kind: 'result',
    ...envelope,
    startedAgentId:
      isText && output.startsWith('{"agent_id":') ? string(parseJson(output), 'agent_id') : undefined,
    decision: readDenial(blocks),
    blocks,
  }
}

/** A compaction: from here on the model sees what the line itself holds, and what comes after. */
export function readCompacted(payload: JsonObject, envelope: Envelope): Entry {
  const message = string(payload, 'message') ?? ''
  const left = payload['replacement_history']
  const summary: readonly Block[] = message === '' ? [] : [{ kind: 'text', text: message }]
  const inner = (index: number): Envelope => ({ ...envelope, id: `${envelope.id}.${index}`, raw: NOTHING })
  const history: readonly Entry[] = Array.isArray(left)
    ? left.map((item, index) => toLeft(item, inner(index), message))
    : // Before Codex wrote down what was left, it was the summary, behind the last prompts.
      [{ kind: 'injection', ...inner(0), link: IN_ORDER, blocks: summary }]
  const before = number(field(field(payload, 'latest_token_usage_record'), 'usage'), 'input_tokens')
  const window = string(payload, 'window_id')
  return {
    kind: 'compaction',
    ...envelope,
    link: AT_THE_BEGINNING,
    compaction: {
      trigger: 'unknown',
      ...(before === undefined ? {} : { tokensBefore: before }),
      ...(window === undefined ? {} : { window }),
    },
    summary,
    history,
    keepsPrompts: !Array.isArray(left),
  }
}

/** What a compaction left. The summary stands there as a message of a user, who never said it. */
function toLeft(item: unknown, envelope: Envelope, message: string): Entry {
  if (!isObject(item)) return { kind: 'unknown', ...envelope }
  const typed = { ...envelope, type: `response_item/${string(item, 'type') ?? ''}` }
  const entry = readItem(item, typed, undefined)
  const isSummary = entry.kind === 'prompt' && message !== '' && textOf(entry.blocks) === message
  return isSummary ? { kind: 'injection', ...typed, link: entry.link, blocks: entry.blocks } : entry
}

const NOTHING = new Uint8Array()
