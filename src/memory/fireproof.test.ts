import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { toDocumentJson } from '#model'
import { openTempDir, runs } from '#testing'
import type { TempDir } from '#testing'
import { openDocuments } from './documents.ts'
import { readFireproof } from './fireproof.ts'

let dir: TempDir
beforeEach(async () => {
  dir = await openTempDir()
})
afterEach(() => dir.remove())

const MESSAGE = {
  _id: 'm1',
  type: 'message',
  category: 'transcript',
  role: 'assistant',
  speakerType: 'agent',
  speakerName: 'Ada',
  text: '',
  blocks: [
    { type: 'text', text: 'Of course.' },
    { type: 'tool_use', name: 'Read', input: { file_path: 'a' } },
    { type: 'text', text: 'Done.' },
  ],
  serverSessionId: 's1',
  conversationId: 'c1',
  createdAt: '2026-02-15T08:00:05Z',
}
const LEGACY = { _id: 'm0', type: 'message', role: 'user', text: 'Hello', createdAt: '2026-02-14T08:00:00Z' }
const MARKER = {
  _id: 'k',
  type: 'marker',
  category: 'identity',
  serverSessionId: null,
  event: 'name-selection',
  description: 'Chose a name.',
}
const LEARNING = {
  _id: 'learning:1',
  type: 'learning',
  category: 'knowledge',
  content: 'Filter in the browser',
  tags: ['tokens'],
  sourceSessionId: 's1',
  sourceMessageId: null,
  promotedBy: 'Ada',
  createdAt: '2026-02-17T00:00:00Z',
}
const ndjson = (items: readonly unknown[]): string => items.map((item) => JSON.stringify(item)).join('\n')

const foreign = fc
  .record(
    {
      _id: fc.constantFrom('a', 'b', 'c', 'd', ''),
      type: fc.constantFrom<unknown>('message', 'learning', 'marker', 'teaching', 'artifact', 'poem', 3),
      category: fc.constantFrom<unknown>('transcript', 'identity', 'other', 1, null),
      serverSessionId: fc.constantFrom<unknown>('s', null, 7),
      sessionId: fc.constantFrom<unknown>('s', 't', null, 7),
      sourceSessionId: fc.constantFrom<unknown>('s', 't', null),
      role: fc.constantFrom<unknown>('user', 'assistant', 'tool', 1),
      speakerType: fc.constantFrom<unknown>('human', 'agent', 'ghost', null),
      speakerName: fc.constantFrom<unknown>('Ada', 5, null),
      text: fc.oneof(fc.string(), fc.integer()),
      content: fc.oneof(fc.string(), fc.jsonValue()),
      tags: fc.oneof(fc.array(fc.oneof(fc.string(), fc.integer())), fc.string()),
      blocks: fc.jsonValue(),
      createdAt: fc.oneof(fc.constant('2026-01-01T00:00:00Z'), fc.integer()),
      pinned: fc.constantFrom<unknown>(true, 'yes'),
      id: fc.string(),
      extra: fc.jsonValue(),
      mood: fc.jsonValue(),
    },
    { requiredKeys: [] },
  )
  .map((value): Record<string, unknown> => JSON.parse(JSON.stringify(value)))

describe('an export of Fireproof', () => {
  test('[DOC19] is read with its ids, facets and unknown fields, with and without the newer ones', () => {
    const { documents, losses } = readFireproof(JSON.stringify([LEGACY, MESSAGE, MARKER, LEARNING]))
    expect(losses).toEqual([])
    const usual = { tags: [], pinned: false, contradicts: [], confirmations: [] }
    const { text, blocks, conversationId } = MESSAGE
    expect(documents).toEqual([
      {
        ...usual,
        id: 'm0',
        type: 'message',
        category: 'transcript',
        sessionId: null,
        role: 'user',
        speakerType: 'human',
        content: 'Hello',
        createdAt: LEGACY.createdAt,
        updatedAt: LEGACY.createdAt,
        extra: { text: 'Hello' },
      },
      {
        ...usual,
        id: 'm1',
        type: 'message',
        category: 'transcript',
        sessionId: 's1',
        role: 'assistant',
        speakerType: 'agent',
        speakerName: 'Ada',
        content: 'Of course.\nDone.',
        createdAt: MESSAGE.createdAt,
        updatedAt: MESSAGE.createdAt,
        extra: { text, blocks, conversationId },
      },
      {
        ...usual,
        id: 'k',
        type: 'marker',
        category: 'identity',
        sessionId: null,
        content: 'Chose a name.',
        createdAt: '',
        updatedAt: '',
        extra: { event: 'name-selection', description: 'Chose a name.' },
      },
      {
        ...usual,
        id: 'learning:1',
        type: 'learning',
        category: 'knowledge',
        sessionId: null,
        tags: ['tokens'],
        content: 'Filter in the browser',
        sourceSessionId: 's1',
        promotedBy: 'Ada',
        createdAt: LEARNING.createdAt,
        updatedAt: LEARNING.createdAt,
        extra: {},
      },
    ])
  })

  test('[DOC19] a learning that named a session came from it and belongs to none', () => {
    const raw = { _id: 'l', type: 'learning', content: 'x', serverSessionId: 's9' }
    expect(readFireproof(ndjson([raw])).documents).toMatchObject([
      { sessionId: null, sourceSessionId: 's9', extra: {} },
    ])
  })

  test('[DOC20] is the same as an array, as lines and as rows, whatever the ends of its lines', () => {
    const items = [LEGACY, MESSAGE, MARKER, LEARNING]
    const expected = readFireproof(JSON.stringify(items))
    const rows = items.map(({ _id, ...value }) => ({ key: _id, value }))
    expect(readFireproof(ndjson(items))).toEqual(expected)
    expect(readFireproof(`\uFEFF${ndjson(items).replaceAll('\n', '\r\n\r\n')}\r\n`).documents).toEqual(
      expected.documents,
    )
    expect(readFireproof(JSON.stringify({ rows }))).toEqual(expected)
    expect(readFireproof(ndjson([MESSAGE]))).toEqual(readFireproof(JSON.stringify([MESSAGE])))
  })

  test('[DOC20] says what did not come along, or not as it was, and reads on', () => {
    const lines = [
      JSON.stringify({ ...LEGACY, text: 'older' }),
      '{"_id":',
      '7',
      JSON.stringify({ _id: 'gone', _deleted: true }),
      JSON.stringify({ type: 'message', role: 'user', text: 'nameless' }),
      JSON.stringify({ _id: 'p', type: 'poem', content: 'x' }),
      JSON.stringify(LEGACY),
    ]
    const { documents, losses } = readFireproof(lines.join('\n'))
    expect(documents.map(({ content }) => content)).toEqual(['Hello', 'nameless', 'x'])
    expect(documents[2]).toMatchObject({ id: 'p', type: 'artifact', extra: { type: 'poem' } })
    const made = documents[1]?.id
    expect(made).toMatch(/^fireproof:[0-9a-f]{32}$/)
    expect(losses).toEqual([
      { item: 1, reason: 'replaced', id: 'm0' },
      { item: 2, reason: 'not-json' },
      { item: 3, reason: 'not-an-object' },
      { item: 4, reason: 'deleted', id: 'gone' },
      { item: 5, reason: 'no-id', id: made },
      { item: 6, reason: 'unknown-type', id: 'p' },
    ])
  })

  test('[DOC20] takes no JSON for a document that is none, and says so', () => {
    const lines = [
      { name: 'x' },
      { kind: 'document.written', document: {} },
      { type: 'user', uuid: 'u' },
      LEARNING,
    ]
    const { documents, losses } = readFireproof(ndjson(lines))
    expect(documents.map(({ id }) => id)).toEqual(['learning:1'])
    expect(losses).toEqual([1, 2, 3].map((item) => ({ item, reason: 'not-a-document' })))
  })

  test('[DOC20] loses no field: each is a facet, or kept as it came', () => {
    fc.assert(
      fc.property(foreign, (raw) => {
        fc.pre(readFireproof(JSON.stringify([raw])).losses.every(({ reason }) => reason !== 'not-a-document'))
        const [document] = readFireproof(JSON.stringify([raw])).documents
        const known: Readonly<Record<string, unknown>> = document ? { ...document } : {}
        for (const [key, value] of Object.entries(raw)) {
          if (key === '_id' || value === null) continue
          const isFacet = JSON.stringify(known[key]) === JSON.stringify(value)
          const isKept = Object.hasOwn(document?.extra ?? {}, key)
          const session = [document?.sessionId, document?.sourceSessionId]
          const isAlias = key.endsWith('essionId') && session.some((id) => id === value)
          expect([key, isFacet || isKept || isAlias]).toEqual([key, true])
          if (isKept) expect(document?.extra[key]).toEqual(value)
        }
      }),
      runs(300),
    )
  })

  test('[DOC20] is read without throwing, whatever it is', () => {
    const [odd] = readFireproof('{"_id":"a","type":"marker","__proto__":{"pinned":true}}').documents
    expect(odd).toMatchObject({ pinned: false })
    expect(Object.keys(odd?.extra ?? {})).toEqual(['__proto__'])
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        readFireproof(text)
      }),
      runs(200),
    )
  })

  test('[DOC21] imported again changes nothing, also after what came was edited and retired', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(foreign, { maxLength: 6 }), fc.uuid(), async (items, folder) => {
        const home = join(dir.path, folder)
        const options = { home, now: () => Date.UTC(2026, 0, 1), mintId: () => 'never' }
        const documents = await openDocuments(options)
        const text = ndjson(items)
        const came = readFireproof(text).documents
        const first = await documents.putAll(came, { by: 'import', change: 'imported' })
        expect(first.every(({ outcome }) => outcome === 'written')).toBe(true)
        expect(came.map(({ id }) => documents.find(id))).toEqual(came)
        const [one, two] = came
        if (one) await documents.patch(one.id, { content: 'edited' }, { by: 'me' })
        if (two) await documents.retire(two.id, { by: 'me' })
        const before = await readFile(join(home, 'documents.jsonl'), 'utf8')
        const again = await openDocuments(options)
        const array = readFireproof(JSON.stringify(items)).documents
        const second = await again.putAll(array, { by: 'import', change: 'imported' })
        expect(second.every(({ outcome }) => outcome === 'known')).toBe(true)
        expect(await readFile(join(home, 'documents.jsonl'), 'utf8')).toBe(before)
        expect(array.map(toDocumentJson)).toEqual(came.map(toDocumentJson))
      }),
      runs(25),
    )
  })
})
