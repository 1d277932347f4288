import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { createGeminiSource, createOpencodeSource, type Source } from '#sources'
import { openTempDir, type TempDir } from '#testing'
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { addRow, openOpencode, openSqlite } from '../transcribed-place.ts'

const root = join(import.meta.dirname, '..', '..')
const script = join(root, 'dist/testing/transcriber.js')

beforeAll(async () => {
  const built = existsSync(script) ? statSync(script).mtimeMs : 0
  if (built > statSync(join(root, 'src/testing/transcriber.ts')).mtimeMs) return
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  await promisify(execFile)(process.execPath, [tsc, '-b', 'src/testing'], { cwd: root }).catch(
    () => undefined,
  )
})

let temp: TempDir
const children: ChildProcess[] = []
beforeEach(async () => {
  temp = await openTempDir()
})
afterEach(async () => {
  for (const child of children.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  await temp.remove()
})

async function start(agent: string, from: string, to: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, [script, agent, from, to], { stdio: ['pipe', 'pipe', 'inherit'] })
  children.push(child)
  if (child.stdout) await once(child.stdout, 'data')
  return child
}

async function finish(child: ChildProcess): Promise<void> {
  child.stdin?.end()
  await once(child, 'exit')
}

async function textOf(source: Source): Promise<string> {
  const { sessions, problems } = await source.find()
  expect(problems).toEqual([])
  return sessions.map(({ path }) => readFileSync(path, 'utf8')).join('')
}

test('[TRS5] [TRS3] processes that transcribe at the same time, one of them killed, leave what one would have left', async () => {
  const gemini = join(temp.path, 'gemini')
  const chats = join(gemini, 'tmp/w/chats')
  mkdirSync(chats, { recursive: true })
  writeFileSync(join(gemini, 'tmp/w/.project_root'), '/w')
  const path = join(chats, 'session-2026-11-15T07-00-aaaaaaaa.jsonl')
  writeFileSync(path, `${JSON.stringify({ sessionId: 'aaaaaaaa-1', projectHash: 'h', startTime: 't' })}\n`)
  const dir = join(temp.path, 'transcribed')
  const first = await start('gemini', gemini, dir)
  const second = await start('gemini', gemini, dir)
  const third = await start('gemini', gemini, dir)
  for (let index = 0; index < 150; index++) {
    const line = JSON.stringify({ id: `m${String(index)}`, type: 'user', content: `said ${String(index)}` })
    // In pieces: whoever reads in between sees a line that is not whole.
    appendFileSync(path, line.slice(0, 20))
    if (index % 10 === 0) await sleep(1)
    appendFileSync(path, `${line.slice(20)}\n`)
    if (index === 70) third.kill('SIGKILL')
    if (index % 3 === 0) await sleep(1)
  }
  await Promise.all([finish(first), finish(second)])
  const anew = await textOf(createGeminiSource(gemini, join(temp.path, 'anew')))
  expect(await textOf(createGeminiSource(gemini, dir))).toBe(anew)
  expect(anew.split('\n')).toHaveLength(152)
})

test('[OPC5] opencode writes on while it is read: it never waits, and every row is told', async () => {
  const data = join(temp.path, 'data')
  const path = openOpencode(data)
  const dir = join(temp.path, 'transcribed')
  const db = openSqlite(path)
  // Not even for a moment does it have to wait.
  db.pragma('busy_timeout = 0')
  const session = {
    id: 'ses_1',
    project_id: 'p',
    directory: '/w',
    title: 'one',
    version: '1',
    time_updated: 1,
  }
  addRow(db, 'session', session)
  const reader = await start('opencode', data, dir)
  for (let index = 0; index < 200; index++) {
    const id = String(index).padStart(4, '0')
    const message = { id: `msg_${id}`, session_id: 'ses_1', time_created: index, time_updated: index }
    db.transaction(() => {
      addRow(db, 'message', {
        ...message,
        data: JSON.stringify({ role: 'user', time: { created: index } }),
      })
      const part = { id: `prt_${id}`, message_id: `msg_${id}`, session_id: 'ses_1', time_updated: index }
      addRow(db, 'part', { ...part, data: JSON.stringify({ type: 'text', text: `said ${id}` }) })
      addRow(db, 'event_sequence', { aggregate_id: 'ses_1', seq: index })
    })()
    if (index % 50 === 49) db.pragma('wal_checkpoint(TRUNCATE)')
    if (index % 5 === 0) await sleep(1)
  }
  await finish(reader)
  expect(db.pragma('integrity_check', { simple: true })).toBe('ok')
  db.close()
  const text = await textOf(createOpencodeSource(data, dir))
  expect(text).toBe(await textOf(createOpencodeSource(data, join(temp.path, 'anew'))))
  expect(text.match(/"text":"said \d{4}"/gu)?.length).toBe(400)
})
