import {
  appendFileSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { eventually, mountSmallDisk, createLines, openTempDir, toJsonl, type TempDir } from '#testing'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openIndexCore, type IndexCoreOptions } from './index-core.ts'
import type { IndexTask } from './index-task.ts'
import type { SessionIndex } from './session-index.ts'

let dir: TempDir
let opened: SessionIndex[] = []
let notices: string[] = []
const lines = createLines()

beforeEach(async () => {
  dir = await openTempDir()
  opened = []
  notices = []
})
afterEach(async () => {
  for (const index of opened) await index.close()
  await dir.remove()
})

const pathOf = (name: string): string => join(dir.path, `${name}.jsonl`)
const taskOf = (name: string): IndexTask => ({
  path: pathOf(name),
  agent: 'claude',
  session: name,
  createdAt: '',
})
const said = (text: string): string => toJsonl([lines.reply([{ type: 'text', text }])])
const indexFile = (): string => join(dir.path, 'home', 'index.db')

function open(options: Partial<IndexCoreOptions> = {}): SessionIndex {
  const index = openIndexCore({
    path: indexFile(),
    origin: 'here',
    onCounts: () => undefined,
    onNotice: ({ message, hint }) => {
      expect(hint).not.toBe('')
      notices.push(message)
    },
    now: () => Date.now(),
    checkMs: 30,
    retryMs: 100,
    ...options,
  })
  opened.push(index)
  return index
}

/** Three sessions of some hundred lines. */
function write(): readonly IndexTask[] {
  const names = ['a', 'b', 'c']
  for (const name of names) {
    const all = Array.from({ length: 300 }, (_, n) => said(`common ${name}${n} ${'filler '.repeat(30)}`))
    writeFileSync(pathOf(name), all.join(''))
  }
  return names.map(taskOf)
}

async function countOf(index: SessionIndex, q: string): Promise<number> {
  await index.settled()
  return (await index.search({ q, limit: 1 })).total.count
}

test('[ING5] the last word on how far it is says that it is complete', async () => {
  for (let round = 0; round < 10; round++) {
    const told: string[] = []
    const index = open({ path: `${indexFile()}${round}`, onState: ({ state }) => told.push(state) })
    index.sync(write())
    await eventually(async () => expect(told.at(-1)).toBe('complete'))
    await index.close()
  }
})

test.each([
  ['the file alone', ['']],
  ['all of it', ['', '-wal', '-shm']],
])('[ING7] [D09] an index that is deleted while it is used comes back by itself: %s', async (_name, ends) => {
  const index = open()
  index.sync(write())
  expect(await countOf(index, 'common')).toBe(900)
  for (let round = 1; round <= 3; round++) {
    for (const end of ends) rmSync(`${indexFile()}${end}`, { force: true })
    await eventually(async () => {
      expect(notices).toHaveLength(round)
      expect(await countOf(index, 'common')).toBe(900)
    })
    appendFileSync(pathOf('a'), said(`kumquat${round}`))
    index.touch(taskOf('a'))
    expect(await countOf(index, `kumquat${round}`)).toBe(1)
    expect(await countOf(index, 'kumquat*')).toBe(round)
  }
  expect(notices[0]).toContain('deleted')
  await index.close()
  // What is on disk is whole: the next one takes it as it is.
  const next = open()
  next.sync(['a', 'b', 'c'].map(taskOf))
  expect(await countOf(next, 'common')).toBe(900)
  expect(notices).toHaveLength(3)
})

test('[ING7] deleted in the middle of a build it is built all the same', async () => {
  const tasks = write()
  for (let round = 0; round < 5; round++) {
    const index = open()
    index.sync(tasks)
    await sleep(round * 3)
    rmSync(indexFile(), { force: true })
    await eventually(async () => {
      expect(await countOf(index, 'common')).toBe(900)
      expect(existsSync(indexFile())).toBe(true)
    })
    await index.close()
  }
})

test('[ING8] [FLT44] a damaged index is set aside with a notice and built again', async () => {
  const tasks = write()
  mkdirSync(join(dir.path, 'home'))
  writeFileSync(indexFile(), 'no index at all '.repeat(1000))
  const index = open()
  index.sync(tasks)
  expect(await countOf(index, 'common')).toBe(900)
  expect(notices).toHaveLength(1)

  await index.close()

  // All pages but the first few: whatever it is asked next, it cannot go well.
  for (const kept of [4096, 32_768, 65_536]) {
    const { size } = statSync(indexFile())
    expect(size).toBeGreaterThan(kept)
    const fd = openSync(indexFile(), 'r+')
    writeSync(fd, Buffer.alloc(size - kept, 0x5a), 0, size - kept, kept)
    closeSync(fd)
    const before = notices.length
    const again = open()
    again.sync(tasks)
    await eventually(async () => {
      await countOf(again, 'filler').catch(() => undefined)
      expect(notices.length).toBeGreaterThan(before)
    })
    await eventually(async () => expect(await countOf(again, 'common')).toBe(900))
    await again.close()
  }
  expect(existsSync(`${indexFile()}.damaged`)).toBe(true)
  expect(notices.every((notice) => /built again/.test(notice))).toBe(true)
})

test('[ING9] a hit whose line is not what it was is left out, never shown wrong', async () => {
  const index = open()
  writeFileSync(pathOf('a'), said('the kumquat is ripe') + said('a kumquat too'))
  index.sync([taskOf('a')])
  expect((await index.search({ q: 'kumquat' })).hits).toHaveLength(0)
  expect(await countOf(index, 'kumquat')).toBe(2)
  const wrong = [
    said('a needle of the sea') + said('and another one'),
    said('short'),
    '',
    `${said('kumquat')}kumquat`,
  ]
  for (const text of wrong) {
    writeFileSync(pathOf('a'), text)
    for (const { snippet } of (await index.search({ q: 'kumquat' })).hits)
      expect(snippet.text).toContain('kumquat')
    // Whoever noticed that the file says something else has it read again.
    await eventually(async () => {
      await index.settled()
      const { hits, total } = await index.search({ q: 'kumquat' })
      expect(hits.length).toBe(total.count)
    })
  }
  rmSync(pathOf('a'))
  expect((await index.search({ q: 'kumquat' })).hits).toEqual([])
})

test('[ING10] who waits hears of each entry once, and of another index as a reset', async () => {
  const index = open()
  index.sync(write())
  await index.settled()
  const heard: string[] = []
  const resets: string[] = []
  let caughtUp = ''
  const watch = index.watch('kumquat', {
    onHit: ({ snippet }, cursor) => heard.push(`${snippet.text.match(/kumquat \d+/)?.[0]} ${cursor}`),
    onReset: (cursor) => resets.push(cursor),
    onCaughtUp: (cursor) => {
      caughtUp = cursor
    },
  })
  for (let n = 0; n < 5; n++) {
    appendFileSync(pathOf('a'), said(`kumquat ${n}`))
    index.touch(taskOf('a'))
    if (n % 2 === 0) await index.settled()
  }
  await eventually(async () => expect(heard).toHaveLength(5))
  const cursors = heard.map((line) => line.slice('kumquat 0 '.length))
  expect(heard.map((line) => line.slice(0, 9))).toEqual([0, 1, 2, 3, 4].map((n) => `kumquat ${n}`))
  watch.close()

  // From a cursor in the middle the rest is told, and nothing twice.
  const rest: string[] = []
  index.watch('kumquat', {
    cursor: cursors[2] ?? '',
    onHit: ({ snippet }) => rest.push(snippet.text),
    onReset: (cursor) => resets.push(cursor),
    onCaughtUp: (cursor) => {
      caughtUp = cursor
    },
  })
  await eventually(async () => expect(rest).toHaveLength(2))
  expect(caughtUp).toBe(cursors[4])
  expect(resets).toEqual([])
  rmSync(indexFile())
  await eventually(async () => expect(resets).toHaveLength(1))
  await eventually(async () => expect(await countOf(index, 'common')).toBe(900))
  appendFileSync(pathOf('a'), said('kumquat 5'))
  index.touch(taskOf('a'))
  await eventually(async () => expect(rest.at(-1)).toContain('kumquat 5'))
})

test('[ING11] [FLT7] on a full disk it says so once, and goes on when there is room', async ({ skip }) => {
  const disk = mountSmallDisk(join(dir.path, 'home'), 'size=256k')
  if (disk === undefined) return skip()
  try {
    const index = open()
    index.sync(write())
    await eventually(async () => expect(index.state()).toMatchObject({ state: 'failed' }))
    await sleep(500)
    expect(notices).toHaveLength(1)
    expect(notices[0]).toMatch(/full/)
    // It is tried again and again; in between there is nothing that could answer.
    await eventually(() =>
      expect(index.search({ q: 'common' })).rejects.toMatchObject({ code: 'index-unavailable' }),
    )
    disk.remount('size=64m')
    await eventually(async () => expect(await countOf(index, 'common')).toBe(900))
    expect(index.state()).toMatchObject({ state: 'complete' })
    await index.close()
  } finally {
    disk.remove()
  }
})
