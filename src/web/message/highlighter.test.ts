import * as fc from 'fast-check'
import { common, createLowlight } from 'lowlight'
import { expect, test } from 'vitest'
import { runs } from '#testing'
import { readWireRuns, toWireRuns } from './highlight-runs.ts'
import { createHighlighter, type HighlightWorker } from './highlighter.ts'
import { toLanguage } from './language.ts'

const LIMITS = { length: 1000, milliseconds: 50, loading: 1000, remembered: 3 }
const TS = 'ts'

/** A worker in this process, that counts what it is asked. `hangs` says for which code it never answers. */
function createDesk(hangs: (code: string) => boolean = () => false): {
  readonly open: () => HighlightWorker
  readonly opened: HighlightWorker[]
  readonly ended: HighlightWorker[]
  readonly asked: string[]
} {
  const opened: HighlightWorker[] = []
  const ended: HighlightWorker[] = []
  const asked: string[] = []
  const open = (): HighlightWorker => {
    const worker: HighlightWorker = {
      post(message) {
        const { id, code } = JSON.parse(JSON.stringify(message))
        asked.push(code)
        if (!hangs(code)) setTimeout(() => worker.heard({ id, runs: [1, code] }))
      },
      end: () => ended.push(worker),
      heard: () => undefined,
    }
    opened.push(worker)
    setTimeout(() => worker.heard('ready'))
    return worker
  }
  return { open, opened, ended, asked }
}

test('[WEB26] code is coloured by one worker, and what was coloured once is remembered', async () => {
  const desk = createDesk()
  const highlighter = createHighlighter(desk.open, LIMITS)
  expect(desk.opened).toHaveLength(0)
  const all = await Promise.all(['a', 'b', 'a'].map((code) => highlighter.highlight(code, TS)))
  expect(all).toEqual([[['keyword', 'a']], [['keyword', 'b']], [['keyword', 'a']]])
  expect(desk.asked).toEqual(['a', 'b'])
  expect(desk.opened).toHaveLength(1)
  expect(highlighter.find('a', TS)).toEqual([['keyword', 'a']])
  for (const code of ['c', 'd', 'e']) await highlighter.highlight(code, TS)
  expect(highlighter.find('a', TS)).toBeUndefined()
})

test('[WEB27] a worker that does not answer in time is ended, and its code stays plain', async () => {
  const desk = createDesk((code) => code === 'slow')
  const highlighter = createHighlighter(desk.open, LIMITS)
  const [slow, quick] = await Promise.all([
    highlighter.highlight('slow', TS),
    highlighter.highlight('quick', TS),
  ])
  expect({ slow, quick }).toEqual({ slow: undefined, quick: [['keyword', 'quick']] })
  expect({ opened: desk.opened.length, ended: desk.ended }).toEqual({ opened: 2, ended: [desk.opened[0]] })
  await highlighter.highlight('slow', TS)
  expect(desk.asked).toEqual(['slow', 'quick'])
})

test('[WEB27] code that is too long, or of no language, is not even sent', async () => {
  const desk = createDesk()
  const highlighter = createHighlighter(desk.open, LIMITS)
  expect(await highlighter.highlight('x'.repeat(1001), TS)).toBeUndefined()
  expect(await highlighter.highlight('x', toLanguage('text'))).toBeUndefined()
  expect(desk.opened).toHaveLength(0)
})

test('[WEB27] without a worker code stays plain, and it is not tried again', async () => {
  let tried = 0
  const highlighter = createHighlighter(() => {
    tried++
    throw new TypeError('refused')
  }, LIMITS)
  expect(await highlighter.highlight('a', TS)).toBeUndefined()
  expect(await highlighter.highlight('b', TS)).toBeUndefined()
  expect(tried).toBe(1)
})

test('[WEB28] an answer is believed only when it is the very code, in kinds that are known', () => {
  expect(readWireRuns([1, 'let', 0, ' a'], 'let a')).toEqual([
    ['keyword', 'let'],
    ['plain', ' a'],
  ])
  for (const wrong of [
    [1, 'let'],
    [1, 'let', 99, ' a'],
    [1, 'lot', 0, ' a'],
    ['keyword', 'let a'],
    [1],
    'let a',
    null,
    [1, { text: 'let a' }],
  ]) {
    expect(readWireRuns(wrong, 'let a')).toBeUndefined()
  }
  fc.assert(
    fc.property(fc.jsonValue(), fc.string(), (wire, code) => {
      const read = readWireRuns(wire, code)
      if (read !== undefined) expect(read.map(([, text]) => text).join('')).toBe(code)
    }),
    runs(300),
  )
})

test('[WEB28] real grammars give the code back, piece by piece', () => {
  const lowlight = createLowlight(common)
  const code = fc.oneof(
    fc.string(),
    fc.constantFrom(
      'const a = `b${c}` // d',
      'def f(x): return "y"',
      '<a href="b">c</a>',
      '{"a": [1, true]}',
    ),
  )
  fc.assert(
    fc.property(
      code,
      fc.constantFrom('typescript', 'python', 'xml', 'json', 'bash', 'diff'),
      (text, language) => {
        const read = readWireRuns(toWireRuns(lowlight.highlight(language, text)), text)
        expect(read?.map(([, piece]) => piece).join('')).toBe(text)
      },
    ),
    runs(100),
  )
  expect(readWireRuns(toWireRuns(lowlight.highlight('ts', 'const a = 1')), 'const a = 1')).toEqual([
    ['keyword', 'const'],
    ['plain', ' a = '],
    ['number', '1'],
  ])
})

test('[WEB26] the language is the first word behind the fence', () => {
  expect(['ts', 'TSX title="a"', 'c++', 'python {1}', '', 'text', '<script>'].map(toLanguage)).toEqual([
    'ts',
    'tsx',
    'c++',
    'python',
    '',
    '',
    '',
  ])
})
