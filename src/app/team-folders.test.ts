import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { SessionSummary } from '#model'
import { openTempDir, type TempDir } from '#testing'
import { realPathOf } from './config.ts'
import { createWorkdirsHere } from './team-folders.ts'

let dir: TempDir
beforeEach(async () => {
  dir = await openTempDir()
})
afterEach(() => dir.remove())

function clone(name: string, url: string): string {
  const folder = join(dir.path, name)
  mkdirSync(join(folder, '.git'), { recursive: true })
  writeFileSync(join(folder, '.git', 'config'), `[remote "origin"]\n\turl = ${url}\n`)
  return realPathOf(folder)
}

const session = (workdir: string): SessionSummary => ({
  id: workdir,
  agent: 'claude',
  path: workdir,
  size: 0,
  workdirs: [workdir],
  workdirsComplete: true,
  subagents: [],
  toolResults: [],
  archived: false,
  state: 'ok',
})

test('[TEA75] a folder over there is the one here that the map names, or the clone of its repository', () => {
  const shop = clone('shop', 'git@example.com:we/shop.git')
  const other = clone('other', 'https://example.com/we/other')
  let time = 1
  let sessions = [session(other)]
  const find = createWorkdirsHere({
    map: { '/srv/tea': '/home/ada/tea' },
    remoteOf: (workdir, origin) =>
      workdir === '/home/bob/shop' && origin === 'o-bob' ? 'example.com/we/shop' : undefined,
    sessions: () => sessions,
    now: () => time,
  })
  expect(find('/srv/tea/pots', 'o-bob')).toBe('/home/ada/tea/pots')
  expect(find('/home/bob/shop', 'o-bob')).toBeUndefined()
  sessions = [session(other), session(shop)]
  time += 61_000
  expect(find('/home/bob/shop', 'o-bob')).toBe(shop)
  expect(find('/home/bob/shop', 'o-eve')).toBeUndefined()
  expect(find('/nowhere', 'o-bob')).toBeUndefined()
})
