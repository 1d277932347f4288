import type { Damage, Entry, Loss } from '#model'

/** What could not be read of a conversation, as its reader gives it with the entries. */
export interface Gaps {
  /** Lines whose parent was never written. */
  readonly bridges: readonly {
    readonly id: string
    readonly reason: 'missing-parent' | 'cycle'
    readonly parentId: string
  }[]
  /** Bytes that hold no readable line. */
  readonly damage: readonly Damage[]
}

/** What is missing in a conversation, as losses: an answer that was torn or never written is in no message. */
export function toGapLosses(entries: readonly Entry[], { bridges, damage }: Gaps): readonly Loss[] {
  const places = new Map(entries.map(({ id, place }) => [id, place.offset]))
  const missing = bridges.map(({ id, reason, parentId }) => {
    const why =
      reason === 'missing-parent'
        ? `the line before it, ${parentId}, was never written: what it said, often an answer, is missing`
        : `lines hang from each other, and were put in the order of the file`
    return { at: places.get(id) ?? 0, loss: toLoss(id, why) }
  })
  const broken = damage.map(({ offset, length, reason }) => {
    const before = entries.findLast(({ place }) => place.offset <= offset) ?? entries[0]
    const why = `${String(length)} bytes at byte ${String(offset)} could not be read (${reason}): what was said there is missing`
    return { at: offset, loss: toLoss(before?.id ?? '', why) }
  })
  return [...missing, ...broken].toSorted((one, other) => one.at - other.at).map(({ loss }) => loss)
}

function toLoss(entryId: string, why: string): Loss {
  return { kind: 'gap', origin: { entryId, index: 0 }, how: 'dropped', why }
}
