import { isObject, object, string } from '#base'
import type { Entry, Envelope, Usage } from '#model'
import { FieldReader } from '../field-reader.ts'
import { ObjectScanner } from '../object-scanner.ts'
import type { LineFormat, RecordPlace } from '../source.ts'
import { IN_ORDER, readEnvelope, readOversizeEnvelope } from './envelope.ts'
import { readCompacted, readItem } from './items.ts'
import { KEY, KEYS, PAYLOAD, PAYLOAD_KEY, USAGE_KEY, USAGE_KEYS } from './keys.ts'
import { settle } from './settle.ts'

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

/** The first line of a file, and of what a subagent was given of its parent's. */
function readMeta({ payload }: Line, bytes: Buffer, envelope: Envelope): Entry {
  return {
    kind: 'record',
    ...envelope,
    sessionId: payload.text(bytes, PAYLOAD_KEY.id),
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

/** OpenAI counts what came from the cache as a part of the input, and reasoning as a part of the output. */
function readUsage(usage: FieldReader, bytes: Buffer): Usage {
  const input = usage.number(bytes, USAGE_KEY.input_tokens) ?? 0
  // A part is never more than the whole, whatever somebody else's server says.
  const cacheRead = Math.min(input, usage.number(bytes, USAGE_KEY.cached_input_tokens) ?? 0)
  const cacheCreation = usage.number(bytes, USAGE_KEY.cache_write_input_tokens) ?? 0
  return {
    input: input - cacheRead,
    output: usage.number(bytes, USAGE_KEY.output_tokens) ?? 0,
    cacheRead,
    cacheCreation,
    cacheCreation5m: 0,
    cacheCreation1h: 0,
  }
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
