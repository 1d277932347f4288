import { parseJson, string } from '#base'
import type { Entry, Envelope, Link, Place, Provider } from '#model'
import type { FieldReader } from '../field-reader.ts'
import type { RecordPlace } from '../source.ts'
import { KEY } from './keys.ts'

/** What all kinds of entries share. This runs for every line of every transcript. */
export function readEnvelope(
  fields: FieldReader,
  bytes: Buffer,
  record: RecordPlace,
  type: string,
): Envelope {
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

/** The entry for a record too large to hold: all that is known is its envelope. */
export function readOversizeEnvelope(values: ReadonlyMap<string, string>, place: Place): Entry {
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
