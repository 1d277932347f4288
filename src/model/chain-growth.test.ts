import { runs } from '#testing'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { createChain, type Chain } from './chain.ts'
import type { Entry } from './entry.ts'

const ids = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']
const anyId = fc.constantFrom(...ids)

/** An entry that hangs anywhere: from one before it, from one behind it, from itself, from nobody. */
const entry: fc.Arbitrary<Entry> = fc
  .record({
    id: anyId,
    parentId: fc.option(anyId, { freq: 6 }),
    logicalParentId: anyId,
    sidechain: fc.constantFrom(false, false, false, true),
    kind: fc.constantFrom('reply' as const, 'reply' as const, 'reply' as const, 'compaction' as const),
    messageId: fc.constantFrom(undefined, 'm1', 'm2'),
    preserved: fc.uniqueArray(anyId, { maxLength: 3 }),
    anchorId: anyId,
  })
  .map(({ id, parentId, logicalParentId, sidechain, kind, messageId, preserved, anchorId }): Entry => {
    const place = { offset: 0, length: 0 }
    const shared = { id, place, raw: new Uint8Array(0), link: { parentId, logicalParentId, sidechain } }
    if (kind === 'compaction') {
      const kept = { kind: 'entries' as const, anchorId, ids: preserved }
      const compaction = { trigger: 'auto', preserved: kept }
      return { ...shared, kind, type: 'system/compact_boundary', compaction }
    }
    return { ...shared, kind, type: 'assistant', messageId, blocks: [], synthetic: false, apiError: false }
  })

function toPlain({ path, places, spine, branches, bridges, delivered }: Chain): object {
  return { path, places, spine: [...spine], size: spine.size, branches, bridges, delivered }
}

test('[DIG9] a chain that is looked at while it grows is the same in the end, whatever hangs from what', () => {
  fc.assert(
    fc.property(
      fc.array(entry, { maxLength: 14 }),
      fc.array(fc.boolean(), { maxLength: 14 }),
      (all, looks) => {
        const watched = createChain()
        for (const [at, one] of all.entries()) {
          watched.add(one)
          if (looks[at] ?? false) watched.finish()
        }
        const fresh = createChain()
        for (const one of all) fresh.add(one)
        const chain = watched.finish()
        const same = fresh.finish()
        expect(toPlain(chain)).toEqual(toPlain(same))
        for (const { leafId } of chain.branches) {
          const own = chain.ownOf(leafId)
          expect(own).toEqual(same.ownOf(leafId))
          expect(own).toContain(leafId)
          expect(own.filter((id) => chain.spine.has(id))).toEqual([])
        }
      },
    ),
    runs(2000),
  )
})
