import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '#testing'
import { readDocument, toDocumentJson, toDocumentState, toPromotedId } from './document.ts'
import type { MemoryDocument } from './document.ts'
import { matchesQuery, toDelivery, toMatching } from './document-query.ts'
import { createDocumentFold, readVersion, toVersionJson } from './document-versions.ts'
import type { DocumentVersion } from './document-versions.ts'

const BASE: MemoryDocument = {
  id: 'learning:1',
  type: 'learning',
  category: 'knowledge',
  sessionId: null,
  tags: [],
  content: 'Ports above 1024 need no root',
  createdAt: '2026-01-01T00:00:00.000Z',
  updatedAt: '2026-01-01T00:00:00.000Z',
  pinned: false,
  contradicts: [],
  confirmations: [],
  extra: {},
}
const NOW = Date.parse('2026-06-01T00:00:00Z')

const time = fc.nat({ max: 40 }).map((n) => new Date(Date.UTC(2026, 0, 1 + n)).toISOString())
const key = fc.oneof(
  fc.string({ minLength: 1 }),
  fc.constantFrom('tags', 'extra', 'id', 'serverSessionId', '__proto__', 'toString'),
)
const provenance = fc.record({
  sessionId: fc.string(),
  entryId: fc.string(),
  block: fc.nat(),
  position: fc.nat(),
})
const document: fc.Arbitrary<MemoryDocument> = fc.record(
  {
    id: fc.constantFrom('a', 'b', 'c'),
    type: fc.constantFrom('message', 'artifact', 'learning', 'marker', 'teaching'),
    category: fc.constantFrom('transcript', 'identity', 'knowledge', 'operational'),
    sessionId: fc.constantFrom(null, 's', 't'),
    role: fc.constantFrom('user', 'assistant'),
    speakerType: fc.constantFrom('human', 'agent'),
    speakerName: fc.constantFrom('Ada', 'Émile'),
    tags: fc.array(fc.constantFrom('x', 'y', 'z'), { maxLength: 2 }),
    content: fc.string({ unit: 'binary' }),
    provenance,
    confirmations: fc.array(provenance, { maxLength: 2 }),
    sourceSessionId: fc.constantFrom('s', 't'),
    promotedBy: fc.constantFrom('Ada', 'claude'),
    createdAt: time,
    updatedAt: time,
    pinned: fc.boolean(),
    expiresAt: time,
    retiredAt: time,
    supersededBy: fc.constantFrom('a', 'b'),
    contradicts: fc.array(fc.constantFrom('a', 'b'), { maxLength: 1 }),
    audience: fc.record({ agents: fc.array(fc.string()), workdirs: fc.array(fc.string()) }),
    quarantine: fc.string(),
    // As JSON would give it: no -0.
    extra: fc
      .array(fc.tuple(key, fc.jsonValue()), { maxLength: 3 })
      .map((fields) => JSON.parse(JSON.stringify(Object.fromEntries(fields)))),
  },
  {
    requiredKeys: [
      'id',
      'type',
      'category',
      'sessionId',
      'tags',
      'content',
      'createdAt',
      'updatedAt',
      'pinned',
      'contradicts',
      'confirmations',
      'extra',
    ],
  },
)
const version: fc.Arbitrary<DocumentVersion> = fc.record({
  version: fc.integer({ min: 1, max: 4 }),
  change: fc.constantFrom('put', 'edited', 'retired'),
  by: fc.constantFrom('me', 'you'),
  at: time,
  document,
})

describe('a document', () => {
  test('[DOC1] is the same after it was written and read, with every facet and every field nobody knows', () => {
    fc.assert(
      fc.property(document, (one) => {
        expect(readDocument(JSON.parse(JSON.stringify(toDocumentJson(one))))).toEqual(one)
      }),
      runs(300),
    )
  })

  test('[DOC1] that is none is not read, and nothing makes the reader throw', () => {
    fc.assert(
      fc.property(fc.anything(), (value) => {
        readDocument(value)
        readVersion(value)
      }),
      runs(300),
    )
    expect(readDocument({ id: 'a', type: 'poem' })).toBeUndefined()
    expect(readDocument({ id: '', type: 'learning' })).toBeUndefined()
    expect(readDocument({ type: 'learning' })).toBeUndefined()
  })

  test('[DOC2] without the newer fields has their usual values, and reads `serverSessionId` as its session', () => {
    const old = { id: 'm', type: 'message', serverSessionId: 's', createdAt: '2026-02-15T08:00:00Z', mood: 1 }
    expect(readDocument(old)).toEqual({
      id: 'm',
      type: 'message',
      category: 'transcript',
      sessionId: 's',
      tags: [],
      content: '',
      createdAt: '2026-02-15T08:00:00Z',
      updatedAt: '2026-02-15T08:00:00Z',
      pinned: false,
      contradicts: [],
      confirmations: [],
      extra: { mood: 1 },
    })
    expect(readDocument({ ...old, serverSessionId: null })?.sessionId).toBeNull()
    expect(readDocument({ ...old, sessionId: 't' })?.sessionId).toBe('t')
  })

  test('[DOC3] that was promoted at one place has one id', () => {
    const at = { entryId: 'e:1', block: 2, position: 30 }
    expect(toPromotedId('learning', at)).toBe('learning:e:1:2:30')
    expect(toPromotedId('learning', { ...at, position: 31 })).not.toBe(toPromotedId('learning', at))
  })

  test('[DOC4] is retired, superseded, quarantined, expired or active, in this order', () => {
    const at = '2026-05-01T00:00:00Z'
    expect(toDocumentState(BASE, NOW)).toBe('active')
    expect(toDocumentState({ ...BASE, expiresAt: '2026-06-01T00:00:00.001Z' }, NOW)).toBe('active')
    const expired = { ...BASE, expiresAt: at }
    expect(toDocumentState(expired, NOW)).toBe('expired')
    const held = { ...expired, quarantine: 'copied' }
    expect(toDocumentState(held, NOW)).toBe('quarantined')
    const superseded = { ...held, supersededBy: 'b' }
    expect(toDocumentState(superseded, NOW)).toBe('superseded')
    expect(toDocumentState({ ...superseded, retiredAt: at }, NOW)).toBe('retired')
  })
})

describe('versions', () => {
  test('[DOC5] come to the same in every order, however often each is told, and none is lost', () => {
    const shuffled = fc.array(version, { maxLength: 12 }).chain((versions) =>
      fc.tuple(
        fc.constant(versions),
        fc.shuffledSubarray([...versions, ...versions], {
          minLength: versions.length * 2,
          maxLength: versions.length * 2,
        }),
      ),
    )
    fc.assert(
      fc.property(shuffled, ([versions, again]) => {
        const [one, other] = [createDocumentFold(), createDocumentFold()]
        for (const item of versions) one.add(item)
        for (const item of again) other.add(item)
        for (const id of ['a', 'b', 'c']) {
          expect(other.versions(id)).toEqual(one.versions(id))
          const numbers = one.versions(id).map((item) => item.version)
          expect(numbers).toEqual(numbers.toSorted((x, y) => x - y))
          expect(one.find(id)).toEqual(one.versions(id).at(-1))
        }
        for (const item of versions) expect(one.versions(item.document.id)).toContainEqual(item)
        expect([...one.current()].map(({ id }) => id).toSorted()).toEqual(
          [...other.current()].map(({ id }) => id).toSorted(),
        )
      }),
      runs(200),
    )
  })

  test('[DOC5] are the same after they were written and read', () => {
    fc.assert(
      fc.property(version, (one) => {
        expect(readVersion(JSON.parse(JSON.stringify(toVersionJson(one))))).toEqual(one)
      }),
      runs(200),
    )
  })

  test('[DOC5] every prefix of the log gives the last version in it', () => {
    fc.assert(
      fc.property(fc.array(document, { minLength: 1, maxLength: 8 }), (documents) => {
        const fold = createDocumentFold()
        const counts = new Map<string, number>()
        for (const one of documents) {
          const number = (counts.get(one.id) ?? 0) + 1
          counts.set(one.id, number)
          fold.add({ version: number, change: 'edited', by: 'me', at: one.updatedAt, document: one })
          expect(fold.find(one.id)?.document).toEqual(one)
          expect(fold.versions(one.id)).toHaveLength(number)
        }
      }),
      runs(100),
    )
  })
})

describe('[A1.3] [DOC6] a query', () => {
  const message: MemoryDocument = {
    ...BASE,
    id: 'm',
    type: 'message',
    category: 'transcript',
    sessionId: 's',
    role: 'user',
    speakerType: 'human',
    speakerName: 'Émile',
    tags: ['ports', 'net'],
    content: 'Which Ports are free?',
  }
  const facets = {
    id: 'm',
    type: 'message',
    category: 'transcript',
    sessionId: 's',
    role: 'user',
    speakerType: 'human',
    speakerName: 'Émile',
    tags: ['net', 'ports'],
    text: 'emile PORT',
    pinned: false,
    state: 'active',
  } as const
  const all = Object.entries(facets)

  test('asks for any facet alone and for any of them together', () => {
    fc.assert(
      fc.property(fc.subarray(all), (chosen) => {
        const query = Object.fromEntries(chosen)
        expect(matchesQuery(message, query, NOW)).toBe(true)
        const isTold = chosen.some(([name]) => name !== 'pinned' && name !== 'state')
        expect(matchesQuery(BASE, query, NOW)).toBe(!isTold)
      }),
      runs(100),
    )
    expect(matchesQuery(BASE, { sessionId: null }, NOW)).toBe(true)
    expect(matchesQuery(message, { sessionId: null }, NOW)).toBe(false)
    expect(matchesQuery(message, { type: ['learning', 'message'] }, NOW)).toBe(true)
    expect(matchesQuery(message, { tags: ['net', 'none'] }, NOW)).toBe(false)
    expect(matchesQuery(message, { text: 'ort' }, NOW)).toBe(false)
  })

  test('gives what is active unless asked otherwise, and teachings only to those they are for', () => {
    const retired = { ...BASE, retiredAt: '2026-02-01T00:00:00Z' }
    expect(toMatching([retired], {}, NOW)).toEqual([])
    expect(toMatching([retired], { state: ['active', 'retired'] }, NOW)).toEqual([retired])
    const teaching: MemoryDocument = {
      ...BASE,
      type: 'teaching',
      audience: { agents: ['codex'], workdirs: ['/w'] },
    }
    const isFor = (agent: string, workdir: string) =>
      matchesQuery(teaching, { audience: { agent, workdir } }, NOW)
    expect(isFor('codex', '/w')).toBe(true)
    expect(isFor('codex', '/w/below')).toBe(true)
    expect(isFor('codex', '/wider')).toBe(false)
    expect(isFor('claude', '/w')).toBe(false)
  })

  test('that is live: what was told, and what a delivery says, make what matches now', () => {
    const some = fc.uniqueArray(document, { selector: ({ id }) => id })
    fc.assert(
      fc.property(some, some, (before, after) => {
        const { documents, added, changed, removed } = toDelivery(before, after)
        const known = new Map(before.map((one) => [one.id, one]))
        for (const id of removed) known.delete(id)
        for (const one of [...added, ...changed]) known.set(one.id, one)
        expect(documents).toBe(after)
        expect(new Set(known.values())).toEqual(new Set(after))
        expect(toDelivery(after, structuredClone(after))).toMatchObject({
          added: [],
          changed: [],
          removed: [],
        })
      }),
      runs(100),
    )
  })
})
