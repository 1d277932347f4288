import { describe, expect, test } from 'vitest'
import { readDialogues, toEvidence } from '../bench/recall/dialogues.ts'
import { measureRecall } from '../bench/recall/measure.ts'
import { FTS5, FTS5_CAREFUL, OURS, OVERLAP } from '../bench/recall/methods.ts'

const turn = (id: string, speaker: string, text: string, rest: object = {}) => ({
  dia_id: id,
  speaker,
  text,
  ...rest,
})
const FILE = JSON.stringify([
  {
    sample_id: 'made-up',
    conversation: {
      speaker_a: 'Ada',
      speaker_b: 'Grace',
      session_2_date_time: '9:00 am on 2 June, 2023',
      session_2: [
        turn('D2:1', 'Ada', 'Did anything come of the pottery class?'),
        turn('D2:2', 'Grace', 'Yes, I made two bowls and a plate.', {
          blip_caption: 'a photo of a blue bowl',
          query: 'ceramics kiln',
        }),
        turn('D2:3', 'Ada', 'Lovely.'),
      ],
      session_1_date_time: '1:56 pm on 8 May, 2023',
      session_1: [
        turn('D1:1', 'Ada', 'I ran a marathon yesterday!'),
        turn('D1:2', 'Grace', 'Congratulations. I signed up for a pottery class.'),
      ],
    },
    qa: [
      { question: 'When did Ada run a marathon?', evidence: ['D1:1'], category: 2 },
      { question: 'What did Grace make in pottery class?', evidence: ['D1:02; D2:2'], category: 1 },
      { question: 'What colour is the bowl?', evidence: ['D:2:2'], category: 4 },
      { question: 'Who won?', evidence: [], category: 5 },
      { question: 'Who lost?', evidence: ['D9:9'], category: 5 },
    ],
  },
])

describe('[DOC24] the benchmark of recall', () => {
  test('reads dialogues, mends ids that are run together or misspelt, and leaves out what nobody said', () => {
    const [dialogue] = readDialogues(FILE)
    expect(dialogue?.turns.map(({ id }) => id)).toEqual(['D1:1', 'D1:2', 'D2:1', 'D2:2', 'D2:3'])
    expect(JSON.stringify(dialogue)).not.toContain('kiln')
    expect(dialogue?.questions.map(({ evidence }) => evidence)).toEqual([
      ['D1:1'],
      ['D1:2', 'D2:2'],
      ['D2:2'],
    ])
    expect(dialogue?.skipped).toBe(2)
    expect(toEvidence(['D8:6; D9:17', 'D:11:26', 'D30:05', 'D9:1 D4:4', 7])).toEqual([
      'D8:6',
      'D9:17',
      'D11:26',
      'D30:5',
      'D9:1',
      'D4:4',
    ])
    expect(readDialogues('no json')).toEqual([])
    expect(readDialogues('[1, {}]')).toMatchObject([{ turns: [], questions: [] }])
  })

  test('measures every method on the same turns', () => {
    const dialogues = readDialogues(FILE)
    const figures = [OURS, FTS5, FTS5_CAREFUL, OVERLAP].map((method) => measureRecall(method, dialogues))
    for (const one of figures) {
      expect(one.at5).toBeLessThanOrEqual(one.at10)
      expect(one.at10).toBeLessThanOrEqual(one.at25)
    }
    expect(figures[0]).toMatchObject({ at5: 1, at25: 1, sessionsAt5: 1, anyInBudget: 1, allInBudget: 1 })
  })

  test('counts shares of the evidence, and the first of it', () => {
    const fixed = { name: 'fixed', prepare: () => () => ['D2:3', 'D2:2', 'D9:9'] }
    const figures = measureRecall(fixed, readDialogues(FILE))
    expect(figures.at5).toBeCloseTo((0 + 1 / 2 + 1) / 3)
    expect(figures.reciprocalRank).toBeCloseTo((0 + 1 / 2 + 1 / 2) / 3)
    expect(figures.anyInBudget).toBeCloseTo(2 / 3)
    expect(figures.allInBudget).toBeCloseTo(1 / 3)
  })
})
