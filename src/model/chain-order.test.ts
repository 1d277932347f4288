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
