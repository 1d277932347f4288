import { appendFile, mkdir, readFile, rename, stat, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openTempDir, runs } from '#testing'
import type { TempDir } from '#testing'
import { createTrust } from './folder-trust.ts'

let dir: TempDir
let home: string
let workdir: string
beforeEach(async () => {
  dir = await openTempDir()
  home = join(dir.path, 'home')
  workdir = join(dir.path, 'work')
  await mkdir(workdir)
})
afterEach(() => dir.remove())

const open = () => createTrust({ home, now: () => 0 })

describe('[TRU4] a folder', () => {
  test('is trusted as it was shown, and asked about again when it is another', async () => {
    const trust = open()
    expect(await trust.find(workdir, 'one')).toBe('unknown')
    await trust.trust(workdir, 'one', 'laptop')
    expect(await open().find(workdir, 'one')).toBe('trusted')
    expect(await trust.find(workdir, 'two')).toBe('changed')
    expect(await trust.find(join(workdir, '..'), 'one')).toBe('unknown')
    await mkdir(join(workdir, 'below'))
    expect(await trust.find(join(workdir, 'below'), 'one')).toBe('unknown')
    await trust.trust(workdir, 'two', 'laptop')
    expect(await trust.find(workdir, 'one')).toBe('changed')
    await trust.revoke(workdir, 'phone')
    expect(await trust.find(workdir, 'two')).toBe('unknown')
    expect(await trust.list()).toMatchObject([{ workdir, hash: 'two', by: 'phone', trusted: false }])
    expect((await stat(join(home, 'trust.jsonl'))).mode & 0o777).toBe(0o600)
  })

  test('is the same by whatever name it is reached, and none when it is not there', async () => {
    const trust = open()
    const name = join(dir.path, 'name')
    await symlink(workdir, name)
    await trust.trust(name, 'one', 'me')
    expect(await trust.find(`${workdir}/../work/`, 'one')).toBe('trusted')
    await rename(workdir, `${workdir}2`)
    expect(await trust.find(workdir, 'one')).toBe('unknown')
    await expect(trust.trust(workdir, 'one', 'me')).rejects.toMatchObject({ code: 'folder-not-found' })
    await trust.revoke(workdir, 'me')
    expect(await trust.list()).toMatchObject([{ trusted: false }])
  })
})

describe('[TRU5] the decisions', () => {
  test('of several processes are all kept, the last counts, and what is not clearly one is none', async () => {
    const folders = await Promise.all(
      Array.from({ length: 8 }, async (_, n) => {
        const path = join(dir.path, `f${n}`)
        await mkdir(path)
        return path
      }),
    )
    await Promise.all(folders.map((folder) => open().trust(folder, 'h', 'me')))
    expect(await open().list()).toHaveLength(8)
    const path = join(home, 'trust.jsonl')
    const first = folders[0] ?? ''
    await open().revoke(first, 'me')
    const lines = [
      'no json',
      '[]',
      JSON.stringify({ workdir: first, hash: 'h', trusted: 'true' }),
      JSON.stringify({ workdir: first, trusted: true }),
    ]
    await appendFile(path, lines.map((line) => `${line}\n`).join(''))
    // Half a line is not a decision yet.
    await appendFile(path, JSON.stringify({ workdir: first, hash: 'h', trusted: true }))
    expect(await open().find(first, 'h')).toBe('unknown')
    await open().trust(first, 'h', 'me')
    expect(await open().find(first, 'h')).toBe('trusted')
    expect((await readFile(path, 'utf8')).endsWith('\n')).toBe(true)
  })

  test('give the state that the last one says, whatever was decided before', async () => {
    const step = fc.record({ hash: fc.constantFrom('a', 'b'), trusted: fc.boolean() })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 4 }), async (steps) => {
        const trust = open()
        for (const { hash, trusted } of steps)
          await (trusted ? trust.trust(workdir, hash, 'me') : trust.revoke(workdir, 'me'))
        const last = steps.at(-1)
        for (const hash of ['a', 'b']) {
          const expected = last?.trusted !== true ? 'unknown' : last.hash === hash ? 'trusted' : 'changed'
          expect(await trust.find(workdir, hash)).toBe(expected)
        }
      }),
      runs(15),
    )
  })
})
