import { boolean, field, string } from '#base'
import {
  isWakeUp,
  readBlocks,
  readCompaction,
  textOf,
  type Block,
  type Decision,
  type Entry,
  type Envelope,
  type Usage,
} from '#model'
import { readDenial } from '../denial.ts'
import { FieldReader } from '../field-reader.ts'
import { ObjectScanner } from '../object-scanner.ts'
import type { LineFormat, RecordPlace } from '../source.ts'
import { readCommand } from './commands.ts'
import { readDelegated, toInline, type ReadInner } from './delegated.ts'
import { readEnvelope, readOversizeEnvelope } from './envelope.ts'
import { CACHE_KEY, CACHE_KEYS, KEY, KEYS, MESSAGE, MESSAGE_KEY, USAGE_KEY, USAGE_KEYS } from './keys.ts'
import { readSideRecord } from './side-records.ts'

/**
 * How Claude Code's lines read. Claude Code publishes no schema and adds line types in patch releases, so this asks
 * only for what it uses and keeps everything else. See `docs/formats/claude.md` for the evidence.
 */
export const claudeFormat: LineFormat = {
  keys: KEYS,
  inner: MESSAGE,
  linkMarks: [Buffer.from('"uuid"'), Buffer.from('"enqueue"'), Buffer.from('"popAll"')],
  createReader(scanner) {
    const line = createLine(scanner)
    const readInner = createInnerReader()
    return {
      readRecord: (bytes, record) => readRecord(line, bytes, record, readInner),
      // A content block has a type too; only lines have one of these beside it.
      isRecord: () => line.fields.has(KEY.type) && LINE_KEYS.some((key) => line.fields.has(key)),
    }
  },
  readEnvelope: readOversizeEnvelope,
}

const LINE_KEYS = [KEY.uuid, KEY.sessionId, KEY.messageId, KEY.leafUuid]

/** The line at hand: its own fields, those of its message, of the message's usage, and of what the usage cached. */
interface Line {
  readonly fields: FieldReader
  readonly message: FieldReader
  readonly usage: FieldReader
  readonly cache: FieldReader
  readonly decision: { value: Decision | undefined }
}

function createLine(scanner: ObjectScanner): Line {
  const message = scanner.inner ?? new ObjectScanner(MESSAGE.keys, MESSAGE.inner)
  const usage = message.inner ?? new ObjectScanner(USAGE_KEYS)
  const cache = usage.inner ?? new ObjectScanner(CACHE_KEYS)
  return {
    fields: new FieldReader(scanner),
    message: new FieldReader(message),
    usage: new FieldReader(usage),
    cache: new FieldReader(cache),
    decision: { value: undefined },
  }
}

/** Made when the first record is found inside of another one: few sessions have any. */
function createInnerReader(): ReadInner {
  let known: { readonly scanner: ObjectScanner; readonly line: Line } | undefined
  return (inner) => {
    if (known === undefined) {
      const scanner = new ObjectScanner(KEYS, MESSAGE)
      known = { scanner, line: createLine(scanner) }
    }
    const bytes = Buffer.from(JSON.stringify(inner))
    if (known.scanner.scan(bytes, 0, bytes.length) < 0) return undefined
    return readRecord(known.line, bytes, { from: 0, to: bytes.length, offset: 0 })
  }
}

function readRecord(line: Line, bytes: Buffer, record: RecordPlace, readInner?: ReadInner): Entry {
  const { fields } = line
  const type = fields.repeated(bytes, KEY.type) ?? ''
  const envelope = readEnvelope(fields, bytes, record, type)
  const entry = readKind(line, bytes, { record, type, envelope, readInner })
  return envelope.link?.sidechain === true ? toInline(entry) : entry
}

interface Reading {
  readonly record: RecordPlace
  readonly type: string
  readonly envelope: Envelope
  readonly readInner: ReadInner | undefined
}

function readKind(line: Line, bytes: Buffer, { record, type, envelope, readInner }: Reading): Entry {
  const { fields } = line
  switch (type) {
    case 'user':
      return readUser(line, bytes, envelope)
    case 'assistant':
      return readAssistant(line, bytes, envelope)
    case 'attachment':
      return readAttachment(fields, bytes, envelope)
    case 'system':
      return readSystem(fields, bytes, envelope)
    case 'progress': {
      const { path } = record
      const delegated = readInner && readDelegated(fields, bytes, { envelope, path, readInner })
      return delegated ?? readSideRecord(fields, bytes, envelope)
    }
    default:
      return readSideRecord(fields, bytes, envelope)
  }
}

function readUser(line: Line, bytes: Buffer, envelope: Envelope): Entry {
  const { fields, message } = line
  const blocks = readBlocks(message.parsed(bytes, MESSAGE_KEY.content))
  if (fields.isTrue(bytes, KEY.isCompactSummary)) return { kind: 'summary', ...envelope, blocks }
  if (blocks.some((block) => block.kind === 'tool-result')) return readResult(line, bytes, envelope, blocks)
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

/** What Throughline calls itself to agents that it runs. */
const RUN_HERE = 'throughline'

function readOrigin(fields: FieldReader, bytes: Buffer, text: string): 'person' | 'program' | 'system' {
  const source = fields.repeated(bytes, KEY.promptSource)
  // A wake-up is ours: no person has said it, whoever handed it on.
  if (source === 'system' || text.startsWith('<task-notification>') || isWakeUp(text)) return 'system'
  // What is said here to an agent that is run here comes from a person, though a program hands it on.
  if (source === 'sdk') return fields.repeated(bytes, KEY.entrypoint) === RUN_HERE ? 'person' : 'program'
  // Clients before 2.1 said nothing of the source; the entrypoint still tells a terminal from a program.
  if (source === undefined) {
    const entrypoint = fields.repeated(bytes, KEY.entrypoint)
    return entrypoint?.startsWith('sdk') === true ? 'program' : 'person'
  }
  return 'person'
}

function readResult(line: Line, bytes: Buffer, envelope: Envelope, blocks: readonly Block[]): Entry {
  const { fields } = line
  return {
    kind: 'result',
    ...envelope,
    blocks,
    callEntryId: fields.text(bytes, KEY.sourceToolAssistantUUID),
    decision: toDecided(readDecision(line, bytes), readDenial(blocks)),
    startedAgentId: readStartedAgent(fields, bytes),
  }
}

/** `toolUseResult` mostly repeats the output and stays unparsed, unless it names a subagent. */
function readStartedAgent(fields: FieldReader, bytes: Buffer): string | undefined {
  return fields.contains(bytes, KEY.toolUseResult, KEY_END) &&
    fields.contains(bytes, KEY.toolUseResult, AGENT_ID)
    ? string(fields.value(bytes, KEY.toolUseResult), 'agentId')
    : undefined
}

/** The end of the key is looked for first: capital letters are rare, and quotes are everywhere. */
const KEY_END = Buffer.from('Id":')
const AGENT_ID = Buffer.from('"agentId"')

/** Decisions are few, and mostly the same as the one before. */
function readDecision({ fields, decision: last }: Line, bytes: Buffer): Decision | undefined {
  const denial = fields.repeated(bytes, KEY.toolDenialKind)
  const decision = fields.derived(bytes, KEY.permissionDecision, last, toDecision)
  return denial === undefined ? decision : { outcome: 'rejected', by: decision?.by, denial }
}

/** The agent calls every denial that comes through its SDK one of a rule. The words tell that a person said it. */
function toDecided(written: Decision | undefined, said: Decision | undefined): Decision | undefined {
  if (written?.denial === undefined || said === undefined) return written ?? said
  return written.denial === 'permission-rule' ? { ...said, by: written.by } : written
}

function toDecision(value: unknown): Decision {
  const outcome = string(value, 'decision') === 'reject' ? 'rejected' : 'accepted'
  return { outcome, by: string(value, 'source'), denial: undefined }
}

function readAssistant(line: Line, bytes: Buffer, envelope: Envelope): Entry {
  const { fields, message } = line
  const model = message.repeated(bytes, MESSAGE_KEY.model)
  return {
    kind: 'reply',
    ...envelope,
    messageId: message.repeated(bytes, MESSAGE_KEY.id),
    model,
    blocks: readBlocks(message.parsed(bytes, MESSAGE_KEY.content)),
    usage: message.isObject(bytes, MESSAGE_KEY.usage) ? readUsage(line, bytes) : undefined,
    stopReason: message.repeated(bytes, MESSAGE_KEY.stop_reason),
    stopSequence: message.repeated(bytes, MESSAGE_KEY.stop_sequence),
    synthetic: model === '<synthetic>',
    apiError: fields.isTrue(bytes, KEY.isApiErrorMessage),
  }
}

/** Cache creation comes flat, divided by lifetime, or both. */
export function readUsage({ usage, cache }: Pick<Line, 'usage' | 'cache'>, bytes: Buffer): Usage {
  const cacheCreation5m = cache.number(bytes, CACHE_KEY.ephemeral_5m_input_tokens) ?? 0
  const cacheCreation1h = cache.number(bytes, CACHE_KEY.ephemeral_1h_input_tokens) ?? 0
  return {
    input: usage.number(bytes, USAGE_KEY.input_tokens) ?? 0,
    output: usage.number(bytes, USAGE_KEY.output_tokens) ?? 0,
    cacheRead: usage.number(bytes, USAGE_KEY.cache_read_input_tokens) ?? 0,
    cacheCreation:
      usage.number(bytes, USAGE_KEY.cache_creation_input_tokens) ?? cacheCreation5m + cacheCreation1h,
    cacheCreation5m,
    cacheCreation1h,
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
    origin: isReport(attachment) || isWakeUp(textOf(blocks)) ? 'system' : 'person',
    midTurn: true,
    sentAs: string(attachment, 'source_uuid'),
    permissionMode: undefined,
  }
}

function isReport(attachment: unknown): boolean {
  return string(attachment, 'commandMode') === 'task-notification'
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
