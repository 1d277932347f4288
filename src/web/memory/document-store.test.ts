import { expect, test } from 'vitest'
import { readDocument, type MemoryDocument } from '#model'
import type { LiveEvent } from '#wire'
import { findFitting, NO_FACETS, toHygiene, toOptions } from './document-facets.ts'
import { openDocumentStore } from './document-store.ts'

const NOW = Date.parse('2026-11-15T12:00:00Z')

function make(id: string, fields: object = {}): MemoryDocument {
  const at = '2026-11-15T09:00:00.000Z'
  const document = readDocument({
    id,
    type: 'learning',
    content: id,
    createdAt: at,
    updatedAt: at,
    ...fields,
  })
  if (document === undefined) throw new Error('no document')
  return document
}

function open(): { store: ReturnType<typeof openDocumentStore>; tell: (event: LiveEvent) => void } {
  let tell: (event: LiveEvent) => void = () => {}
  const store = openDocumentStore((_query, { onEvent }) => {
    tell = onEvent
    return { cursor: undefined, close: () => {} }
  })
  return { store, tell: (event) => tell(event) }
}

const changed = (part: Partial<Extract<LiveEvent, { kind: 'documents.changed' }>>): LiveEvent => ({
  kind: 'documents.changed',
  added: [],
  changed: [],
  removed: [],
  cursor: '',
  ...part,
})

test('[MWB6] what is told anew replaces what was told, and nothing is empty meanwhile', () => {
  const { store, tell } = open()
  tell(changed({ added: [make('a'), make('b')] }))
  tell({ kind: 'caught-up', cursor: '' })
  expect([...store.documents.value.keys()]).toEqual(['a', 'b'])
  tell({ kind: 'reset', reason: 'restarted', cursor: '' })
  tell(changed({ added: [make('b'), make('c')] }))
  expect([...store.documents.value.keys()]).toEqual(['a', 'b'])
  tell({ kind: 'caught-up', cursor: '' })
  expect([...store.documents.value.keys()]).toEqual(['b', 'c'])
  tell(changed({ changed: [make('b', { content: 'other' })], removed: ['c'] }))
  expect([...store.documents.value.values()].map(({ content }) => content)).toEqual(['other'])
})

test('[MWB5] a directive finds what it made, or the document that it only confirmed', () => {
  const { store, tell } = open()
  const place = { entryId: 'e', block: 1, position: 7 }
  tell(
    changed({
      added: [
        make('own', { provenance: { sessionId: 's', ...place } }),
        make('known', {
          confirmations: [
            { sessionId: 's', ...place },
            { sessionId: 's', ...place, position: 9 },
          ],
        }),
      ],
    }),
  )
  expect(store.findAt(place)?.id).toBe('own')
  expect(store.findAt({ ...place, position: 9 })?.id).toBe('known')
  expect(store.findAt({ ...place, position: 1 })).toBeUndefined()
})

test('[MWB7] facets narrow alone and together; pinned ones stand first, then the latest', () => {
  const documents = [
    make('old', { tags: ['a'], workdir: '/w', updatedAt: '2026-11-14T09:00:00.000Z' }),
    make('pinned', { tags: ['a', 'b'], pinned: true, updatedAt: '2026-11-13T09:00:00.000Z' }),
    make('held', { quarantine: 'why', category: 'operational' }),
    make('over', { retiredAt: '2026-11-15T09:00:00.000Z' }),
    make('late', { expiresAt: '2026-11-15T11:00:00.000Z', promotedBy: 'ada' }),
    make('taught', { type: 'teaching', content: 'Écoute les tests' }),
  ]
  const find = (part: object): readonly string[] =>
    findFitting(documents, { ...NO_FACETS, ...part }, NOW).map(({ id }) => id)
  expect(find({})).toEqual(['pinned', 'held', 'taught', 'old'])
  expect(find({ tag: 'a' })).toEqual(['pinned', 'old'])
  expect(find({ tag: 'a', workdir: '/w' })).toEqual(['old'])
  expect(find({ state: 'retired' })).toEqual(['over'])
  expect(find({ state: 'all' })).toHaveLength(documents.length)
  expect(find({ state: 'all', who: 'ada' })).toEqual(['late'])
  expect(find({ text: 'ecou' })).toEqual(['taught'])
  expect(find({ text: '   ' })).toHaveLength(4)
  expect(find({ type: 'teaching', category: 'operational' })).toEqual([])
  expect(toOptions(documents, ({ tags }) => tags)).toEqual([
    { value: 'a', count: 2 },
    { value: 'b', count: 1 },
  ])
  expect(toHygiene(documents, NOW)).toEqual({ active: 3, held: 1, expired: 1, pinned: 1 })
})
