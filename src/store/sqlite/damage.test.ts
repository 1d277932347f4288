import {
  closeSync,
  existsSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { ThroughlineError } from '#base'
import { openTempDir, runs, type TempDir } from '#testing'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { toQuery } from '../query.ts'
import { isDamage, openSqliteStore, setAside, type SqliteStore } from './open.ts'
import type { Change } from '../store.ts'

let dir: TempDir
let path = ''
beforeEach(async () => {
  dir = await openTempDir()
  path = join(dir.path, 'home', 'index.db')
})
afterEach(() => dir.remove())

const FILL: readonly Change[] = Array.from({ length: 20 }, (_, n) => ({
  kind: 'advance',
  file: {
    path: `/p/${n}`,
    origin: 'here',
    agent: 'claude',
    session: `s${n}`,
    createdAt: '',
    workdirs: ['/w'],
    offset: 100,
    guard: 'g',
    seen: 's',
    fold: '{}',
  },
  anew: false,
  as: 'past',
  entries: Array.from({ length: 20 }, (_unused, m) => ({
    offset: m,
    length: 1,
    kind: 'prompt',
    speaker: 'human',
    isError: false,
    hasDirective: false,
    text: { said: `common word${n * 20 + m} lorem ipsum dolor ${'sit amet '.repeat(m)}`, tool: `tool${m}` },
  })),
  bills: [],
}))

/** Opens it, and says whether it had to be set aside. */
function open(): { readonly store: SqliteStore; readonly reasons: readonly string[] } {
  const reasons: string[] = []
  const store = openSqliteStore({ path, onSetAside: (reason) => reasons.push(reason), busyMs: 200 })
  return { store, reasons }
}

async function fill(): Promise<string> {
  const { store } = open()
  await store.apply(FILL)
  await store.close()
  return store.epoch
}

async function count(store: SqliteStore): Promise<number> {
  return (await store.search({ query: toQuery('common', 0), limit: 1 })).total.count
}

test('[STO13] the folder is made for its owner alone, and so is every file', async () => {
  const { store } = open()
  await store.apply(FILL)
  expect(statSync(join(dir.path, 'home')).mode & 0o777).toBe(0o700)
  for (const end of ['', '-wal', '-shm']) expect(statSync(`${path}${end}`).mode & 0o777).toBe(0o600)
  await store.close()
})

test('[STO14] [FLT44] garbage, a cut file and an index of another version are set aside and begun anew', async () => {
  await fill()
  const sound = readFileSync(path)
  const wrong: readonly (readonly [name: string, bytes: Uint8Array])[] = [
    ['garbage', Buffer.from('this is no database, but it is long enough to be one. '.repeat(400))],
    ['another version', withVersion(sound, 99)],
    ['only the header', sound.subarray(0, 100)],
    ['one page', sound.subarray(0, 4096)],
  ]
  for (const [name, bytes] of wrong) {
    writeFileSync(path, bytes)
    const { store, reasons } = open()
    expect([name, reasons.length]).toEqual([name, 1])
    expect(await store.files()).toEqual([])
    await store.apply(FILL)
    expect(await count(store)).toBe(400)
    expect(await store.verify()).toEqual([])
    await store.close()
    expect(readFileSync(`${path}.damaged`)).toEqual(Buffer.from(bytes))
  }
})

test('[STO14] [FLT44] an empty file is a new index, and what stands beside it from an old one does no harm', async () => {
  const epoch = await fill()
  const { store: writing } = open()
  await writing.apply([{ kind: 'forget', path: '/p/0' }])
  const [wal, shm] = [readFileSync(`${path}-wal`), readFileSync(`${path}-shm`)]
  await writing.close()
  const sound = readFileSync(path)

  writeFileSync(path, '')
  writeFileSync(`${path}-wal`, wal)
  writeFileSync(`${path}-shm`, shm)
  const fresh = open()
  expect(fresh.store.epoch).not.toBe(epoch)
  expect(await fresh.store.files()).toEqual([])
  await fresh.store.close()

  // A -shm of nobody, and no -wal: the file itself is whole.
  writeFileSync(path, sound)
  writeFileSync(`${path}-shm`, shm)
  rmSync(`${path}-wal`, { force: true })
  const whole = open()
  expect(whole.reasons).toEqual([])
  expect(whole.store.epoch).toBe(epoch)
  expect(await count(whole.store)).toBe(380)
  expect(await whole.store.verify()).toEqual([])
  await whole.store.close()
})

test('[STO14] [FLT44] a byte that is another one is noticed or harmless: nothing throws but what says so', async () => {
  await fill()
  const sound = readFileSync(path)
  await fc.assert(
    fc.asyncProperty(fc.nat(sound.length - 1), fc.integer({ min: 1, max: 255 }), async (at, by) => {
      for (const end of ['-wal', '-shm', '.damaged', '.damaged-wal', '.damaged-shm'])
        rmSync(`${path}${end}`, { force: true })
      writeFileSync(path, sound)
      const fd = openSync(path, 'r+')
      writeSync(fd, Buffer.from([(sound[at] ?? 0) ^ by]), 0, 1, at)
      closeSync(fd)
      const { store, reasons } = open()
      try {
        await count(store)
        await store.files()
        await store.apply([FILL[0] ?? { kind: 'forget', path: '' }, { kind: 'forget', path: '/p/3' }])
        await store.verify()
        if (reasons.length > 0) expect(existsSync(`${path}.damaged`)).toBe(true)
      } catch (error) {
        expect([isDamage(error) || error instanceof ThroughlineError, String(error)]).toEqual([
          true,
          String(error),
        ])
      } finally {
        await store.close()
      }
    }),
    // Pages that point beyond the end of the file or to the wrong place; other words where tables are described.
    {
      ...runs(150),
      examples: [
        [8093, 3],
        [8095, 1],
      ],
    },
  )
})

test('[STO14] a later damaged index takes the place of the one that was kept', async () => {
  await fill()
  writeFileSync(`${path}-wal`, 'old')
  expect(setAside(path)).toBe(`${path}.damaged`)
  expect(existsSync(`${path}.damaged-wal`)).toBe(true)
  await fill()
  setAside(path)
  expect(existsSync(`${path}.damaged-wal`)).toBe(false)
  expect(existsSync(path)).toBe(false)
})

test('[STO15] it knows when its file was deleted or replaced', async () => {
  const { store } = open()
  expect(store.isInPlace()).toBe(true)
  rmSync(path)
  expect(store.isInPlace()).toBe(false)
  writeFileSync(path, '')
  expect(store.isInPlace()).toBe(false)
  await store.close()
})

test('[STO14] a folder that cannot be written is told with what to do, and nothing is set aside', async () => {
  await fill()
  truncateSync(path, 0)
  rmSync(path)
  const inTheWay = join(dir.path, 'file')
  writeFileSync(inTheWay, '')
  expect(() => openSqliteStore({ path: join(dir.path, 'home') })).toThrow(
    expect.objectContaining({ code: 'index-unavailable', hint: expect.stringMatching(/./) }),
  )
  expect(() => openSqliteStore({ path: join(inTheWay, 'index.db') })).toThrow(
    expect.objectContaining({ code: 'index-unavailable' }),
  )
})

function withVersion(bytes: Uint8Array, version: number): Uint8Array {
  const copy = Buffer.from(bytes)
  copy.writeUInt32BE(version, 60)
  return copy
}
