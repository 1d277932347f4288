import { expect, test } from 'vitest'
import { checkTotal, LARGEST, readAttachment, type GivenFile } from './attachment.ts'
import { complete, findCompletion } from './completion.ts'
import { openDraft } from './draft.ts'
import { toAnswers } from './question-answers.ts'
import { toOutcomeWords } from './attention-words.ts'

const known = {
  commands: ['/compact', 'clear', 'review:pr'],
  files: ['src/app.ts', 'docs/app.md', 'src/web/live.ts'],
}

test('[LWB5] commands are offered behind a slash at the beginning, files behind an at sign', () => {
  expect(findCompletion('/c', 2, known)?.choices).toEqual(['/compact', '/clear'])
  expect(findCompletion('/', 1, known)?.choices).toHaveLength(3)
  expect(findCompletion('say /c', 6, known)).toBeUndefined()
  expect(findCompletion('/nothing', 8, known)).toBeUndefined()
  const found = findCompletion('look at @app and', 12, known)
  expect(found?.choices).toEqual(['@src/app.ts', '@docs/app.md'])
  expect(findCompletion('mail me@app', 11, known)).toBeUndefined()
  expect(complete('look at @app and', found ?? { from: 0, to: 0 }, '@src/app.ts')).toEqual({
    text: 'look at @src/app.ts and',
    caret: 20,
  })
  expect(complete('/c', { from: 0, to: 2 }, '/clear')).toEqual({ text: '/clear ', caret: 7 })
})

test('[LWB6] a draft is kept for its session, and is gone when it was sent', () => {
  const kept = new Map<string, string>()
  const storage = {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
    removeItem: (key: string) => void kept.delete(key),
  }
  openDraft('a', storage).write('half a thought')
  expect(openDraft('a', storage).read()).toBe('half a thought')
  expect(openDraft('b', storage).read()).toBe('')
  openDraft('a', storage).write('')
  expect(kept.size).toBe(0)
})

const file = (name: string, bytes: Uint8Array<ArrayBuffer>, size = bytes.length): GivenFile => ({
  name,
  type: '',
  size,
  arrayBuffer: () => Promise.resolve(bytes.buffer),
})
const PNG = Uint8Array.from([
  0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13, 73, 72, 68, 82, 0, 0, 0, 1, 0, 0, 0, 1, 8, 0,
  0, 0, 0,
])

test('[LWB7] pictures go as pictures and text as documents; what cannot go is told in words', async () => {
  const options = { id: '1', images: true }
  const picture = await readAttachment(file('a.png', PNG), options)
  expect(picture).toMatchObject({
    name: 'a.png',
    block: { kind: 'image', source: { mediaType: 'image/png' } },
  })
  const text = await readAttachment(file('a.md', new TextEncoder().encode('# hällo')), options)
  expect(text).toMatchObject({
    block: { kind: 'document', title: 'a.md', source: { kind: 'text', text: '# hällo' } },
  })
  expect(await readAttachment(file('a.png', PNG), { ...options, images: false })).toContain('takes none')
  expect(await readAttachment(file('a.bin', Uint8Array.from([0, 1, 255])), options)).toContain('neither')
  expect(await readAttachment(file('big.png', PNG, LARGEST.picture + 1), options)).toContain('at most')
  const long = new TextEncoder().encode('x'.repeat(LARGEST.text + 1))
  expect(await readAttachment(file('long.txt', long), options)).toContain('name its path')
  if (typeof picture === 'string') throw new Error(picture)
  expect(checkTotal([picture])).toBeUndefined()
  expect(checkTotal(Array.from({ length: 4 }, () => ({ ...picture, size: LARGEST.picture })))).toContain(
    'together',
  )
})

test('[LWB9] every question has one answer, and words of one’s own are one where they are taken', () => {
  const options = [{ label: 'Red' }, { label: 'Blue' }]
  const one = { question: 'Which?', options, multiple: false, free: true }
  const many = { ...one, multiple: true }
  const none = { labels: [], free: '' }
  expect(toAnswers([one, many], [{ labels: ['Red'], free: '' }, none])).toBeUndefined()
  expect(toAnswers([one], [{ labels: [], free: ' green ' }])).toEqual([['green']])
  expect(toAnswers([many], [{ labels: ['Blue', 'Red'], free: 'green' }])).toEqual([['Red', 'Blue', 'green']])
  expect(toAnswers([{ ...one, free: false }], [{ labels: [], free: 'green' }])).toBeUndefined()
})

test('[LWB3] a settled attention says who answered and how, and a lapse is no consent', () => {
  const at = '2026-01-01T00:00:00Z'
  const by = { state: 'resolved', by: 'phone', at } as const
  expect(toOutcomeWords({ ...by, resolution: { kind: 'allow', rules: [] } })).toBe('Allowed once by phone')
  expect(toOutcomeWords({ ...by, resolution: { kind: 'allow', rules: ['r'] } })).toBe(
    'Allowed from now on by phone',
  )
  expect(toOutcomeWords({ ...by, resolution: { kind: 'deny', words: 'no' } })).toBe('Denied by phone: no')
  expect(toOutcomeWords({ state: 'lapsed', reason: 'deadline', at })).toContain('Nothing was allowed')
})
