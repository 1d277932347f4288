import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { SessionSummary } from '#model'
import { openTempDir } from '#testing'
import { bringBack } from './archived-session.ts'
import { readConfig } from './config.ts'

test('[LVR7] what is written back is the session with all that lies beside it, and nothing that is there is touched', async () => {
  const temp = await openTempDir()
  onTestFinished(async () => await temp.remove())
  const config = readConfig({ env: {}, homeDir: temp.path })
  const put = (path: string, text: string): string => {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
    return path
  }
  const kept = join(config.home, 'archive', 'claude', 'projects', '-w')
  const path = put(join(kept, 'one.jsonl'), 'kept\n')
  put(join(kept, 'one', 'subagents', 'agent-a.jsonl'), 'kept subagent\n')
  put(join(kept, 'one', 'subagents', 'agent-b.jsonl'), 'kept other\n')
  const there = join(config.claudeDir, 'projects', '-w')
  put(join(there, 'one', 'subagents', 'agent-b.jsonl'), 'newer\n')
  const session: SessionSummary = {
    id: 'one',
    agent: 'claude',
    path,
    size: 5,
    workdirs: ['/w'],
    workdirsComplete: true,
    subagents: [],
    toolResults: [],
    archived: true,
    state: 'ok',
  }
  expect(bringBack(session, config)).toBe(false)
  expect(existsSync(join(there, 'one.jsonl'))).toBe(false)

  expect(bringBack({ ...session, sourceGone: true }, config)).toBe(true)
  const read = (...names: readonly string[]): string => readFileSync(join(there, ...names), 'utf8')
  expect([read('one.jsonl'), read('one', 'subagents', 'agent-a.jsonl')]).toEqual([
    'kept\n',
    'kept subagent\n',
  ])
  expect(read('one', 'subagents', 'agent-b.jsonl')).toBe('newer\n')

  writeFileSync(join(there, 'one.jsonl'), 'gone on\n')
  expect(bringBack({ ...session, sourceGone: true }, config)).toBe(true)
  expect(read('one.jsonl')).toBe('gone on\n')
  expect(() => bringBack({ ...session, agent: 'gemini', sourceGone: true }, config)).toThrow(
    expect.objectContaining({
      code: 'session-not-found',
      hint: expect.stringContaining('resume one --in gemini'),
    }),
  )
})
