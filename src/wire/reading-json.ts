import { field, isObject, ThroughlineError } from '#base'
import type { Entry, Reading } from '#model'

/** Bytes as JSON: a string is UTF-8 text that gives the very same bytes back, anything else is base64. */
export type WireBytes = string | { readonly base64: string }

/** How bytes become text and back. Node and browsers have different names for it, and this room knows neither. */
export interface BytesCodec {
  toWire(bytes: Uint8Array): WireBytes
  fromWire(bytes: WireBytes): Uint8Array
}

/** A reading as JSON can carry it, its raw line beside it. */
export function toWireReading(reading: Reading, codec: BytesCodec): unknown {
  if (reading.kind === 'damage') return reading
  const { raw, ...whole } = reading.entry
  const entry = whole.kind === 'delegated' ? { ...whole, work: { ...whole.work, raw: undefined } } : whole
  return raw.length === 0 ? { kind: 'entry', entry } : { kind: 'entry', entry, raw: codec.toWire(raw) }
}

const NO_BYTES = new Uint8Array(0)

/**
 * Reads what `toWireReading` wrote. The daemon is ours and of the same protocol version: its envelope is checked, what
 * is inside is taken as it is.
 */
export function fromWireReading(value: unknown, codec: BytesCodec): Reading {
  if (isDamage(value)) return value
  const entry = field(value, 'entry')
  if (!isBareEntry(entry)) {
    throw new ThroughlineError('daemon-unreachable', 'the daemon answered with something that is no entry', {
      hint: 'Check that client and daemon have the same version: `throughline status`.',
    })
  }
  const raw = field(value, 'raw')
  const bytes = isWireBytes(raw) ? codec.fromWire(raw) : NO_BYTES
  if (entry.kind !== 'delegated') return { kind: 'entry', entry: { ...entry, raw: bytes } }
  return { kind: 'entry', entry: { ...entry, raw: bytes, work: { ...entry.work, raw: NO_BYTES } } }
}

function isDamage(value: unknown): value is Extract<Reading, { kind: 'damage' }> {
  return isObject(value) && value['kind'] === 'damage' && isObject(value['damage'])
}

function isBareEntry(value: unknown): value is Omit<Entry, 'raw'> & Entry {
  return (
    isObject(value) &&
    typeof value['id'] === 'string' &&
    typeof value['kind'] === 'string' &&
    typeof value['type'] === 'string' &&
    isObject(value['place'])
  )
}

function isWireBytes(value: unknown): value is WireBytes {
  return typeof value === 'string' || (isObject(value) && typeof value['base64'] === 'string')
}
