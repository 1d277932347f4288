import { mkdir, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openJournal } from './journal.ts'

let home: string

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'journal-'))
})
afterAll(async () => {
  await rm(home, { recursive: true, force: true })
})

async function tempFile(): Promise<string> {
  return join(await mkdtemp(join(home, 'lock-')), 'j.jsonl')
}

async function values(path: string): Promise<unknown[]> {
  const lines = (await readFile(path, 'utf8')).trimEnd().split('\n')
  return lines.map((line): unknown => JSON.parse(line))
}

async function reopen(path: string, appended: unknown): Promise<void> {
  const journal = await openJournal(path)
  await journal.append(appended)
  await journal.close()
}

test('[J4] a second open in the same process is refused with the pid, and the first goes on', async () => {
  const path = await tempFile()
  const journal = await openJournal(path)
  await expect(openJournal(path)).rejects.toMatchObject({
    code: 'journal-locked',
    message: expect.stringContaining(`process ${process.pid}`),
  })
  await journal.append(1)
  await journal.close()
  await reopen(path, 2)
  expect(await values(path)).toEqual([1, 2])
  expect(await readdir(join(path, '..'))).toEqual(['j.jsonl'])
})

test('[J4] a symbolic link leads to the same lock', async () => {
  const path = await tempFile()
  await symlink(path, `${path}.link`)
  await symlink(join(path, '..'), `${join(path, '..')}-link`)
  await reopen(path, 1)
  const journal = await openJournal(`${path}.link`)
  await expect(openJournal(path)).rejects.toMatchObject({ code: 'journal-locked' })
  await expect(openJournal(join(`${join(path, '..')}-link`, 'j.jsonl'))).rejects.toMatchObject({
    code: 'journal-locked',
  })
  await journal.append(2)
  await journal.close()
  expect(await values(path)).toEqual([1, 2])
})

test('[J4] of many opens at once exactly one succeeds', async () => {
  const path = await tempFile()
  for (let round = 0; round < 5; round++) {
    const opens = await Promise.allSettled(Array.from({ length: 12 }, async () => await openJournal(path)))
    const [journal, ...more] = opens.flatMap((open) => (open.status === 'fulfilled' ? [open.value] : []))
    expect(more).toEqual([])
    await journal?.append(round)
    await journal?.close()
  }
  expect(await values(path)).toEqual([0, 1, 2, 3, 4])
})

test('[J4] a path too long for the address of a socket is locked all the same', async () => {
  const folder = join(home, 'long'.repeat(30), 'longer'.repeat(30))
  const path = join(folder, 'j.jsonl')
  const journal = await openJournal(path)
  await expect(openJournal(path)).rejects.toMatchObject({ code: 'journal-locked' })
  await journal.close()
  await reopen(path, 1)
  expect(await readdir(folder)).toEqual(['j.jsonl'])
})

test('[J4] a refused open leaves the lock free when the journal could not be opened', async () => {
  const path = await tempFile()
  await mkdir(path)
  await expect(openJournal(path)).rejects.toMatchObject({ code: 'journal-unwritable' })
  await rm(path, { recursive: true })
  await reopen(path, 1)
  expect(await values(path)).toEqual([1])
})
