import { expect, test } from 'vitest'
import type { SessionSummary } from '#model'
import { checkMinute } from './resumed-session.ts'

const SESSION: SessionSummary = {
  id: 'one',
  agent: 'gemini',
  path: '',
  size: 0,
  workdirs: [],
  workdirsComplete: true,
  createdAt: '2026-11-16T15:09:41.774Z',
  subagents: [],
  toolResults: [],
  archived: false,
  state: 'ok',
}

const at = (time: string): number => Date.parse(`2026-11-16T${time}Z`)

test('[LVR5] a session of Gemini CLI is not gone on with in the minute in which it was begun', () => {
  expect(() => checkMinute(SESSION, at('15:09:50.000'))).toThrow(
    expect.objectContaining({ code: 'session-held', hint: expect.stringContaining('in 10 seconds') }),
  )
  expect(() => checkMinute(SESSION, at('15:10:00.000'))).not.toThrow()
  expect(() => checkMinute({ ...SESSION, agent: 'codex' }, at('15:09:50.000'))).not.toThrow()
  expect(() => checkMinute({ ...SESSION, createdAt: undefined }, at('15:09:50.000'))).not.toThrow()
})
