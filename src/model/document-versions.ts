import { field, list, number, string } from '#base'
import type { JsonObject } from '#base'
import { readDocument, toDocumentJson } from './document.ts'
import type { MemoryDocument } from './document.ts'
import type { SessionOrigin } from './team.ts'

/** What was done to a document. */
export type DocumentChange =
  | 'put'
  | 'imported'
  | 'edited'
  | 'confirmed'
  | 'retired'
  | 'restored'
  | 'superseded'
  | 'pinned'
  | 'unpinned'
  | 'expiry-set'
  | 'approved'
  /** Its words and every earlier version are gone for good; where it was said is kept, so that it is not read anew. */
  | 'deleted'

/** A document as it was after one change. Versions of a document count from 1. */
export interface DocumentVersion {
  readonly version: number
  readonly change: DocumentChange
  readonly by: string
  readonly at: string
  readonly document: MemoryDocument
  /** Names it on every machine. Not there, in logs of old: it is named by what else it says. */
  readonly key?: string
  /** Those that it stands for, by their names. Not there, in logs of old: all with a lower number. */
  readonly after?: readonly string[]
  /** The machine it was written on, when that was not this one. Told, never written down. */
  readonly elsewhere?: SessionOrigin
}

/** Takes versions in any order, any of them any number of times, and tells what they come to. */
export interface DocumentFold {
  add(version: DocumentVersion): void
  /** The last version of a document. */
  find(id: string): DocumentVersion | undefined
  /** Every version of a document that was ever told, oldest first. */
  versions(id: string): readonly DocumentVersion[]
  /**
   * The versions that no other stands for, the last one last. More than one: they were written without knowing of
   * each other. The same on every machine that has the same versions.
   */
  ends(id: string): readonly DocumentVersion[]
  /** All documents as they are now. */
  current(): Iterable<MemoryDocument>
}

const CHANGES: Readonly<Record<DocumentChange, true>> = {
  put: true,
  imported: true,
  edited: true,
  confirmed: true,
  retired: true,
  restored: true,
  superseded: true,
  pinned: true,
  unpinned: true,
  'expiry-set': true,
  approved: true,
  deleted: true,
}

/**
 * The fold of versions. It is the same for every order and does not count anything twice: two logs that were put
 * together, or one that was read twice, come to the same. Where two versions have one number, both are kept, and the
 * one that was written later counts.
 */
export function createDocumentFold(): DocumentFold {
  const byId = new Map<string, DocumentVersion[]>()
  return {
    add(version) {
      const { id } = version.document
      const known = byId.get(id)
      const last = known?.at(-1)
      if (!known || !last) byId.set(id, [version])
      else if (last.version < version.version) known.push(version)
      else insert(known, version)
    },
    find: (id) => byId.get(id)?.at(-1),
    versions: (id) => [...(byId.get(id) ?? [])],
    ends: (id) => toEnds(byId.get(id) ?? []),
    *current() {
      for (const versions of byId.values()) {
        const last = versions.at(-1)
        if (last) yield last.document
      }
    },
  }
}

/** What names a version. */
export function versionKeyOf({ key, version, change, by, at }: DocumentVersion): string {
  return key ?? `${version} ${change} ${at} ${by}`
}

function toEnds(versions: readonly DocumentVersion[]): readonly DocumentVersion[] {
  const stoodFor = new Set(versions.flatMap(({ after }) => after ?? []))
  const highest = versions.reduce((most, one) => Math.max(most, one.after === undefined ? one.version : 0), 0)
  const ends = versions.filter(
    (one, n) =>
      one.version >= highest &&
      (!stoodFor.has(versionKeyOf(one)) || n === versions.length - 1) &&
      // One that was masked on its way is the same one.
      versions.findLastIndex((other) => versionKeyOf(other) === versionKeyOf(one)) === n,
  )
  return ends
}

/** A line of the log. */
export function toVersionJson({ document, elsewhere: _elsewhere, ...rest }: DocumentVersion): JsonObject {
  return { kind: 'document.written', ...rest, document: toDocumentJson(document) }
}

/** What a line of the log says. `undefined` when it is no version of a document. Never throws. */
export function readVersion(value: unknown): DocumentVersion | undefined {
  const document = readDocument(
    typeof value === 'object' && value !== null && 'document' in value ? value.document : undefined,
  )
  const version = number(value, 'version')
  if (string(value, 'kind') !== 'document.written' || !document) return undefined
  if (version === undefined || !Number.isSafeInteger(version) || version < 1) return undefined
  const change = string(value, 'change')
  const key = string(value, 'key')
  const after = Array.isArray(field(value, 'after'))
    ? list(value, 'after').filter((one) => typeof one === 'string')
    : undefined
  return {
    version,
    // A change that a later version knows changed something.
    change: isChange(change) ? change : 'edited',
    by: string(value, 'by') ?? '',
    at: string(value, 'at') ?? '',
    document,
    ...(key === undefined || key === '' ? {} : { key }),
    ...(after === undefined ? {} : { after }),
  }
}

/** Where it belongs, unless it is there already. */
function insert(known: DocumentVersion[], version: DocumentVersion): void {
  const at = known.findIndex((other) => compare(version, other) <= 0)
  const there = known[at]
  if (there && compare(version, there) === 0) return
  known.splice(at < 0 ? known.length : at, 0, version)
}

function compare(a: DocumentVersion, b: DocumentVersion): number {
  if (a.version !== b.version) return a.version - b.version
  if (a.at !== b.at) return a.at < b.at ? -1 : 1
  const [left, right] = [JSON.stringify(toVersionJson(a)), JSON.stringify(toVersionJson(b))]
  return left < right ? -1 : left > right ? 1 : 0
}

function isChange(text: string | undefined): text is DocumentChange {
  return text !== undefined && Object.hasOwn(CHANGES, text)
}
