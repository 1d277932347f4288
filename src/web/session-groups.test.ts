import type { SessionSummary } from '#model'
import { expect, test } from 'vitest'
import { toAge, toDayName } from './age.ts'
import { toFolderName } from './folder-names.ts'
import { toRows, toTitle } from './session-groups.ts'
import { countWaiting } from './session-list.ts'
import { toBadges } from './session-state.ts'

const NOW = new Date(2026, 10, 16, 12).getTime()

function session(id: string, change: Partial<SessionSummary> = {}): SessionSummary {
  return {
    id,
    agent: 'claude',
    path: `/c/${id}.jsonl`,
    size: 1,
    workdirs: ['/work/alpha'],
    workdirsComplete: true,
    subagents: [],
    toolResults: [],
    archived: false,
    state: 'ok',
    lastActivityAt: new Date(NOW - 60_000).toISOString(),
    ...change,
  }
}

const titles = (rows: ReturnType<typeof toRows>): readonly string[] =>
  rows.map((row) => (row.kind === 'head' ? `${row.title} (${row.count})` : row.session.id))

test('[WEB2] sessions are grouped by folder or by day, newest first, stars before all others', () => {
  const all = [
    session('a'),
    session('b', { workdirs: ['/old', '/work/beta'] }),
    session('c', { starred: true }),
    session('d', { lastActivityAt: new Date(NOW - 26 * 3_600_000).toISOString() }),
  ]
  expect(titles(toRows(all, { by: 'workdir', filter: '', now: NOW }))).toEqual([
    'Starred (1)',
    'c',
    'alpha (2)',
    'a',
    'd',
    'beta (1)',
    'b',
  ])
  expect(titles(toRows(all, { by: 'day', filter: '', now: NOW }))).toEqual([
    'Starred (1)',
    'c',
    'Today (2)',
    'a',
    'b',
    'Yesterday (1)',
    'd',
  ])
})

test('[WEB2] what is typed is looked for in name, prompt, folder, branch, agent and id, every word of it', () => {
  const all = [
    session('a', { name: 'Fix the Parser', gitBranch: 'feature/x' }),
    session('b', { firstPrompt: 'why does the parser fail' }),
    session('c', { workdirs: ['/work/parser'] }),
    session('d', { agent: 'codex' }),
  ]
  const found = (filter: string): readonly string[] =>
    toRows(all, { by: 'day', filter, now: NOW }).flatMap((row) => (row.kind === 'session' ? [row.key] : []))
  expect(found('PARSER')).toEqual(['a', 'b', 'c'])
  expect(found('parser fix')).toEqual(['a'])
  expect(found('feature/x')).toEqual(['a'])
  expect(found('codex')).toEqual(['d'])
  expect(found('nothing of the sort')).toEqual([])
})

test('[WEB2] names, folders and ages are what people would say', () => {
  expect(toTitle({ id: '12345678-abcd', name: '  ' })).toBe('Session 12345678')
  expect(toFolderName('/work/alpha/')).toBe('alpha')
  expect(toFolderName(String.raw`C:\work\beta`)).toBe('beta')
  expect(toFolderName('')).toBe('No folder')
  const ago = (ms: number): string => toAge(new Date(NOW - ms).toISOString(), NOW)
  expect([ago(1000), ago(5 * 60_000), ago(3 * 3_600_000), ago(2 * 86_400_000)]).toEqual([
    'now',
    '5 min',
    '3 h',
    '2 d',
  ])
  expect(toAge('no time', NOW)).toBe('')
  expect(toDayName(undefined, NOW)).toBe('No date')
})

test('[WEB3] waiting for you is told apart from working, done and ended abruptly, and counted', () => {
  const live = (status: 'busy' | 'waiting' | 'idle' | 'gone'): SessionSummary =>
    session(status, { live: { pid: 1, status } })
  const words = (one: SessionSummary): readonly string[] => toBadges(one).map((badge) => badge.words)
  expect(words(live('waiting'))).toEqual(['waiting for you'])
  expect(words(live('busy'))).toEqual(['working'])
  expect(words(live('idle'))).toEqual(['done'])
  expect(words(live('gone'))).toEqual(['ended abruptly'])
  expect(words(session('x', { state: 'damaged', sourceGone: true }))).toEqual(['damaged', 'archived'])
  expect(words(session('x', { state: 'unreadable', problem: 'no rights' }))).toEqual(['unreadable'])
  expect(words(session('x'))).toEqual([])
  expect(countWaiting([live('waiting'), live('busy'), live('idle')], new Map())).toBe(1)
})
