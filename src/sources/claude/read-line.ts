import { boolean, field, parseJson, string } from '#base'
import {
  readBlocks,
  readCompaction,
  readUsage,
  textOf,
  type Block,
  type Decision,
  type Entry,
  type Envelope,
  type Place,
  type Provider,
} from '#model'
import { FieldReader } from '../field-reader.ts'
import type { ObjectScanner } from '../object-scanner.ts'
import type { LineFormat, RecordPlace } from '../source.ts'
import { readCommand } from './commands.ts'
import { KEY, KEYS } from './keys.ts'

/**
 * How Claude Code's lines read. Claude Code publishes no schema and adds line types in patch releases, so this asks
 * only for what it uses and keeps everything else. See `docs/formats/claude.md` for the evidence.
 */
export function claudeFormat(scanner: ObjectScanner): LineFormat {
  const fields = new FieldReader(scanner, KEYS.length)
  return {
    keys: KEYS,
    readRecord: (bytes, _scanner, record) => readRecord(fields, bytes, record),
    readEnvelope,
    // A content block has a type too; only lines have one of these beside it.
    isRecord: () =>
      fields.has(KEY.type) &&
      (fields.has(KEY.uuid) || fields.has(KEY.sessionId) || fields.has(KEY.messageId) || fields.has(KEY.leafUuid)),
  }
}

function readRecord(fields: FieldReader, bytes: Buffer, record: RecordPlace): Entry {
  const type = fields.repeated(bytes, KEY.type) ?? ''
  const envelope = readChainEnvelope(fields, bytes, record, type)
  switch (type) {
    case 'user':
      return readUser(fields, bytes, envelope)
    case 'assistant':
      return readAssistant(fields, bytes, envelope)
    case 'attachment':
      return readAttachment(fields, bytes, envelope)
    case 'system':
      return readSystem(fields, bytes, envelope)
    default:
      return readOther(fields, bytes, envelope)
  }
}

type Open<T> = { -readonly [K in keyof T]: T[K] }

/** What all kinds of entries share. Fields are set one by one: this runs for every line of every transcript. */
function readChainEnvelope(
  fields: FieldReader,
  bytes: Buffer,
  record: RecordPlace,
  type: string,
): Open<Envelope> {
  const uuid = fields.text(bytes, KEY.uuid)
  const envelope: Open<Envelope> = {
    id: uuid ?? `@${record.offset}`,
    place: { offset: record.offset, length: record.to - record.from },
    raw: bytes.subarray(record.from, record.to),
    type,
  }
  if (uuid !== undefined && CHAIN_TYPES.has(type)) {
    const logicalParentId = fields.text(bytes, KEY.logicalParentUuid)
    const parentId = fields.text(bytes, KEY.parentUuid) ?? null
    const sidechain = fields.isTrue(bytes, KEY.isSidechain)
    envelope.link =
      logicalParentId === undefined ? { parentId, sidechain } : { parentId, logicalParentId, sidechain }
  }
  const at = fields.text(bytes, KEY.timestamp)
  if (at !== undefined) envelope.at = at
  const sessionId = fields.repeated(bytes, KEY.sessionId)
  if (sessionId !== undefined) envelope.sessionId = sessionId
  const cwd = fields.repeated(bytes, KEY.cwd)
  if (cwd !== undefined) envelope.cwd = cwd
  const gitBranch = fields.repeated(bytes, KEY.gitBranch)
  if (gitBranch !== undefined) envelope.gitBranch = gitBranch
  const version = fields.repeated(bytes, KEY.version)
  if (version !== undefined) envelope.version = version
  const entrypoint = fields.repeated(bytes, KEY.entrypoint)
  if (entrypoint !== undefined) envelope.entrypoint = entrypoint
  const agentId = fields.repeated(bytes, KEY.agentId)
  if (agentId !== undefined) envelope.agentId = agentId
  const requestId = fields.repeated(bytes, KEY.requestId)
  if (requestId !== undefined) envelope.requestId = requestId
  const provider = fields.repeated(bytes, KEY.provider)
  if (provider !== undefined) envelope.provider = readProvider(provider)
  if (fields.has(KEY.forkedFrom)) {
    const forkedFrom = fields.value(bytes, KEY.forkedFrom)
    const from = string(forkedFrom, 'sessionId')
    const entryId = string(forkedFrom, 'messageUuid')
    if (from !== undefined && entryId !== undefined) envelope.forkedFrom = { sessionId: from, entryId }
  }
  return envelope
}

const CHAIN_TYPES: ReadonlySet<string> = new Set(['user', 'assistant', 'attachment', 'system', 'progress'])

function readProvider(name: string): Provider {
  switch (name) {
    case 'anthropic':
    case 'claude':
      return 'anthropic'
    case 'openai':
    case 'codex':
      return 'openai'
    case 'gemini':
      return 'gemini'
    default:
      return 'unknown'
  }
}

function readUser(fields: FieldReader, bytes: Buffer, envelope: Open<Envelope>): Entry {
  const blocks = readBlocks(field(fields.value(bytes, KEY.message), 'content'))
  if (fields.isTrue(bytes, KEY.isCompactSummary)) return { kind: 'summary', ...envelope, blocks }
  if (blocks.some((block) => block.kind === 'tool-result')) return readResult(fields, bytes, envelope, blocks)
  if (fields.isTrue(bytes, KEY.isMeta)) return { kind: 'injection', ...envelope, blocks }
  const text = textOf(blocks)
  if (text.startsWith('<')) {
    const command = readCommand(text)
    if (command !== undefined) return { kind: 'command', ...envelope, ...command }
  }
  if (text.startsWith('[Request interrupted by user') && blocks.length === 1) {
    return { kind: 'interruption', ...envelope, text }
  }
  const permissionMode = fields.repeated(bytes, KEY.permissionMode)
  return {
    kind: 'prompt',
    ...envelope,
    blocks,
    origin: readOrigin(fields, bytes, text),
    midTurn: false,
    ...(permissionMode === undefined ? {} : { permissionMode }),
  }
}

function readOrigin(fields: FieldReader, bytes: Buffer, text: string): 'person' | 'program' | 'system' {
  const source = fields.repeated(bytes, KEY.promptSource)
  if (source === 'system' || text.startsWith('<task-notification>')) return 'system'
  if (source === 'sdk') return 'program'
  // Clients before 2.1 said nothing of the source; the entrypoint still tells a terminal from a program.
  if (source === undefined) {
    const entrypoint = fields.repeated(bytes, KEY.entrypoint)
    return entrypoint?.startsWith('sdk') === true ? 'program' : 'person'
  }
  return 'person'
}

function readResult(
  fields: FieldReader,
  bytes: Buffer,
  envelope: Open<Envelope>,
  blocks: readonly Block[],
): Entry {
  const callEntryId = fields.text(bytes, KEY.sourceToolAssistantUUID)
  const decision = readDecision(fields, bytes)
  const startedAgentId = readStartedAgent(fields, bytes)
  return {
    kind: 'result',
    ...envelope,
    blocks,
    ...(callEntryId === undefined ? {} : { callEntryId }),
    ...(decision === undefined ? {} : { decision }),
    ...(startedAgentId === undefined ? {} : { startedAgentId }),
  }
}

/** `toolUseResult` mostly repeats the output and stays unparsed, unless it names a subagent. */
function readStartedAgent(fields: FieldReader, bytes: Buffer): string | undefined {
  return fields.contains(bytes, KEY.toolUseResult, AGENT_ID)
    ? string(fields.value(bytes, KEY.toolUseResult), 'agentId')
    : undefined
}

const AGENT_ID = Buffer.from('"agentId"')

function readDecision(fields: FieldReader, bytes: Buffer): Decision | undefined {
  const denial = fields.repeated(bytes, KEY.toolDenialKind)
  const decision = fields.has(KEY.permissionDecision) ? fields.value(bytes, KEY.permissionDecision) : undefined
  if (decision === undefined && denial === undefined) return undefined
  const by = string(decision, 'source')
  const rejected = denial !== undefined || string(decision, 'decision') === 'reject'
  return {
    outcome: rejected ? 'rejected' : 'accepted',
    ...(by === undefined ? {} : { by }),
    ...(denial === undefined ? {} : { denial }),
  }
}

function readAssistant(fields: FieldReader, bytes: Buffer, envelope: Open<Envelope>): Entry {
  const message = fields.value(bytes, KEY.message)
  const messageId = string(message, 'id')
  const model = string(message, 'model')
  const usage = readUsage(field(message, 'usage'))
  const stopReason = string(message, 'stop_reason')
  const stopSequence = string(message, 'stop_sequence')
  return {
    kind: 'reply',
    ...envelope,
    ...(messageId === undefined ? {} : { messageId }),
    ...(model === undefined ? {} : { model }),
    blocks: readBlocks(field(message, 'content')),
    ...(usage === undefined ? {} : { usage }),
    ...(stopReason === undefined ? {} : { stopReason }),
    ...(stopSequence === undefined ? {} : { stopSequence }),
    synthetic: model === '<synthetic>',
    apiError: fields.isTrue(bytes, KEY.isApiErrorMessage),
  }
}

function readAttachment(fields: FieldReader, bytes: Buffer, envelope: Open<Envelope>): Entry {
  const type = fields.innerType(bytes, KEY.attachment)
  if (type !== undefined) envelope.type = `attachment/${type}`
  if (type !== 'queued_command') return { kind: 'context', ...envelope }
  const attachment = fields.value(bytes, KEY.attachment)
  const blocks = readBlocks(field(attachment, 'prompt'))
  if (boolean(attachment, 'isMeta') === true) return { kind: 'injection', ...envelope, blocks }
  const fromTask = string(attachment, 'commandMode') === 'task-notification'
  return { kind: 'prompt', ...envelope, blocks, origin: fromTask ? 'system' : 'person', midTurn: true }
}

function readSystem(fields: FieldReader, bytes: Buffer, envelope: Open<Envelope>): Entry {
  const subtype = fields.repeated(bytes, KEY.subtype)
  if (subtype !== undefined) envelope.type = `system/${subtype}`
  if (subtype === 'compact_boundary') {
    return {
      kind: 'compaction',
      ...envelope,
      compaction: readCompaction(fields.value(bytes, KEY.compactMetadata)),
    }
  }
  const content = fields.text(bytes, KEY.content) ?? ''
  if (subtype === 'local_command') {
    return { kind: 'command', ...envelope, ...(readCommand(content) ?? { output: content }) }
  }
  const level = fields.repeated(bytes, KEY.level) ?? 'info'
  return { kind: 'notice', ...envelope, level, text: content === '' ? noticeText(fields, bytes) : content }
}

/** Some notices have no sentence of their own. */
function noticeText(fields: FieldReader, bytes: Buffer): string {
  if (fields.has(KEY.error)) {
    const error = fields.value(bytes, KEY.error)
    return string(error, 'formatted') ?? string(error, 'message') ?? (typeof error === 'string' ? error : '')
  }
  const duration = fields.value(bytes, KEY.durationMs)
  return typeof duration === 'number' ? `took ${(duration / 1000).toFixed(1)} s` : ''
}

/** Side records: facts about the session that hang nowhere in the conversation. */
function readOther(fields: FieldReader, bytes: Buffer, envelope: Open<Envelope>): Entry {
  const valueKey = RECORD_VALUES.get(envelope.type)
  if (valueKey === undefined) return { kind: 'unknown', ...envelope }
  const value = valueKey === null ? undefined : fields.text(bytes, valueKey)
  if (envelope.type === 'queue-operation') {
    const operation = fields.text(bytes, KEY.operation)
    if (operation !== undefined) envelope.type = `queue-operation/${operation}`
  }
  return value === undefined ? { kind: 'record', ...envelope } : { kind: 'record', ...envelope, value }
}

/** Known side records, and the key of the one text that says what they say. */
const RECORD_VALUES: ReadonlyMap<string, number | null> = new Map<string, number | null>([
  ['custom-title', KEY.customTitle],
  ['ai-title', KEY.aiTitle],
  ['agent-name', KEY.agentName],
  ['tag', KEY.tag],
  ['mode', KEY.mode],
  ['permission-mode', KEY.permissionMode],
  ['relocated', KEY.relocatedCwd],
  ['summary', KEY.summary],
  ['queue-operation', KEY.content],
  ...[
    'last-prompt',
    'file-history-snapshot',
    'file-history-delta',
    'attribution-snapshot',
    'cost-state',
    'tools-used',
    'atis-latch',
    'api-request',
    'api-request-blob',
    'api-request-shape',
    'progress',
    'ended-by-model',
    'continued-in',
    'agent-color',
    'agent-setting',
    'pr-link',
    'frame-link',
    'artifact-comment-monitor',
    'artifact-autoreact-ledger',
    'bridge-session',
    'history-suppression',
    'isolation-latch',
    'session-owner',
    'dev-mods',
    'memory-mode',
    'data-flow-records',
    'data-flow-incomplete',
    'derived-from',
    'worktree-state',
    'content-replacement',
    'fork-context-ref',
    'observer-ref',
    'resume-head-vouch',
    'repl-mode',
  ].map((type): [string, null] => [type, null]),
])

function readEnvelope(values: ReadonlyMap<string, string>, place: Place): Entry {
  const get = (key: string): string | undefined => {
    const value = values.get(key)
    const parsed = value === undefined ? undefined : parseJson(value)
    return typeof parsed === 'string' ? parsed : undefined
  }
  const type = get('type') ?? ''
  const uuid = get('uuid')
  const at = get('timestamp')
  const sessionId = get('sessionId')
  const cwd = get('cwd')
  return {
    kind: 'oversize',
    id: uuid ?? `@${place.offset}`,
    place,
    raw: new Uint8Array(),
    type,
    ...(uuid !== undefined && CHAIN_TYPES.has(type)
      ? { link: { parentId: get('parentUuid') ?? null, sidechain: values.get('isSidechain') === 'true' } }
      : {}),
    ...(at === undefined ? {} : { at }),
    ...(sessionId === undefined ? {} : { sessionId }),
    ...(cwd === undefined ? {} : { cwd }),
  }
}
