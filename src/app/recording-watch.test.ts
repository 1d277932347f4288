import { describe, expect, test } from 'vitest'
import { createHandClock } from '#testing'
import type { SessionView } from '#model'
import { createRecordingWatch } from './recording-watch.ts'

const SESSION = '00000000-0000-4000-8000-000000000001'

function view(startedAt: number, writesTranscript = true): SessionView {
  return {
    sessionId: SESSION,
    run: 'r',
    seq: 1,
    pid: 1,
    agent: 'claude',
    can: {
      resume: true,
      fork: true,
      interrupt: true,
      editInput: true,
      denialWords: true,
      midTurn: true,
      images: true,
      writesTranscript,
    },
    workdir: '/work',
    startedAt: '',
    state: { state: 'idle' },
    mode: 'default',
    tools: [],
    commands: [],
    prompts: [],
    attentions: [],
    turn: { startedAt: new Date(startedAt).toISOString(), messages: [], dropped: 0, streaming: [] },
  }
}

function openWatch(lastWrite: () => number | undefined): {
  readonly answer: (at: number, writesTranscript?: boolean) => void
  readonly verdicts: (string | undefined)[]
} {
  const clock = createHandClock()
  const verdicts: (string | undefined)[] = []
  const watch = createRecordingWatch({
    lastWrite,
    after: clock.after,
    onVerdict: (_id, trouble) => verdicts.push(trouble),
  })
  return {
    verdicts,
    answer(at, writesTranscript) {
      watch.answered(view(at, writesTranscript))
      clock.pass(10_000)
    },
  }
}

describe('[T13] a session that is not recorded is noticed', () => {
  test('after two answers without a line, once, and taken back when lines come', () => {
    let written: number | undefined
    const { answer, verdicts } = openWatch(() => written)
    answer(1_000)
    expect(verdicts).toEqual([])
    answer(2_000)
    answer(3_000)
    expect(verdicts).toEqual([expect.stringContaining('Not recording')])
    written = 4_500
    answer(4_000)
    expect(verdicts.at(-1)).toBeUndefined()
    expect(verdicts).toHaveLength(2)
  })

  test('a transcript that only has what was said before the turn does not count', () => {
    const { answer, verdicts } = openWatch(() => 500)
    answer(1_000)
    answer(2_000)
    expect(verdicts).toHaveLength(1)
  })

  test('nothing is expected of an agent that writes no transcript', () => {
    const { answer, verdicts } = openWatch(() => undefined)
    answer(1_000, false)
    answer(2_000, false)
    answer(3_000, false)
    expect(verdicts).toEqual([])
  })
})
