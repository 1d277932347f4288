import {
  toDocumentJson,
  versionKeyOf,
  type DocumentFold,
  type DocumentSide,
  type DocumentVersion,
  type MemoryDocument,
} from '#model'

/** A document as it is now, with where it was written and what was written beside it. */
export function toShown(fold: DocumentFold, id: string): MemoryDocument | undefined {
  const last = fold.find(id)
  return last && withEnds(last, fold)
}

/** All documents as they are now. */
export function* toCurrent(fold: DocumentFold): Generator<MemoryDocument> {
  for (const { id } of fold.current()) {
    const shown = toShown(fold, id)
    if (shown !== undefined) yield shown
  }
}

function withEnds(last: DocumentVersion, fold: DocumentFold): MemoryDocument {
  const { document, elsewhere } = last
  const ends = fold.ends(document.id)
  const isOne = ends.length <= 1 || new Set(ends.map(saysOf)).size <= 1
  if (isOne && elsewhere === undefined) return document
  return {
    ...document,
    ...(elsewhere === undefined ? {} : { elsewhere }),
    ...(isOne ? {} : { conflict: ends.map((end) => toSide(end, last)) }),
  }
}

function toSide(end: DocumentVersion, last: DocumentVersion): DocumentSide {
  const { version, by, at, elsewhere } = end
  const isShown = versionKeyOf(end) === versionKeyOf(last)
  return {
    key: versionKeyOf(end),
    version,
    by,
    at,
    ...(elsewhere === undefined ? {} : { elsewhere }),
    isShown,
  }
}

/** Two machines that made the same of something do not disagree. */
function saysOf({ document }: DocumentVersion): string {
  const { createdAt: _, updatedAt: _at, ...says } = document
  return JSON.stringify(Object.entries(toDocumentJson(says)).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
