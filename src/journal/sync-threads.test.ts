import { execFile } from 'node:child_process'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { openTempDir } from '#testing'
import { createSyncThreads } from './sync-threads.ts'

test('[J18] files are synced beside each other, more of them than Node has threads for', async () => {
  const dir = await openTempDir()
  const file = await open(join(dir.path, 'f'), 'w')
  const sync = createSyncThreads({ own: 2, threads: 3, slowMs: 0 })
  let release = (): void => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  let here = 0
  const datasync = async (): Promise<void> => {
    here += 1
    await held
  }
  // As many as go Node's way do not end, and as many again wait; all the others are synced.
  const all = Array.from({ length: 20 }, async () => await sync.datasync({ fd: file.fd, datasync }))
  let done = 0
  for (const each of all) void each.then(() => (done += 1))
  await expect.poll(() => done).toBeGreaterThanOrEqual(16)
  expect(here).toBe(2)
  release()
  await Promise.all(all)
  await file.close()
  await dir.remove()
})

test('[J18] a sync that fails is told to whoever waits for it, and to nobody else', async () => {
  const dir = await openTempDir()
  const file = await open(join(dir.path, 'f'), 'w')
  const sync = createSyncThreads({ own: 1, threads: 1, slowMs: 0 })
  const datasync = async (): Promise<void> => await new Promise((resolve) => setTimeout(resolve, 300))
  const outcomes = await Promise.allSettled(
    Array.from(
      { length: 8 },
      async (_, n) => await sync.datasync({ fd: n % 2 === 0 ? 99_999 : file.fd, datasync }),
    ),
  )
  const failed = outcomes.flatMap((outcome, n) =>
    outcome.status === 'rejected' ? [[n, outcome.reason]] : [],
  )
  expect(failed.length).toBeGreaterThan(0)
  for (const [n, reason] of failed) expect([Number(n) % 2, reason]).toMatchObject([0, { code: 'EBADF' }])
  await file.close()
  await dir.remove()
})

test('[J18] [J1] many journals at once have every line, and nothing of them keeps the process alive', async () => {
  const dir = await openTempDir()
  const door = join(import.meta.dirname, '..', '..', 'dist', 'journal', 'index.js')
  const program = `
    import { openJournal, readJournal } from ${JSON.stringify(door)}
    const paths = Array.from({ length: 40 }, (_, n) => ${JSON.stringify(dir.path)} + '/' + n + '.jsonl')
    const journals = await Promise.all(paths.map(openJournal))
    await Promise.all(journals.map(async (journal) => { for (let n = 0; n < 10; n++) await journal.append({ n }) }))
    const counts = new Set()
    for (const path of paths) { let lines = 0; for await (const item of readJournal(path)) lines += item.kind === 'line' ? 1 : 100; counts.add(lines) }
    console.log([...counts].join())`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program])
  expect(stdout.trim()).toBe('10')
  await dir.remove()
})
