import { boolean, field, parseJson, string } from '#base'
import {
  NO_USAGE,
  readBlocks,
  readCompaction,
  readUsage,
  textOf,
  type Block,
  type Decision,
  type Entry,
  type Envelope,
  type Link,
  type Place,
  type Provider,
  type Usage,
} from '#model'
import { FieldReader } from '../field-reader.ts'
import { ObjectScanner } from '../object-scanner.ts'
import type { LineFormat, RecordPlace } from '../source.ts'
import { readCommand } from './commands.ts'
import { KEY, KEYS, MESSAGE_KEY, MESSAGE_KEYS } from './keys.ts'

/**
 * How Claude Code's lines read. Claude Code publishes no schema and adds line types in patch releases, so this asks
 * only for what it uses and keeps everything else. See `docs/formats/claude.md` for the evidence.
 */
export const claudeFormat: LineFormat = {
  keys: KEYS,
  inner: { under: 'message', keys: MESSAGE_KEYS },
  createReader(scanner) {
    const fields = new FieldReader(scanner)
    const message = new FieldReader(scanner.inner ?? new ObjectScanner(MESSAGE_KEYS))
    const line: Line = { fields, message, usage: { value: undefined } }
    return {
      readRecord: (bytes, record) => readRecord(line, bytes, record),
      // A content block has a type too; only lines have one of these beside it.
      isRecord: () => fields.has(KEY.type) && LINE_KEYS.some((key) => fields.has(key)),
    }
  },
  readEnvelope,
}

const LINE_KEYS = [KEY.uuid, KEY.sessionId, KEY.messageId, KEY.leafUuid]

/** The line at hand: its own fields and those of its message. */
interface Line {
  readonly fields: FieldReader
  readonly message: FieldReader
  /** All lines of a message repeat its usage. */
  readonly usage: { value: Usage | undefined }
}

function readRecord(line: Line, bytes: Buffer, record: RecordPlace): Entry {
  const { fields } = line
  const type = fields.repeated(bytes, KEY.type) ?? ''
  const envelope = readChainEnvelope(fields, bytes, record, type)
  switch (type) {
    case 'user':
      return readUser(line, bytes, envelope)
    case 'assistant':
      return readAssistant(line, bytes, envelope)
    case 'attachment':
      return readAttachment(fields, bytes, envelope)
    case 'system':
      return readSystem(fields, bytes, envelope)
    default:
      return readOther(fields, bytes, envelope)
  }
}

/** What all kinds of entries share. This runs for every line of every transcript. */
function readChainEnvelope(fields: FieldReader, bytes: Buffer, record: RecordPlace, type: string): Envelope {
  // Most entries hang from the one on the line before: looked at before its uuid is replaced by this one's.
  const parentId = fields.repeated(bytes, KEY.parentUuid, KEY.uuid) ?? null
  const uuid = fields.repeated(bytes, KEY.uuid)
  const provider = fields.repeated(bytes, KEY.provider)
  return {
    id: uuid ?? `@${record.offset}`,
    place: { offset: record.offset, length: record.to - record.from },
    raw: new Uint8Array(bytes.buffer, bytes.byteOffset + record.from, record.to - record.from),
    type,
    link: uuid !== undefined && CHAIN_TYPES.has(type) ? readLink(fields, bytes, parentId) : undefined,
    at: fields.text(bytes, KEY.timestamp),
    sessionId: fields.repeated(bytes, KEY.sessionId),
    cwd: fields.repeated(bytes, KEY.cwd),
    gitBranch: fields.repeated(bytes, KEY.gitBranch),
    version: fields.repeated(bytes, KEY.version),
    entrypoint: fields.repeated(bytes, KEY.entrypoint),
    agentId: fields.repeated(bytes, KEY.agentId),
    requestId: fields.repeated(bytes, KEY.requestId),
    provider: provider === undefined ? undefined : readProvider(provider),
    forkedFrom: fields.has(KEY.forkedFrom) ? readFork(fields.value(bytes, KEY.forkedFrom)) : undefined,
  }
}

function readLink(fields: FieldReader, bytes: Buffer, parentId: string | null): Link {
  return {
    parentId,
    logicalParentId: fields.text(bytes, KEY.logicalParentUuid),
    sidechain: fields.isTrue(bytes, KEY.isSidechain),
  }
}

function readFork(forkedFrom: unknown): Envelope['forkedFrom'] {
  const sessionId = string(forkedFrom, 'sessionId')
  const entryId = string(forkedFrom, 'messageUuid')
  return sessionId === undefined || entryId === undefined ? undefined : { sessionId, entryId }
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

function readUser({ fields, message }: Line, bytes: Buffer, envelope: Envelope): Entry {
  const blocks = readBlocks(message.value(bytes, MESSAGE_KEY.content))
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
  return {
    kind: 'prompt',
    ...envelope,
    blocks,
    origin: readOrigin(fields, bytes, text),
    midTurn: false,
    sentAs: undefined,
    permissionMode: fields.repeated(bytes, KEY.permissionMode),
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

function readResult(fields: FieldReader, bytes: Buffer, envelope: Envelope, blocks: readonly Block[]): Entry {
  return {
    kind: 'result',
    ...envelope,
    blocks,
    callEntryId: fields.text(bytes, KEY.sourceToolAssistantUUID),
    decision: readDecision(fields, bytes),
    startedAgentId: readStartedAgent(fields, bytes),
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
  const decision = fields.has(KEY.permissionDecision)
    ? fields.value(bytes, KEY.permissionDecision)
    : undefined
  if (decision === undefined && denial === undefined) return undefined
  const rejected = denial !== undefined || string(decision, 'decision') === 'reject'
  return { outcome: rejected ? 'rejected' : 'accepted', by: string(decision, 'source'), denial }
}

function readAssistant({ fields, message, usage: cache }: Line, bytes: Buffer, envelope: Envelope): Entry {
  const model = message.repeated(bytes, MESSAGE_KEY.model)
  return {
    kind: 'reply',
    ...envelope,
    messageId: message.repeated(bytes, MESSAGE_KEY.id),
    model,
    blocks: readBlocks(message.value(bytes, MESSAGE_KEY.content)),
    usage: message.cached(bytes, MESSAGE_KEY.usage, cache, (value) => readUsage(value) ?? NO_USAGE),
    stopReason: message.repeated(bytes, MESSAGE_KEY.stop_reason),
    stopSequence: message.repeated(bytes, MESSAGE_KEY.stop_sequence),
    synthetic: model === '<synthetic>',
    apiError: fields.isTrue(bytes, KEY.isApiErrorMessage),
  }
}

function readAttachment(fields: FieldReader, bytes: Buffer, chain: Envelope): Entry {
  const type = fields.innerType(bytes, KEY.attachment)
  const envelope = type === undefined ? chain : { ...chain, type: `attachment/${type}` }
  if (type !== 'queued_command') return { kind: 'context', ...envelope }
  const attachment = fields.value(bytes, KEY.attachment)
  const blocks = readBlocks(field(attachment, 'prompt'))
  if (boolean(attachment, 'isMeta') === true) return { kind: 'injection', ...envelope, blocks }
  return {
    kind: 'prompt',
    ...envelope,
    blocks,
    origin: string(attachment, 'commandMode') === 'task-notification' ? 'system' : 'person',
    midTurn: true,
    sentAs: string(attachment, 'source_uuid'),
    permissionMode: undefined,
  }
}

function readSystem(fields: FieldReader, bytes: Buffer, chain: Envelope): Entry {
  const subtype = fields.repeated(bytes, KEY.subtype)
  const envelope = subtype === undefined ? chain : { ...chain, type: `system/${subtype}` }
  if (subtype === 'compact_boundary') {
    const compaction = readCompaction(fields.value(bytes, KEY.compactMetadata))
    return { kind: 'compaction', ...envelope, compaction }
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
function readOther(fields: FieldReader, bytes: Buffer, envelope: Envelope): Entry {
  const valueKey = RECORD_VALUES.get(envelope.type)
  if (valueKey === undefined) return { kind: 'unknown', ...envelope }
  const operation = envelope.type === 'queue-operation' ? fields.text(bytes, KEY.operation) : undefined
  return {
    kind: 'record',
    ...envelope,
    type: operation === undefined ? envelope.type : `queue-operation/${operation}`,
    value: valueKey === null ? undefined : fields.text(bytes, valueKey),
  }
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
