import { ThroughlineError } from '#base'
import { matchesQuery, readDocument, toDocumentJson, type MemoryDocument } from '#model'
import { runs } from '#testing'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  readDocumentDraft,
  readDocumentPatch,
  readDocumentQuery,
  readFacetValues,
} from './document-requests.ts'
import { readDocumentAction, readRememberRequest, readWakeUpRequest } from './memory-requests.ts'

const NAMES = [
  'id',
  '_id',
  'type',
  'category',
  'sessionId',
  'serverSessionId',
  'tags',
  'content',
  'text',
  'state',
  'pinned',
  'audience',
  'files',
  'expiresAt',
  'extra',
  'do',
  'at',
  'near',
  'workdir',
  'previousTranscript',
  '__proto__',
  'constructor',
  'toString',
]
const VALUES = [
  'learning',
  'message',
  'knowledge',
  'active',
  'pin',
  'merge',
  '2026-01-01T00:00:00Z',
  'user',
  '',
]
/** Objects that are nearly right, and ones that are not. */
const body = fc.dictionary(
  fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...NAMES) }, fc.string()),
  fc.oneof(fc.constantFrom(...VALUES), fc.jsonValue(), fc.array(fc.constantFrom(...VALUES))),
)

/** What a reader makes of something; nothing when it is refused, and how that is said. */
function read<T>(reader: () => T): T | undefined {
  try {
    return reader()
  } catch (error) {
    if (!(error instanceof ThroughlineError)) throw error
    expect([error.code, error.message === '', error.hint === '']).toEqual(['request-invalid', false, false])
    return undefined
  }
}

const DOCUMENT: MemoryDocument = {
  id: 'd',
  type: 'learning',
  category: 'knowledge',
  sessionId: null,
  tags: [],
  content: 'x',
  createdAt: '',
  updatedAt: '',
  pinned: false,
  contradicts: [],
  confirmations: [],
  extra: {},
}

test('[DOC39] whatever is sent is read, or refused in words; what was read can be used', () => {
  fc.assert(
    fc.property(body, (given) => {
      const query = read(() => readDocumentQuery(given))
      if (query !== undefined) matchesQuery(DOCUMENT, query, 0)
      const draft = read(() => readDocumentDraft(given))
      if (draft !== undefined) {
        const json = toDocumentJson({ ...DOCUMENT, ...draft, id: draft.id ?? 'd' })
        expect(readDocument(JSON.parse(JSON.stringify(json)))).toMatchObject({
          type: draft.type,
          content: draft.content,
        })
      }
      const patch = read(() => readDocumentPatch(given))
      if (patch !== undefined) expect(Object.keys(patch)).not.toContain('id')
      read(() => readDocumentAction(given))
      read(() => readRememberRequest(given))
      read(() => readWakeUpRequest(given))
      const texts = Object.entries(given).filter(
        (pair): pair is [string, string] => typeof pair[1] === 'string',
      )
      read(() => readFacetValues(new Map(texts)))
    }),
    runs(500),
  )
})

test('[DOC39] fields of their own are kept, aliases are understood, and nothing is asked for twice', () => {
  expect(
    readDocumentDraft({ _id: 'a', type: 'marker', content: 'x', serverSessionId: 's', mood: 1 }),
  ).toMatchObject({
    id: 'a',
    sessionId: 's',
    extra: { mood: 1 },
  })
  expect(readDocumentQuery({ serverSessionId: ['s'], _id: 'a' })).toEqual({ sessionId: ['s'], id: 'a' })
  expect(() => readDocumentQuery({ serverSessionId: 's', sessionId: 't' })).toThrow('twice')
  expect(readDocumentPatch({ workdir: null, sessionId: null, tags: ['a'] })).toEqual({
    workdir: undefined,
    sessionId: null,
    tags: ['a'],
  })
  expect(
    readFacetValues(
      new Map([
        ['tags', 'a, b'],
        ['agent', 'codex'],
        ['limit', '3'],
        ['pinned', '0'],
      ]),
    ),
  ).toEqual({
    tags: ['a', 'b'],
    audience: { agent: 'codex' },
    pinned: false,
  })
})
