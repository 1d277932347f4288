import { join } from 'node:path'
import { createChain, toPassages, type Passage } from '#model'
import { createLines, openTempDir, readAll, toJsonl, writeTranscript } from '#testing'
import { describe, expect, test } from 'vitest'
import { toSpokenTurns, toTranscript, type SpokenMessage } from './transcript.ts'
import { composeWakeUp, WAKE_UP_TEXTS } from './wake-up.ts'

const FIXTURES = join(import.meta.dirname, '../../test/fixtures/claude')
const names = { human: 'Ann', agent: 'Bo' }

async function passagesOf(path: string): Promise<readonly Passage[]> {
  const readings = await readAll(path)
  const chain = createChain()
  for (const reading of readings) if (reading.kind === 'entry') chain.add(reading.entry)
  return toPassages(readings, chain.finish())
}

const heard = (said: readonly SpokenMessage[]): readonly string[] =>
  said.map(({ speaker, name, text }) => `${speaker} ${name}: ${text}`)

describe('a transcript', () => {
  test('[WAK13] of a real session is what was said, across its compaction, and nothing else', async () => {
    const path =
      'compact_manual/config/projects/-home-user-work-compact-manual/7cba7611-621c-4d97-bbec-3ccbfc75c8fe.jsonl'
    expect(heard(toTranscript(await passagesOf(join(FIXTURES, path)), { names }))).toEqual([
      'human Ann: [[multi]] first turn',
      'agent Bo: Let me look at the file and the directory.',
      'agent Bo: Now one more command.',
      'agent Bo: All done: first part.\n\nAll done: second part.',
      'human Ann: [[say:answer two]] second turn',
      'agent Bo: answer two',
      'human Ann: [[say:answer three]] third turn',
      'agent Bo: answer three',
    ])
  })

  test('[WAK13] has no directives, no thinking, no calls, no empty messages and no earlier wake-up', async () => {
    const temp = await openTempDir()
    try {
      const lines = createLines()
      const earlier = composeWakeUp({
        texts: WAKE_UP_TEXTS,
        names,
        documents: [{ id: 'a', section: 'identity', text: 'old', pinned: true, score: 1 }],
        budget: { total: 1000, transcript: 500, documents: 500, item: 100 },
        now: 0,
      })
      const path = await writeTranscript(
        temp.path,
        toJsonl([
          lines.prompt(earlier.text),
          lines.reply([{ type: 'text', text: 'Good morning.' }]),
          lines.prompt('Fix it'),
          lines.reply([
            { type: 'thinking', thinking: 'hmm', signature: 'x' },
            { type: 'text', text: 'Fixed.\n[REMEMBER] {"content":"it was the cache"}\nBye.' },
            { type: 'tool_use', id: 't', name: 'Bash', input: { command: 'ls' } },
          ]),
          lines.result('t', 'a.ts'),
          lines.reply([{ type: 'text', text: '[REMEMBER] {"content":"only this"}' }]),
        ]),
      )
      expect(heard(toTranscript(await passagesOf(path), { names }))).toEqual([
        'agent Bo: Good morning.',
        'human Ann: Fix it',
        'agent Bo: Fixed.\nBye.',
      ])
    } finally {
      await temp.remove()
    }
  })

  test('[WAK13] leaves out messages that are known to be nobody’s', async () => {
    const temp = await openTempDir()
    try {
      const lines = createLines()
      const prompt = lines.prompt('Composed by a program')
      const path = await writeTranscript(temp.path, toJsonl([prompt, lines.prompt('Mine')]))
      const said = toTranscript(await passagesOf(path), { names, leaveOut: new Set([prompt.uuid]) })
      expect(heard(said)).toEqual(['human Ann: Mine'])
    } finally {
      await temp.remove()
    }
  })

  test('[WAK10] is cut into turns before each prompt that follows an answer', () => {
    const said = (['human', 'human', 'agent', 'agent', 'human', 'agent'] as const).map((speaker, index) => ({
      id: String(index),
      speaker,
      name: '',
      text: 'a',
    }))
    expect(toSpokenTurns(said).map((turn) => turn.map(({ id }) => id).join(''))).toEqual(['0123', '45'])
  })
})
