import { mkdirSync, rmSync } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { openTempDir, type TempDir } from '#testing'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openDaemon, type RunningDaemon } from './open-daemon.ts'

let dir: TempDir
let home: string
const logged: string[] = []
beforeEach(async () => {
  dir = await openTempDir()
  home = join(dir.path, 'home')
  logged.length = 0
})
afterEach(() => dir.remove())

async function open(): Promise<RunningDaemon> {
  return await openDaemon({
    home,
    open: { env: {}, config: { claudeDir: join(dir.path, 'claude') }, index: false },
    port: 0,
    now: Date.now,
    version: 'test',
    log: (level, event) => logged.push(`${level} ${event}`),
  })
}

test('[SRV16] a daemon that cannot write its last word stops all the same, and says so', async () => {
  const daemon = await open()
  // In the way of every user, also of one who may do everything: a name that is taken by a folder.
  const file = join(home, 'daemon.json')
  rmSync(file)
  mkdirSync(join(file, 'in-the-way'), { recursive: true })
  await daemon.close()
  expect(await daemon.stopped).toBe('closed')
  expect(logged).toContain('error daemon.stop-failed')
  expect(await readFile(join(home, 'logs', 'daemon.jsonl'), 'utf8')).toMatch(
    /"event":"daemon\.stop-failed".*"code":"journal-unwritable"/,
  )
  await rm(file, { recursive: true })
  const next = await open()
  await next.close()
  expect(logged.filter((line) => line.startsWith('error'))).toHaveLength(1)
})
