import {
  readDocument,
  toDocumentJson,
  versionKeyOf,
  type DocumentFold,
  type DocumentVersion,
  type MemoryDocument,
} from '#model'

/**
 * Documents from a file that somebody handed over: a handoff bundle, an export. The file may say of them whatever it
 * likes. Here they wait for a person, whatever they say of who wrote them, and change nothing that is known here.
 */

const REASON = 'from-outside'
/** A file may count its versions as it likes; those that are written here come after them. */
const MOST_VERSIONS = 1_000_000

/**
 * A document as it comes in from outside: held back with where it came from, not pinned, shared with nobody, said by
 * nobody who is known here. What it claims of that is kept beside it.
 */
export function toOutsideDocument(document: MemoryDocument, from: string): MemoryDocument {
  const { promotedBy, speakerType, speakerName, scope, quarantine, pinned, ...rest } = document
  const claims = { promotedBy, speakerType, speakerName, scope, quarantine, ...(pinned ? { pinned } : {}) }
  const outside = { from, ...claims }
  const held = { ...rest, pinned: false, quarantine: `${REASON}: ${from}`, extra: { ...rest.extra, outside } }
  // As it is read from disk, so that it is the same thing before and after.
  return readDocument(JSON.parse(JSON.stringify(toDocumentJson(held)))) ?? { ...held, extra: rest.extra }
}

export interface OutsideVersions {
  /** Those that may be taken in. */
  readonly versions: readonly DocumentVersion[]
  /** Documents that are known here and would be others: they stay as they are. */
  readonly refused: readonly string[]
}

/**
 * The versions of a file from outside, as far as they may be taken in. They get keys of their own, so that none of
 * them stands for a version that was written here. What somebody here decided about stays as it is.
 */
export function toOutsideVersions(
  versions: readonly DocumentVersion[],
  from: string,
  fold: Pick<DocumentFold, 'versions'>,
): OutsideVersions {
  const refused = new Set<string>()
  const taken = versions.flatMap((version): readonly DocumentVersion[] => {
    const { id } = version.document
    const fresh = toOutsideVersion(version, from)
    if (isUndecided(id, fold)) return [fresh]
    const keys = new Set(fold.versions(id).map(versionKeyOf))
    if (!keys.has(versionKeyOf(version)) && !keys.has(versionKeyOf(fresh))) refused.add(id)
    return []
  })
  return { versions: taken, refused: [...refused] }
}

/** Whether it is not known here, or only as it came from outside: nobody here has said anything of it. */
export function isUndecided(id: string, fold: Pick<DocumentFold, 'versions'>): boolean {
  return fold.versions(id).every(isOutside)
}

function isOutside(version: DocumentVersion): boolean {
  const { change, document } = version
  const isHeld = change === 'imported' && document.quarantine?.startsWith(`${REASON}: `) === true
  return isHeld || versionKeyOf(version).startsWith(`${REASON} `)
}

function toOutsideVersion(version: DocumentVersion, from: string): DocumentVersion {
  const { by, after } = version
  const { elsewhere: _, ...plain } = version
  return {
    ...plain,
    version: Math.min(version.version, MOST_VERSIONS),
    by: `${by}, ${from}`,
    document: toOutsideDocument(version.document, from),
    key: toOutsideKey(versionKeyOf(version)),
    ...(after === undefined ? {} : { after: after.map(toOutsideKey) }),
  }
}

function toOutsideKey(key: string): string {
  return `${REASON} ${key}`
}
