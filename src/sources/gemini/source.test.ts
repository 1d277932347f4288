import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { openTempDir, type TempDir } from '#testing'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Source } from '../source.ts'
import { createGeminiSource } from './source.ts'

let temp: TempDir
let source: Source
beforeEach(async () => {
  temp = await openTempDir()
  source = createGeminiSource(join(temp.path, 'gemini'), join(temp.path, 'transcribed'))
})
afterEach(() => temp.remove())

function write(path: string, ...lines: readonly object[]): void {
  const target = join(temp.path, 'gemini', path)
  mkdirSync(dirname(target), { recursive: true })
  writeFileSync(target, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
}

function header(sessionId: string): object {
  return { sessionId, projectHash: 'h', startTime: '2026-11-15T07:00:00.000Z', kind: 'main' }
}

function said(id: string): object {
  return { id, type: 'user', timestamp: '2026-11-15T07:00:01.000Z', content: `said ${id}` }
}

async function listed(): Promise<readonly unknown[]> {
  const { sessions } = await source.list()
  return sessions.map(({ id, firstPrompt, workdirs, subagents }) => [
    id,
    firstPrompt,
    workdirs,
    subagents.map((each) => each.id),
  ])
}

test('[GEM9] files of one session are one session, with its subagents and the workdir of its project', async () => {
  write('tmp/one/chats/session-2026-11-15T07-00-aaaaaaaa.jsonl', header('aaaaaaaa-1'), said('1'))
  write('tmp/one/chats/session-2026-11-15T07-05-aaaaaaaa.jsonl', header('aaaaaaaa-1'))
  write('tmp/one/chats/aaaaaaaa-1/explorer-1.jsonl', { ...header('explorer-1'), kind: 'subagent' }, said('2'))
  writeFileSync(join(temp.path, 'gemini/tmp/one/.project_root'), '/home/user/one\n')
  write('tmp/two/chats/session-2026-11-15T07-00-bbbbbbbb.json', {
    ...header('bbbbbbbb-2'),
    messages: [said('3')],
  })
  write('projects.json', { projects: { '/home/user/two': 'two' } })
  write('tmp/two/logs.json', {})
  expect(await listed()).toEqual([
    ['aaaaaaaa-1', 'said 1', ['/home/user/one'], ['explorer-1']],
    ['bbbbbbbb-2', 'said 3', ['/home/user/two'], []],
  ])
  expect(source.folders().map((dir) => dir.slice(temp.path.length))).toEqual([
    '/gemini/tmp',
    '/gemini/tmp/one/chats',
    '/gemini/tmp/one/chats/aaaaaaaa-1',
    '/gemini/tmp/two/chats',
  ])
})

test('[GEM9] a stamp changes with every line, and a session that Gemini deleted is not listed as one of its own', async () => {
  const path = 'tmp/one/chats/session-2026-11-15T07-00-aaaaaaaa.jsonl'
  write(path, header('aaaaaaaa-1'), said('1'))
  await source.find()
  const later = Date.now() + 60_000
  const first = source.stamp(later)
  expect(source.stamp(later)).toBe(first)
  write(path, header('aaaaaaaa-1'), said('1'), said('2'))
  expect(source.stamp(later)).not.toBe(first)
  rmSync(join(temp.path, 'gemini', path))
  expect(await listed()).toEqual([])
})

test('[GEM9] where there is no Gemini, there is nothing, and no trouble', async () => {
  expect(await source.list()).toEqual({ sessions: [], problems: [] })
  expect(source.folders()).toEqual([])
})

test('[GEM11] a file with a beginning and nothing else is no session until something is said in it', async () => {
  const context = { id: 'c', type: 'user', content: '<session_context>\nThis is the Gemini CLI.' }
  const path = 'tmp/shop/chats/session-2026-11-15T07-00-aaaaaaaa.jsonl'
  write(path, header('aaaaaaaa-1'), { $set: { messages: [context] } })
  expect(await listed()).toEqual([])
  write(path, header('aaaaaaaa-1'), { $set: { messages: [context] } }, said('one'))
  expect(await listed()).toEqual([['aaaaaaaa-1', 'said one', [], []]])
})
