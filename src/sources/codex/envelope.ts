import { parseJson } from '#base'
import type { Entry, Envelope, Link, Place } from '#model'
import type { FieldReader } from '../field-reader.ts'
import type { RecordPlace } from '../source.ts'
import { KEY } from './keys.ts'

/** A line that the model sees, or that says something of those it sees. Codex names no parents. */
export const IN_ORDER: Link = { parentId: undefined, sidechain: false }

/** A compaction: nothing stands before it in the model's window. */
export const AT_THE_BEGINNING: Link = { parentId: null, sidechain: false }

/** What all kinds of entries share. Lines have no ids, so they are named by their place. */
export function readEnvelope(
  fields: FieldReader,
  bytes: Buffer,
  record: RecordPlace,
  type: string,
): Envelope {
  return {
    id: `@${record.offset}`,
    place: { offset: record.offset, length: record.to - record.from },
    raw: new Uint8Array(bytes.buffer, bytes.byteOffset + record.from, record.to - record.from),
    type,
    link: undefined,
    at: fields.text(bytes, KEY.timestamp),
    sessionId: undefined,
    cwd: undefined,
    gitBranch: undefined,
    version: undefined,
    entrypoint: undefined,
    provider: 'openai',
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
  const at = get('timestamp')
  return {
    kind: 'oversize',
    id: `@${place.offset}`,
    place,
    raw: new Uint8Array(),
    type,
    provider: 'openai',
    ...(type === 'response_item' ? { link: IN_ORDER } : {}),
    ...(at === undefined ? {} : { at }),
  }
}
