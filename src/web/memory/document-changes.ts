import type { MemoryDocument } from '#model'

/** A field that is another one in another version. */
export interface FieldChange {
  readonly name: string
  readonly before: string
  readonly after: string
}

/** What beside the text is different between two versions of a document. */
export function toChanges(before: MemoryDocument, after: MemoryDocument): readonly FieldChange[] {
  const old = toFacts(before)
  return toFacts(after).flatMap(([name, value], at) => {
    const was = old[at]?.[1] ?? ''
    return was === value
      ? []
      : [{ name, before: was === '' ? 'none' : was, after: value === '' ? 'none' : value }]
  })
}

function toFacts(document: MemoryDocument): readonly (readonly [string, string])[] {
  return [
    ['Category', document.category],
    ['Tags', document.tags.join(', ')],
    ['Pinned', document.pinned ? 'yes' : 'no'],
    ['Holds until', document.expiresAt ?? ''],
    ['Retired', document.retiredAt ?? ''],
    ['Superseded by', document.supersededBy ?? ''],
    ['Held back', document.quarantine ?? ''],
    ['Agents', (document.audience?.agents ?? []).join(', ')],
    ['Folders', (document.audience?.workdirs ?? []).join(', ')],
    ['Said again', String(document.confirmations.length)],
  ]
}
