import { isObject, number, object, string } from '#base'
import type { Entry, Envelope, Spent, Usage } from '#model'
import { FieldReader } from '../field-reader.ts'
import { ObjectScanner } from '../object-scanner.ts'
import type { LineFormat, RecordPlace } from '../source.ts'
import { readBare } from './bare.ts'
import { IN_ORDER, readEnvelope, readOversizeEnvelope } from './envelope.ts'
import { readCompacted, readItem } from './items.ts'
import { KEY, KEYS, PAYLOAD, PAYLOAD_KEY, USAGE_KEY, USAGE_KEYS } from './keys.ts'
import { settle } from './settle.ts'
import { toParent } from './head.ts'

/**
 * How the lines of Codex's rollouts read: what the model sees, what was billed, and beside it what was shown to the
 * person, which is kept as it is. See `docs/formats/codex.md` for the evidence.
 */
export const codexFormat: LineFormat = {
  keys: KEYS,
  inner: PAYLOAD,
  createReader(scanner) {
    const payload = scanner.inner ?? new ObjectScanner(PAYLOAD.keys, PAYLOAD.inner)
    const line: Line = {
      fields: new FieldReader(scanner),
      payload: new FieldReader(payload),
      usage: new FieldReader(payload.inner ?? new ObjectScanner(USAGE_KEYS)),
    }
    return {
      readRecord: (bytes, record) => readRecord(line, bytes, record),
      // An item has a type too; only lines have a payload beside it.
      isRecord: () => line.fields.has(KEY.type) && line.fields.has(KEY.payload),
    }
  },
  settle,
  readEnvelope: readOversizeEnvelope,
}

/** The line at hand: its own fields, those of its payload, and of the usage in it. */
interface Line {
  readonly fields: FieldReader
  readonly payload: FieldReader
  readonly usage: FieldReader
}

function readRecord(line: Line, bytes: Buffer, record: RecordPlace): Entry {
  const { fields, payload } = line
  const type = fields.repeated(bytes, KEY.type) ?? ''
  const envelope = readEnvelope(fields, bytes, record, type)
  const bare = fields.has(KEY.payload) ? undefined : readBare(fields, bytes, { record, envelope })
  if (bare !== undefined) return bare
  switch (type) {
    case 'response_item': {
      const item = fields.value(bytes, KEY.payload)
      if (!isObject(item)) return { kind: 'unknown', ...envelope }
      const typed = { ...envelope, type: `response_item/${string(item, 'type') ?? ''}` }
      return readItem(item, typed, fields.value(bytes, KEY.metadata))
    }
    case 'event_msg':
      return readEvent(line, bytes, envelope)
    case 'token_usage_record':
      return readBill(line, bytes, envelope)
    case 'turn_context':
      return {
        kind: 'record',
        ...envelope,
        link: IN_ORDER,
        cwd: payload.repeated(bytes, PAYLOAD_KEY.cwd),
        value: payload.repeated(bytes, PAYLOAD_KEY.model),
        turn: toTurn(payload.repeated(bytes, PAYLOAD_KEY.turn_id)),
      }
    case 'compacted': {
      const compacted = fields.value(bytes, KEY.payload)
      return isObject(compacted) ? readCompacted(compacted, envelope) : { kind: 'unknown', ...envelope }
    }
    case 'session_meta':
      return readMeta(line, bytes, envelope)
    case 'world_state':
    case 'dynamic_tools_updated':
    case 'inter_agent_communication':
      return { kind: 'context', ...envelope }
    case 'inter_agent_communication_metadata':
    case 'security_risk_score':
    case 'realtime_item':
      return { kind: 'record', ...envelope }
    default:
      return { kind: 'unknown', ...envelope }
  }
}

/** The first line of a file, and of the thread whose lines a fork or a subagent copied. Its value is the thread it was made of. */
function readMeta({ payload }: Line, bytes: Buffer, envelope: Envelope): Entry {
  return {
    kind: 'record',
    ...envelope,
    sessionId: payload.text(bytes, PAYLOAD_KEY.id),
    value: toParent({
      forked_from_id: payload.text(bytes, PAYLOAD_KEY.forked_from_id),
      parent_thread_id: payload.text(bytes, PAYLOAD_KEY.parent_thread_id),
      source: payload.value(bytes, PAYLOAD_KEY.source),
    }),
    cwd: payload.repeated(bytes, PAYLOAD_KEY.cwd),
    gitBranch: string(object({ git: payload.value(bytes, PAYLOAD_KEY.git) }, 'git'), 'branch'),
    version: payload.text(bytes, PAYLOAD_KEY.cli_version),
    entrypoint: payload.text(bytes, PAYLOAD_KEY.originator),
  }
}

/** What one response cost: it ends the answer that it was made of. */
function readBill({ payload, usage }: Line, bytes: Buffer, envelope: Envelope): Entry {
  return {
    kind: 'reply',
    ...envelope,
    link: IN_ORDER,
    messageId: payload.text(bytes, PAYLOAD_KEY.response_id),
    part: 'end',
    blocks: [],
    usage: payload.isObject(bytes, PAYLOAD_KEY.usage) ? readUsage(usage, bytes) : undefined,
    synthetic: false,
    apiError: false,
  }
}

/**
 * What the last response cost, by the sums of its thread. They are written again whenever something else about usage
 * changes, and after a compaction with an estimate in place of figures: that is no cost.
 */
function readSpent(info: unknown): Spent | undefined {
  const last = object(info, 'last_token_usage')
  const usage = toUsage({
    input: number(last, 'input_tokens') ?? 0,
    cacheRead: number(last, 'cached_input_tokens') ?? 0,
    cacheCreation: number(last, 'cache_write_input_tokens') ?? 0,
    output: number(last, 'output_tokens') ?? 0,
  })
  if (usage.input + usage.output + usage.cacheRead + usage.cacheCreation === 0) return undefined
  const total = object(info, 'total_token_usage')
  const sum = [total, last].map((each) => SUMMED.map((key) => number(each, key) ?? 0).join(','))
  return { usage, sum: sum.join(' '), window: number(info, 'model_context_window') }
}

const SUMMED = [
  'input_tokens',
  'cached_input_tokens',
  'output_tokens',
  'reasoning_output_tokens',
  'total_tokens',
]

/** Turns had numbers once, which are no names beyond their thread. */
function toTurn(id: string | undefined): string | undefined {
  return id !== undefined && id.length > 16 ? id : undefined
}

/** OpenAI counts what came from the cache as a part of the input, and reasoning as a part of the output. */
function toUsage(figures: Pick<Usage, 'input' | 'output' | 'cacheRead' | 'cacheCreation'>): Usage {
  // A part is never more than the whole, whatever somebody else's server says.
  const cacheRead = Math.min(figures.input, figures.cacheRead)
  const { output, cacheCreation } = figures
  return {
    input: figures.input - cacheRead,
    output,
    cacheRead,
    cacheCreation,
    cacheCreation5m: 0,
    cacheCreation1h: 0,
  }
}

function readUsage(usage: FieldReader, bytes: Buffer): Usage {
  return toUsage({
    input: usage.number(bytes, USAGE_KEY.input_tokens) ?? 0,
    cacheRead: usage.number(bytes, USAGE_KEY.cached_input_tokens) ?? 0,
    cacheCreation: usage.number(bytes, USAGE_KEY.cache_write_input_tokens) ?? 0,
    output: usage.number(bytes, USAGE_KEY.output_tokens) ?? 0,
  })
}

/** What was shown to the person. What was said stands in items as well, and is read there. */
function readEvent({ payload }: Line, bytes: Buffer, line: Envelope): Entry {
  const type = payload.repeated(bytes, PAYLOAD_KEY.type) ?? ''
  const envelope = { ...line, type: `event_msg/${type}` }
  switch (type) {
    case 'turn_aborted':
      return {
        kind: 'interruption',
        ...envelope,
        text: `The turn was stopped: ${payload.text(bytes, PAYLOAD_KEY.reason) ?? 'no reason given'}`,
      }
    case 'task_complete': {
      const error = payload.value(bytes, PAYLOAD_KEY.error)
      if (isObject(error))
        return { kind: 'notice', ...envelope, level: 'error', text: string(error, 'message') ?? '' }
      return { kind: 'reply', ...envelope, part: 'end', blocks: [], synthetic: false, apiError: false }
    }
    case 'task_started':
      return { kind: 'record', ...envelope, turn: toTurn(payload.text(bytes, PAYLOAD_KEY.turn_id)) }
    case 'token_count': {
      const spent = readSpent(payload.value(bytes, PAYLOAD_KEY.info))
      return { kind: 'record', ...envelope, link: spent && IN_ORDER, spent }
    }
    case 'thread_rolled_back': {
      const turns = payload.number(bytes, PAYLOAD_KEY.num_turns) ?? 0
      return { kind: 'record', ...envelope, link: { ...IN_ORDER, takesBack: { turns } } }
    }
    case 'error':
    case 'warning':
      return {
        kind: 'notice',
        ...envelope,
        level: type,
        text: payload.text(bytes, PAYLOAD_KEY.message) ?? '',
      }
    default:
      return { kind: 'record', ...envelope }
  }
}
