import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTempDir, type TempDir } from '#testing'
import { findRemote, toRemote } from './git-remote.ts'

let dir: TempDir
beforeAll(async () => {
  dir = await openTempDir()
})
afterAll(() => dir?.remove())

function put(path: string, text: string): string {
  const full = join(dir.path, path)
  mkdirSync(dirname(full), { recursive: true })
  writeFileSync(full, text)
  return full
}

test.each([
  'git@example.test:team/shop.git',
  'ssh://git@example.test:2222/team/shop.git',
  'https://example.test/team/shop',
  'https://user:token@Example.test/team/shop.git/',
  'git://example.test/team/shop.git?x=1',
])('[TEA42] %s is one repository', (url) => {
  expect(toRemote(url)).toBe('example.test/team/shop')
})

test.each(['/srv/git/shop.git', '../shop', 'file:///srv/shop', 'C:\\shop', ''])(
  '[TEA42] %s is on one machine and nowhere else',
  (url) => {
    expect(toRemote(url)).toBeUndefined()
  },
)

test('[TEA42] the repository of a folder is that of the clone it is in, also from a worktree', () => {
  const config =
    '[core]\n\tbare = false\n[remote "up"]\n\turl = git@example.test:up/shop\n[remote "origin"]\n\turl = https://u:p@example.test/team/shop.git\n'
  put('main/.git/config', config)
  put('main/.git/worktrees/side/commondir', '../..\n')
  put('side/.git', `gitdir: ${join(dir.path, 'main/.git/worktrees/side')}\n`)
  put('main/deep/down/file', '')
  put('none/file', '')
  expect(findRemote(join(dir.path, 'main'))).toBe('example.test/team/shop')
  expect(findRemote(join(dir.path, 'main/deep/down'))).toBe('example.test/team/shop')
  expect(findRemote(join(dir.path, 'side'))).toBe('example.test/team/shop')
  expect(findRemote(join(dir.path, 'none'))).toBeUndefined()
  expect(findRemote(join(dir.path, 'not-there'))).toBeUndefined()
})
