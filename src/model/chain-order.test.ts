import * as fc from 'fast-check'
import { runs } from '#testing'
import { expect, test } from 'vitest'
import { createChain } from './chain.ts'
import type { Entry, Link } from './entry.ts'

const envelope = (
  id: number,
  link: Link | undefined,
): Pick<Entry, 'id' | 'place' | 'raw' | 'type' | 'link'> => ({
  id: `@${id}`,
  place: { offset: id, length: 1 },
  raw: new Uint8Array(),
  type: 'response_item/message',
  link,
})

function toEntry(
  kind: 'prompt' | 'reply' | 'injection' | 'record' | 'beside' | 'compaction',
  id: number,
): Entry {
  const inOrder: Link = { parentId: undefined, sidechain: false }
  switch (kind) {
    case 'prompt':
      return { kind, ...envelope(id, inOrder), blocks: [], origin: 'person', midTurn: false }
    case 'reply':
      return { kind, ...envelope(id, inOrder), part: 'item', blocks: [], synthetic: false, apiError: false }
    case 'injection':
      return { kind, ...envelope(id, inOrder), blocks: [] }
    case 'record':
      return { kind, ...envelope(id, inOrder) }
    case 'beside':
      return { kind: 'context', ...envelope(id, undefined) }
    case 'compaction': {
      const link = { parentId: null, sidechain: false }
      return { kind, ...envelope(id, link), compaction: { trigger: 'auto' }, history: [] }
    }
  }
}

const kinds = fc.array(
  fc.constantFrom(
    'prompt' as const,
    'reply' as const,
    'injection' as const,
    'beside' as const,
    'compaction' as const,
  ),
  { maxLength: 30 },
)

test('[CDX9] entries that name no parent follow each other: the path is all since the last compaction, the spine all', () => {
  fc.assert(
    fc.property(kinds, (given) => {
      const chain = createChain()
      const entries = given.map(toEntry)
      for (const entry of entries) chain.add(entry)
      const { path, spine, branches, bridges } = chain.finish()
      const linked = entries.filter(({ link }) => link !== undefined)
      const from = linked.findLastIndex(({ kind }) => kind === 'compaction')
      expect(path).toEqual(linked.slice(Math.max(0, from)).map(({ id }) => id))
      expect([...spine].toSorted()).toEqual(linked.map(({ id }) => id).toSorted())
      expect({ branches, bridges }).toEqual({ branches: [], bridges: [] })
    }),
    runs(200),
  )
})

test('[CDX9] a line beside the talk at its end is no end of it', () => {
  const chain = createChain()
  for (const [id, kind] of (['prompt', 'reply', 'record'] as const).entries()) chain.add(toEntry(kind, id))
  expect(chain.finish().path).toEqual(['@0', '@1'])
})

type Step =
  | { readonly does: 'say'; readonly answers: number }
  | { readonly does: 'turns'; readonly turns: number }
  | { readonly does: 'from'; readonly at: number }

const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.record({ does: fc.constant('say' as const), answers: fc.nat(2) }) },
    fc.record({ does: fc.constant('turns' as const), turns: fc.integer({ min: 1, max: 4 }) }),
    fc.record({ does: fc.constant('from' as const), at: fc.nat(40) }),
  ),
  { maxLength: 25 },
)

test('[CDX18] what was taken back is a branch, what comes next hangs from what was left, and nothing is lost', () => {
  fc.assert(
    fc.property(steps, (given) => {
      const chain = createChain()
      const entries: Entry[] = []
      /** What is left, as a list: everything of the session that is in the model's view. */
      let left: Entry[] = []
      const add = (entry: Entry): void => {
        chain.add(entry)
        entries.push(entry)
      }
      for (const step of given) {
        const id = entries.length
        if (step.does === 'say') {
          const said = [
            toEntry('prompt', id),
            ...Array.from({ length: step.answers }, (_, n) => toEntry('reply', id + 1 + n)),
          ]
          for (const entry of said) add(entry)
          left.push(...said)
          continue
        }
        const takesBack = step.does === 'turns' ? { turns: step.turns } : { from: step.at }
        add({ kind: 'record', ...envelope(id, { parentId: undefined, sidechain: false, takesBack }) })
        if (step.does === 'from') left = left.filter((entry) => entry.place.offset < step.at)
        else {
          const prompts = left.flatMap((entry, index) => (entry.kind === 'prompt' ? [index] : []))
          left = prompts.length === 0 ? left : left.slice(0, prompts.at(-step.turns) ?? prompts[0])
        }
      }
      const { path, spine, branches, ownOf, bridges } = chain.finish()
      const said = (ids: Iterable<string>): readonly string[] =>
        entries.filter(({ id, kind }) => kind !== 'record' && new Set(ids).has(id)).map(({ id }) => id)
      expect(said(path)).toEqual(left.map(({ id }) => id))
      expect(bridges).toEqual([])
      const beside = branches.flatMap(({ leafId }) => ownOf(leafId))
      const all = entries.filter(({ kind }) => kind !== 'record').map(({ id }) => id)
      expect(said([...spine, ...beside])).toEqual(all)
    }),
    runs(300),
  )
})
