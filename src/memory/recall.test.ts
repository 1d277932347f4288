import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runs } from '#testing'
import { learning } from './fixtures/learning.ts'
import { createRecall, withDocuments } from './recall.ts'
import { toDateTerms } from './recall-index.ts'
import type { RecallTurn } from './recall-index.ts'

const said = (id: string, speaker: string, text: string): RecallTurn => ({
  id,
  sessionId: id.split(':')[0] ?? id,
  speaker,
  text,
  at: '2026-03-05T10:00:00Z',
})
const TURNS: readonly RecallTurn[] = [
  said('a:1', 'Ada', 'Good morning! How did the migration of the parser go?'),
  said('a:2', 'Grace', 'It took until last night, the tests of the scanner were flaky.'),
  said('a:3', 'Ada', 'Which port did you choose for the preview server in the end?'),
  said('a:4', 'Grace', 'I settled on 4173, everything else was taken.'),
  said('a:5', 'Ada', 'Fine. I will write it into the guide.'),
  said('b:1', 'Grace', 'The hedgehog in the garden had puppies, or whatever they are called.'),
  said('b:2', 'Ada', 'Hoglets! My neighbours feed theirs.'),
  said('b:3', 'Grace', 'We adopted a cat as well, in May.'),
  said('b:4', 'Ada', 'I adopted a dog.'),
]
const ids = (question: string, turns = TURNS, limit = 3): readonly string[] =>
  createRecall(turns)
    .turns(question, limit)
    .map(({ turn }) => turn.id)

describe('[DOC22] what was said is found', () => {
  test('by some of its words, in other forms, among the first', () => {
    expect(ids('was the scanner test flaky?')[0]).toBe('a:2')
    expect(ids('hedgehogs in gardens')[0]).toBe('b:1')
  })

  test('when only the question before it has the words', () => {
    expect(ids('Which port does the preview server have?')).toContain('a:4')
  })

  test('by who said it', () => {
    expect(ids('What did Ada adopt?')[0]).toBe('b:4')
    expect(ids('What did Grace adopt?')[0]).toBe('b:3')
  })

  test('by sessions too, each once, by its best turn', () => {
    const recall = createRecall(TURNS)
    expect(recall.sessions('flaky tests of the scanner', 5).map(({ sessionId }) => sessionId)[0]).toBe('a')
    expect(recall.sessions('adopted', 1)).toMatchObject([{ sessionId: 'b' }])
  })

  test('and nothing when no word of the question, nor one like it, was said', () => {
    expect(ids('quantum chromodynamics')).toEqual([])
    expect(ids('')).toEqual([])
    expect(ids('the of and')).toEqual([])
    expect(createRecall([]).turns('anything', 5)).toEqual([])
  })

  test('whenever it was said: age changes no order', () => {
    const older = TURNS.map((turn, n) => ({ ...turn, at: `20${10 + n}-03-05T10:00:00Z` }))
    for (const question of ['preview server port', 'adopted', 'tests']) {
      expect(ids(question, older)).toEqual(ids(question))
    }
    expect(toDateTerms('2026-03-05T10:00:00Z')).toEqual(['2026', 'march', '5'])
    expect(toDateTerms('1:56 pm on 8 May, 2023')).toEqual(['1', '56', '8', '2023'])
  })

  test('the same way each time, each turn once, and never more than asked for', () => {
    const word = fc.constantFrom(
      'port',
      'server',
      'cat',
      'Ada',
      'when',
      'guide',
      'tests',
      '?',
      'flaky',
      'night',
    )
    const text = fc.oneof(
      fc.array(word).map((words) => words.join(' ')),
      fc.string({ unit: 'binary' }),
    )
    const turns = fc.array(fc.record({ session: fc.constantFrom('s', 't'), text }), { maxLength: 12 })
    fc.assert(
      fc.property(turns, text, fc.nat({ max: 5 }), (some, question, limit) => {
        const all = some
          .toSorted((a, b) => (a.session < b.session ? -1 : a.session > b.session ? 1 : 0))
          .map((one, n) => ({ id: String(n), sessionId: one.session, text: one.text }))
        const hits = createRecall(all).turns(question, limit)
        expect(createRecall(structuredClone(all)).turns(question, limit)).toEqual(hits)
        expect(hits.length).toBeLessThanOrEqual(limit)
        expect(new Set(hits.map(({ turn }) => turn.id)).size).toBe(hits.length)
        for (const { score } of hits) expect(Number.isFinite(score)).toBe(true)
        const longer = createRecall(all).turns(question, limit + 3)
        expect(longer.slice(0, limit)).toEqual(hits)
      }),
      runs(150),
    )
  })
})

describe('[DOC23] documents', () => {
  const NOW = Date.UTC(2026, 5, 1)
  test('help to find the turn that they were promoted from', () => {
    const provenance = { sessionId: 'a', entryId: 'a:4', block: 0, position: 0 }
    const turns = withDocuments(TURNS, [learning('Vite listens on localhost', { provenance })], NOW)
    expect(turns).toHaveLength(TURNS.length)
    expect(ids('vite localhost', turns)[0]).toBe('a:4')
    expect(ids('vite localhost')).toEqual([])
  })

  test('of elsewhere are found by themselves, and those that do not count are not', () => {
    const documents = [
      learning('Vite listens on localhost', { tags: ['web'] }),
      learning('Vite is retired', { retiredAt: '2026-01-02T00:00:00Z' }),
      learning('Vite is held back', { quarantine: 'copied-from-tool' }),
    ]
    const turns = withDocuments(TURNS, documents, NOW)
    expect(ids('vite', turns)).toEqual(['learning:Vite listens on localhost'])
    expect(ids('web', turns)).toEqual(['learning:Vite listens on localhost'])
  })
})
