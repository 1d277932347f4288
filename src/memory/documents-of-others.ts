import {
  createDocumentFold,
  toMatching,
  type DocumentFold,
  type DocumentQuery,
  type DocumentScope,
  type DocumentVersion,
  type MemoryDocument,
  type SessionOrigin,
} from '#model'
import { toGateVerdict, type GateVerdict } from './write-gate.ts'

/** A version as it came from another machine, with what the team says of where it came from. */
export interface ToldVersion {
  readonly version: DocumentVersion
  readonly origin: SessionOrigin
  /** Who may read the file it stood in. */
  readonly scope: DocumentScope
}

/**
 * What other people share. It can be read, and nothing of it can be changed here. Every person's documents are apart
 * from those of all others: nobody can say anything of a document that is not his.
 */
export interface DocumentsOfOthers {
  find(id: string): MemoryDocument | undefined
  /** Oldest first. */
  versions(id: string): readonly DocumentVersion[]
  query(query: DocumentQuery): readonly MemoryDocument[]
}

/** An id that fits wherever ids are given. */
const LONGEST_ID = 200

/** The documents that these versions come to. Those of one's own machines are left out. */
export function toDocumentsOfOthers(
  told: readonly ToldVersion[],
  { now, workdirHere }: OthersOptions,
): DocumentsOfOthers {
  const people = new Map<string, { readonly fold: DocumentFold; readonly ids: Set<string> }>()
  for (const { version, origin, scope } of told) {
    if (origin.mine || scope === 'private' || version.document.scope === undefined) continue
    const known = people.get(origin.person) ?? { fold: createDocumentFold(), ids: new Set<string>() }
    people.set(origin.person, known)
    known.fold.add({ ...version, elsewhere: origin })
    known.ids.add(version.document.id)
  }
  const shown = new Map<string, { readonly document: MemoryDocument; readonly all: () => Versions }>()
  for (const [person, { fold, ids }] of people) {
    const toShown = ({ document, elsewhere }: DocumentVersion): MemoryDocument =>
      toOthers(document, { person, elsewhere, workdirHere })
    for (const id of ids) {
      const last = fold.find(id)
      const document = last && toShown(last)
      if (document === undefined || document.id.length > LONGEST_ID) continue
      const all = (): Versions =>
        fold.versions(id).map((version) => ({ ...version, document: toShown(version) }))
      shown.set(document.id, { document, all })
    }
  }
  return {
    find: (id) => shown.get(id)?.document,
    versions: (id) => shown.get(id)?.all() ?? [],
    query: (query) =>
      toMatching(
        [...shown.values()].map(({ document }) => document),
        query,
        now(),
      ),
  }
}

type Versions = readonly DocumentVersion[]

interface OthersOptions {
  readonly now: () => number
  /** The folder here that is the same as one over there. */
  readonly workdirHere?: ((workdir: string, origin: string) => string | undefined) | undefined
}

/** Documents that were looked at. They are folded anew whenever a file comes, and most of them are the same then. */
const verdicts = new WeakMap<MemoryDocument, GateVerdict>()

function heldBy(document: MemoryDocument): string | undefined {
  const verdict = verdicts.get(document) ?? toGateVerdict(document.content, { toolTexts: [] })
  verdicts.set(document, verdict)
  return verdict.kind === 'quarantine' ? verdict.reason : undefined
}

/**
 * A document as it is shown to somebody else: named by whose it is, bound to no file of this machine, pinned by nobody
 * here. What reads like an instruction is held back, whoever said it.
 */
function toOthers(
  document: MemoryDocument,
  {
    person,
    elsewhere,
    workdirHere,
  }: Pick<OthersOptions, 'workdirHere'> & {
    readonly person: string
    readonly elsewhere: SessionOrigin | undefined
  },
): MemoryDocument {
  const name = (id: string): string => `${id}@${person}`
  const { files: _, supersededBy, quarantine, workdir, ...rest } = document
  const held = quarantine ?? heldBy(document)
  const here = workdir && (workdirHere?.(workdir, elsewhere?.origin ?? '') ?? workdir)
  return {
    ...rest,
    id: name(document.id),
    pinned: false,
    contradicts: document.contradicts.map(name),
    ...(here === undefined ? {} : { workdir: here }),
    ...(supersededBy === undefined ? {} : { supersededBy: name(supersededBy) }),
    ...(held === undefined ? {} : { quarantine: held }),
    ...(elsewhere === undefined ? {} : { elsewhere }),
  }
}
