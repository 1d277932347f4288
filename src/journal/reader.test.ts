import { appendFile, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { field } from '#base'
import { openJournal } from './journal.ts'
import { MAX_LINE_BYTES } from './line.ts'
import { readJournal } from './reader.ts'
import type { JournalItem } from './reader.ts'
import { replaceFile } from './replace-file.ts'

let home: string
let made = 0

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'journal-'))
})
afterAll(async () => {
  await rm(home, { recursive: true, force: true })
})

function tempPath(): string {
  return join(home, `${made++}.jsonl`)
}

async function items(path: string): Promise<JournalItem[]> {
  const found: JournalItem[] = []
  for await (const item of readJournal(path)) found.push(item)
  return found
}

test('[J14] what was appended is read, at the places the appends gave', async () => {
  const path = tempPath()
  const given = [null, 'ü€😀\ud800', { text: 'x'.repeat(700_000) }, [], 0.5]
  const journal = await openJournal(path)
  const places = await Promise.all(given.map(async (value) => await journal.append(value)))
  await journal.close()
  expect(await items(path)).toEqual(given.map((value, i) => ({ kind: 'line', value, place: places[i] })))
})

test('[J14] damage is reported with its place and its reason, and reading goes on behind it', async () => {
  const path = tempPath()
  await writeFile(
    path,
    Buffer.concat([
      Buffer.from('1\n\n{"a\n'),
      Buffer.from([0x22, 0xff, 0x22]),
      Buffer.from('\n\0\0\n﻿1\n2\n'),
    ]),
  )
  expect(await items(path)).toEqual([
    { kind: 'line', value: 1, place: { offset: 0, length: 1 } },
    { kind: 'damage', reason: 'not-json', place: { offset: 2, length: 0 } },
    { kind: 'damage', reason: 'not-json', place: { offset: 3, length: 3 } },
    { kind: 'damage', reason: 'not-utf8', place: { offset: 7, length: 3 } },
    { kind: 'damage', reason: 'not-json', place: { offset: 11, length: 2 } },
    { kind: 'damage', reason: 'not-json', place: { offset: 14, length: 4 } },
    { kind: 'line', value: 2, place: { offset: 19, length: 1 } },
  ])
})

test('[J14] whatever the bytes, every one of them up to the last newline is in a line, in damage, or a newline', async () => {
  const scraps = fc.oneof(
    fc.uint8Array({ maxLength: 30 }),
    fc.constantFrom('\n', '{"v":1}\n', '\0', '"€').map((text) => Buffer.from(text)),
    fc.integer({ min: 1, max: 600_000 }).map((length) => Buffer.alloc(length, '1')),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(scraps, { maxLength: 10 }), async (pieces) => {
      const path = tempPath()
      const bytes = Buffer.concat(pieces)
      await writeFile(path, bytes)
      let next = 0
      for (const { place } of await items(path)) {
        expect(place.offset).toBe(next)
        next = place.offset + place.length + 1
        expect(bytes[next - 1]).toBe(0x0a)
        expect(bytes.subarray(place.offset, next - 1).includes(0x0a)).toBe(false)
      }
      expect(next).toBe(bytes.lastIndexOf(0x0a) + 1)
    }),
    { numRuns: 50 },
  )
})

test('[J14] a line that is too long is passed over', async () => {
  const path = tempPath()
  await writeFile(path, Buffer.alloc(MAX_LINE_BYTES + 1, '1'))
  await appendFile(path, '\n2\n')
  expect(await items(path)).toEqual([
    { kind: 'damage', reason: 'too-long', place: { offset: 0, length: MAX_LINE_BYTES + 1 } },
    { kind: 'line', value: 2, place: { offset: MAX_LINE_BYTES + 2, length: 1 } },
  ])
})

test('[J15] a tail without its newline is held back, beside a writer, and nothing is changed', async () => {
  const path = tempPath()
  const journal = await openJournal(path)
  await journal.append(1)
  await appendFile(path, '{"on its w')
  expect(await items(path)).toEqual([{ kind: 'line', value: 1, place: { offset: 0, length: 1 } }])
  expect(await readFile(path, 'utf8')).toBe('1\n{"on its w')
  await journal.close()
})

test('[J15] beside a writer at work, every reading is a beginning of the journal without damage', async () => {
  const path = tempPath()
  const journal = await openJournal(path)
  const writing = Promise.all(
    Array.from(
      { length: 60 },
      async (_, n) => await journal.append({ n, text: 'x'.repeat((n % 4) * 200_000) }),
    ),
  )
  let before = 0
  while (before < 60) {
    const read = await items(path)
    expect(read.map((item) => (item.kind === 'line' ? field(item.value, 'n') : item))).toEqual([
      ...read.keys(),
    ])
    expect(read.length).toBeGreaterThanOrEqual(before)
    before = read.length
  }
  await writing
  await journal.close()
})

test('[J15] a journal that is not there has no lines', async () => {
  expect(await items(tempPath())).toEqual([])
})

test('[J16] a file is replaced as a whole, is 0600, and leaves no other file behind', async () => {
  const path = join(await mkdtemp(join(home, 'replace-')), 'file')
  await writeFile(path, 'old and longer', { mode: 0o644 })
  await replaceFile(path, 'new')
  expect(await readFile(path, 'utf8')).toBe('new')
  await replaceFile(path, Buffer.from([0, 255]))
  expect(await readFile(path)).toEqual(Buffer.from([0, 255]))
  expect((await stat(path)).mode & 0o777).toBe(0o600)
  expect(await readdir(join(path, '..'))).toEqual(['file'])
})

test('[J16] [T11] a file that cannot be replaced stays as it was, and the caller is told', async () => {
  const folder = await mkdtemp(join(home, 'replace-'))
  await writeFile(join(folder, 'inner'), 'old')
  await expect(replaceFile(folder, 'new')).rejects.toMatchObject({ code: 'journal-unwritable' })
  await expect(replaceFile(join(folder, 'not', 'there'), 'new')).rejects.toMatchObject({
    code: 'journal-unwritable',
  })
  expect(await readFile(join(folder, 'inner'), 'utf8')).toBe('old')
  expect((await readdir(home)).filter((name) => name.endsWith('.tmp'))).toEqual([])
})
