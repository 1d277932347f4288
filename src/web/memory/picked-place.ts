import type { PickedAt } from '#wire'
import type { Picked } from '../memory-part.ts'

/**
 * Where words that a person picked stand: the entry that said them first, and the place in its blocks as exactly as it
 * can be told. What is shown is not always what is written, so the first words decide where the whole is not found.
 */
export function findPickedPlace({ text, message }: Picked, sessionId: string): PickedAt {
  const wanted = text.trim()
  const [line = ''] = wanted.split('\n')
  return (
    findText(wanted, message, sessionId) ??
    findText(line.trim().slice(0, 24), message, sessionId) ?? {
      ...originOf(message.entries[0], sessionId, message.id),
    }
  )
}

function findText(wanted: string, { entries }: Picked['message'], sessionId: string): PickedAt | undefined {
  if (wanted === '') return undefined
  for (const entry of entries) {
    if (entry.kind !== 'prompt' && entry.kind !== 'reply') continue
    for (const [block, one] of entry.blocks.entries()) {
      const position = one.kind === 'text' ? one.text.indexOf(wanted) : -1
      if (position >= 0) return { ...originOf(entry, sessionId, entry.id), block, position }
    }
  }
  return undefined
}

/** Of a copied line, the one that it was copied from. */
function originOf(
  entry: Picked['message']['entries'][number] | undefined,
  sessionId: string,
  entryId: string,
): Pick<PickedAt, 'sessionId' | 'entryId'> {
  return entry?.forkedFrom ?? { sessionId, entryId }
}
