import { appendFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Worker } from 'node:worker_threads'
import { openSqliteStore } from '#store'
import { eventually, createLines, openTempDir, toJsonl, type TempDir } from '#testing'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openIndexThread } from './index-thread.ts'
import type { IndexTask } from './index-task.ts'
import type { SessionIndex } from './session-index.ts'

let dir: TempDir
let index: SessionIndex
let notices: string[] = []
let threads: Worker[] = []
const lines = createLines()
const keepThread = (thread: Worker): void => {
  threads.push(thread)
}

beforeEach(async () => {
  dir = await openTempDir()
  notices = []
  threads = []
  process.on('worker', keepThread)
  index = openIndexThread({
    path: indexFile(),
    origin: 'here',
    onCounts: () => undefined,
    onNotice: ({ message }) => notices.push(message),
    now: () => Date.now(),
  })
})
afterEach(async () => {
  process.off('worker', keepThread)
  await index.close()
  await dir.remove()
})

const indexFile = (): string => join(dir.path, 'home', 'index.db')
const pathOf = (name: string): string => join(dir.path, `${name}.jsonl`)
const taskOf = (name: string): IndexTask => ({
  path: pathOf(name),
  agent: 'claude',
  session: name,
  createdAt: '',
})
const said = (text: string): string => toJsonl([lines.reply([{ type: 'text', text }])])

function write(count: number): readonly IndexTask[] {
  const names = ['a', 'b', 'c']
  for (const name of names) {
    const all = Array.from({ length: count }, (_, n) => said(`common ${name}${n} ${'filler '.repeat(50)}`))
    writeFileSync(pathOf(name), all.join(''))
  }
  return names.map(taskOf)
}

const expectCount = (q: string, count: number): Promise<void> =>
  eventually(async () => {
    await index.settled()
    expect((await index.search({ q, limit: 1 })).total.count).toBe(count)
  })

test('[ING12] [S09] a thread that dies is begun again: it goes on, and who waits hears of each entry once', async () => {
  index.sync(write(3000))
  const heard: string[] = []
  await sleep(150)
  for (let round = 0; round < 3; round++) {
    await threads.at(-1)?.terminate()
    await sleep(50 * round)
  }
  await expectCount('common', 9000)
  expect(threads.length).toBe(4)
  // Once is no news to a person; twice is.
  expect(notices.every((notice) => notice.includes('started again'))).toBe(true)
  expect(notices).toHaveLength(2)

  let caughtUp = false
  index.watch('kumquat', {
    onHit: ({ snippet }) => heard.push(snippet.text.match(/kumquat \d+/)?.[0] ?? ''),
    onReset: () => heard.push('reset'),
    onCaughtUp: () => {
      caughtUp = true
    },
  })
  await eventually(async () => expect(caughtUp).toBe(true))
  for (let n = 0; n < 6; n++) {
    appendFileSync(pathOf('a'), said(`kumquat ${n}`))
    index.touch(taskOf('a'))
    if (n % 2 === 1) await threads.at(-1)?.terminate()
    else await eventually(async () => expect(heard.length).toBe(n + 1))
  }
  await eventually(async () => expect(heard.length).toBe(6))
  expect(heard).toEqual([0, 1, 2, 3, 4, 5].map((n) => `kumquat ${n}`))
})

test('[ING12] what was asked of a thread that died is refused with a hint, and asked again it is answered', async () => {
  index.sync(write(200))
  await expectCount('common', 600)
  const asked = [index.search({ q: 'common' }), index.usage({ by: 'day' })]
  await threads.at(-1)?.terminate()
  for (const each of await Promise.allSettled(asked)) {
    if (each.status === 'rejected')
      expect(each.reason).toMatchObject({ code: 'index-unavailable', hint: /./ })
  }
  await expectCount('common', 600)
  await expect(index.search({ q: 'x', cursor: 'nonsense' })).rejects.toMatchObject({
    code: 'request-invalid',
  })
})

test('[ING13] [FLT43] an index that somebody else holds is waited for and written when it is free', async () => {
  index.sync(write(200))
  await expectCount('common', 600)
  const Sqlite: typeof import('better-sqlite3') = createRequire(import.meta.url)('better-sqlite3')
  const other = new Sqlite(indexFile())
  other.exec('BEGIN EXCLUSIVE')
  appendFileSync(pathOf('a'), said('a kumquat'))
  index.touch(taskOf('a'))
  // Longer than SQLite itself waits.
  await sleep(process.env['RUNS'] === 'full' ? 12_000 : 6_500)
  other.exec('ROLLBACK')
  other.close()
  await expectCount('kumquat', 1)
  await expectCount('common', 600)
  expect(notices.length).toBeLessThanOrEqual(1)
  expect(threads.length).toBe(1)
  await index.close()
  const store = openSqliteStore({ path: indexFile() })
  expect(await store.verify()).toEqual([])
  await store.close()
})
