import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '#testing'
import { readCues, toPieces, toSegments } from './cues.ts'

test('[DRV30] cues are read in their order, whatever stands around them', () => {
  expect(
    readCues(
      'please [[think hm]] and [[slow 5]] [[say two\nlines]] [[tool Bash {"command":"[[ -f x ]] && echo ]]"}]] [[with Write {"a":[[1]]}]] [[ask* Which? | A | B ]] [[recall]] [[pause 7]] [[fail 529]] [[cut]] [[hang]] [[die]] thanks',
    ),
  ).toEqual([
    { kind: 'think', text: 'hm' },
    { kind: 'slow', ms: 5 },
    { kind: 'say', text: 'two\nlines' },
    { kind: 'tool', name: 'Bash', input: { command: '[[ -f x ]] && echo ]]' }, joined: false },
    { kind: 'tool', name: 'Write', input: { a: [[1]] }, joined: true },
    {
      kind: 'tool',
      name: 'AskUserQuestion',
      joined: false,
      input: {
        questions: [
          {
            question: 'Which?',
            header: 'Question',
            multiSelect: true,
            options: [
              { label: 'A', description: 'Choose A' },
              { label: 'B', description: 'Choose B' },
            ],
          },
        ],
      },
    },
    { kind: 'recall' },
    { kind: 'pause', ms: 7 },
    { kind: 'fail', status: 529 },
    { kind: 'cut' },
    { kind: 'hang' },
    { kind: 'die' },
  ])
})

test('[DRV30] what looks like a cue and is none is text, and a prompt without a cue is answered with its words', () => {
  for (const prompt of [
    'hello',
    '[[fly]]',
    '[[fail 200]]',
    '[[tool Bash nothing]]',
    '[[slow down]]',
    '[[say',
    '',
  ])
    expect(readCues(prompt)).toEqual([{ kind: 'say', text: `You said: ${prompt}` }])
})

test('[DRV30] any text can be read, and nothing of what is said is lost in pieces', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('[', ']', '[[', ']]', 'say ', 'tool ', '{"a":1}', ' ', 'x') }),
      (text) => {
        const cues = readCues(text)
        expect(toSegments(cues).flat().length).toBeGreaterThanOrEqual(cues.length)
        expect(toPieces(text).join('')).toBe(text)
      },
    ),
    runs(500),
  )
})

test('[DRV30] a message ends with its calls, and the last one is never a call', () => {
  const kinds = toSegments(readCues('[[say a]] [[tool X 1]] [[with Y 2]] [[tool Z 3]]')).map((segment) =>
    segment.map((cue) => cue.kind),
  )
  expect(kinds).toEqual([['say', 'tool', 'tool'], ['tool'], ['say']])
})
