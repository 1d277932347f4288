import type { Entry } from './entry.ts'
import type { NoticeMessage } from './message.ts'

/** What a line is to an earlier one with the same id: it says the same again, or something else. */
export type Repeat = 'same' | 'other'

export interface RepeatTracker {
  add(entry: Entry): Repeat | undefined
}

/** Tells which of the lines with these ids repeat an earlier one. Of each, a fingerprint is kept. Default: all ids. */
export function createRepeatTracker(ids?: ReadonlySet<string>): RepeatTracker {
  const seen = new Map<string, Set<string>>()
  return {
    add(entry) {
      const { id, link } = entry
      if (link === undefined || ids?.has(id) === false) return undefined
      const fingerprint = toFingerprint(entry)
      const known = seen.get(id)
      if (known === undefined) {
        seen.set(id, new Set([fingerprint]))
        return undefined
      }
      if (known.has(fingerprint)) return 'same'
      known.add(fingerprint)
      return 'other'
    },
  }
}

/** Tells repeats among these entries alone. */
export function repeatsAmong(entries: readonly Entry[]): RepeatTracker {
  const known = new Set<string>()
  const ids = new Set<string>()
  for (const { id, link } of entries) if (link !== undefined) (known.has(id) ? ids : known).add(id)
  return createRepeatTracker(ids)
}

/** Stands before an entry whose id an earlier one has. */
export function toRepeatNotice({ id, place }: Entry): NoticeMessage {
  const text = 'The next line has the same id as an earlier line, and says something else. Both are shown.'
  return { kind: 'notice', id: `${id}@${place.offset}`, entries: [], level: 'warning', text }
}

/** Of what the entry says, not of when and where it was written. */
function toFingerprint(entry: Entry): string {
  const {
    place: _place,
    raw,
    link: _link,
    at: _at,
    sessionId: _session,
    cwd: _cwd,
    gitBranch: _branch,
    version: _version,
    entrypoint: _entrypoint,
    ...said
  } = entry
  const text = JSON.stringify(said, withoutBytes)
  // Of some kinds nothing was read but the line itself.
  const body = BODIES.has(entry.kind) ? raw : NO_BYTES
  return `${text.length} ${hash(text, 0x811c9dc5)} ${hash(text, 0x01234567)} ${body.length} ${hashBytes(body)}`
}

/** The lines of entries inside of an entry stand where it stands. */
function withoutBytes(key: string, value: unknown): unknown {
  return key === 'raw' || key === 'place' ? undefined : value
}

const BODIES: ReadonlySet<Entry['kind']> = new Set(['context', 'record', 'unknown'])
const NO_BYTES = new Uint8Array(0)

function hashBytes(bytes: Uint8Array): number {
  let value = 0x811c9dc5
  for (const byte of bytes) value = Math.imul(value ^ byte, 0x01000193)
  return value
}

/** FNV-1a. */
function hash(text: string, seed: number): number {
  let value = seed
  for (let at = 0; at < text.length; at++) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193)
  return value
}
