import { mkdir, mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openJournal } from './journal.ts'
import { MAX_LINE_BYTES } from './line.ts'

let home: string
let made = 0

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'journal-'))
})
afterAll(async () => {
  await rm(home, { recursive: true, force: true })
})

async function tempFile(): Promise<string> {
  const folder = join(home, String(made++))
  await mkdir(folder)
  return join(folder, 'j.jsonl')
}

/** The values of all lines; throws when one does not parse, and when the last one has no newline. */
async function values(path: string): Promise<unknown[]> {
  const lines = (await readFile(path, 'utf8')).split('\n')
  expect(lines.pop()).toBe('')
  return lines.map((line): unknown => JSON.parse(line))
}

function whole(bytes: Buffer): unknown[] {
  const text = bytes.toString('utf8')
  return text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split('\n')
    .slice(0, -1)
    .map((line): unknown => JSON.parse(line))
}

async function sideFiles(path: string): Promise<Map<string, Buffer>> {
  const names = (await readdir(join(path, '..'))).filter((name) => name.includes('.torn-')).toSorted()
  const found = new Map<string, Buffer>()
  for (const name of names) found.set(name, await readFile(join(path, '..', name)))
  return found
}

async function reopen(path: string, ...appended: readonly unknown[]): Promise<void> {
  const journal = await openJournal(path)
  try {
    for (const value of appended) await journal.append(value)
  } finally {
    await journal.close()
  }
}

describe('appending', () => {
  test('[J1] [J2] lines lie in the order of the calls, at the places their appends resolved with', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.jsonValue({ noUnicodeString: false }), { maxLength: 12 }),
        async (given) => {
          const path = await tempFile()
          const journal = await openJournal(path)
          const places = await Promise.all(given.map(async (value) => await journal.append({ value })))
          await journal.close()

          const bytes = await readFile(path)
          const found = places.map(({ offset, length }) =>
            bytes.subarray(offset, offset + length).toString('utf8'),
          )
          expect(found).toEqual(given.map((value) => JSON.stringify({ value })))
          expect(bytes.toString('utf8')).toBe(found.map((line) => `${line}\n`).join(''))
        },
      ),
      { numRuns: 50 },
    )
  })

  test('[J1] places go on where an earlier writer stopped', async () => {
    const path = await tempFile()
    await reopen(path, 'first')
    const journal = await openJournal(path)
    expect(await journal.append('second')).toEqual({ offset: 8, length: 8 })
    await journal.close()
  })

  test('[J9] a value without a JSON form rejects alone, and nothing of it is written', async () => {
    const path = await tempFile()
    const cycle: Record<string, unknown> = {}
    cycle['self'] = cycle
    const bad: readonly unknown[] = [
      undefined,
      () => 1,
      Symbol('s'),
      1n,
      { n: 1n },
      cycle,
      { toJSON: () => undefined },
    ]

    const journal = await openJournal(path)
    const settled = await Promise.allSettled([1, ...bad, 2].map(async (value) => await journal.append(value)))
    await journal.close()

    expect(settled.map(({ status }) => status)).toEqual([
      'fulfilled',
      ...bad.map(() => 'rejected'),
      'fulfilled',
    ])
    expect(settled[1]).toMatchObject({
      reason: { code: 'journal-unwritable', message: expect.stringContaining('undefined') },
    })
    expect(await values(path)).toEqual([1, 2])
  })

  test('[J9] a line of the greatest length is taken, a longer one is refused', async () => {
    const path = await tempFile()
    const journal = await openJournal(path)
    await expect(journal.append('x'.repeat(MAX_LINE_BYTES - 1))).rejects.toMatchObject({
      code: 'journal-unwritable',
    })
    expect(await journal.append('x'.repeat(MAX_LINE_BYTES - 2))).toEqual({
      offset: 0,
      length: MAX_LINE_BYTES,
    })
    await journal.close()
    await reopen(path)
    expect((await stat(path)).size).toBe(MAX_LINE_BYTES + 1)
  })

  test('[J10] no value puts a line break into its line', async () => {
    const breaks = fc.string({
      unit: fc.constantFrom('\n', '\r', '\u2028', '\u2029', '\u0085', '\ud800', '\0', '"'),
    })
    await fc.assert(
      fc.asyncProperty(breaks, async (text) => {
        const path = await tempFile()
        await reopen(path, { [text]: text })
        const written = await readFile(path, 'utf8')
        expect(written.split(/[\n\r\u2028\u2029]/u)).toHaveLength(2)
        expect(JSON.parse(written)).toEqual({ [text]: text })
      }),
      { numRuns: 50 },
    )
  })

  test('[J12] a new journal is 0600, and every folder made for it is 0700', async () => {
    const folder = join(home, 'new', 'and', 'deep')
    await reopen(join(folder, 'j.jsonl'), 1)
    const modes = await Promise.all(
      [join(home, 'new'), folder, join(folder, 'j.jsonl')].map(
        async (path) => (await stat(path)).mode & 0o777,
      ),
    )
    expect(modes).toEqual([0o700, 0o700, 0o600])
  })

  test('[J13] close waits for the appends under way; a later append rejects', async () => {
    const path = await tempFile()
    const journal = await openJournal(path)
    const under = [1, 2, 3].map(async (value) => await journal.append(value))
    const closed = Promise.all([journal.close(), journal.close()])
    await expect(journal.append(4)).rejects.toMatchObject({ code: 'journal-closed' })
    await closed
    await Promise.all(under)
    expect(await values(path)).toEqual([1, 2, 3])
  })

  test('[J6] [T11] a journal that cannot be opened is not opened in silence', async () => {
    const path = await tempFile()
    await mkdir(path)
    await expect(openJournal(path)).rejects.toMatchObject({ code: 'journal-unwritable' })
    await expect(openJournal(join(home, 'no\0name'))).rejects.toMatchObject({ code: 'journal-unwritable' })
  })
})

describe('a torn tail', () => {
  test('[J3] cut anywhere, a reopened journal keeps every whole line and takes new ones', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.jsonValue(), { minLength: 1, maxLength: 8 }),
        fc.nat(),
        async (given, cut) => {
          const path = await tempFile()
          const bytes = Buffer.from(given.map((v) => `${JSON.stringify({ v })}\n`).join(''))
          await writeFile(path, bytes)
          await truncate(path, cut % (bytes.length + 1))
          const left = await readFile(path)
          const survivors = whole(left)
          const end = left.lastIndexOf('\n') + 1

          await reopen(path, { v: 'after' })

          expect(await values(path)).toEqual([...survivors, { v: 'after' }])
          expect([...(await sideFiles(path))]).toEqual(
            end < left.length ? [[`j.jsonl.torn-${end}`, left.subarray(end)]] : [],
          )
        },
      ),
      { numRuns: 100 },
    )
  })

  test('[J3] at every byte of the last line', async () => {
    const path = await tempFile()
    const first = `${JSON.stringify({ v: 'first' })}\n`
    const last = Buffer.from(`${JSON.stringify({ v: 'ü€😀' })}\n`)
    for (let cut = 0; cut < last.length; cut++) {
      await writeFile(path, Buffer.concat([Buffer.from(first), last.subarray(0, cut)]))
      await reopen(path, { v: cut })
      expect(await values(path)).toEqual([{ v: 'first' }, { v: cut }])
    }
  })

  test('[J3] any bytes behind the last line are set aside, whole lines among them are kept', async () => {
    const scraps = fc.oneof(
      fc.uint8Array({ maxLength: 40 }),
      fc
        .constantFrom('\n', '\n\n', '{"v":1}\n', '{"v":', '\0\0\0\0', '\0\0\n', '﻿{}\n', '"\ud800"\n')
        .map((text) => Buffer.from(text)),
      fc.integer({ min: 1, max: 200_000 }).map((length) => Buffer.alloc(length)),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(scraps, { maxLength: 6 }), async (pieces) => {
        const path = await tempFile()
        const tail = Buffer.concat(pieces)
        await writeFile(path, Buffer.concat([Buffer.from('{"v":"good"}\n'), tail]))

        await reopen(path)

        const kept = await readFile(path)
        const aside = [...(await sideFiles(path)).values()]
        const all = Buffer.concat([kept, ...aside])
        expect(all.equals(Buffer.concat([Buffer.from('{"v":"good"}\n'), tail]))).toBe(true)
        const last = kept.subarray(0, -1).lastIndexOf('\n') + 1
        expect(() => void JSON.parse(kept.subarray(last).toString('utf8'))).not.toThrow()
        expect(kept.at(-1)).toBe(0x0a)

        await reopen(path, { v: 'after' })
        expect((await readFile(path)).equals(Buffer.concat([kept, Buffer.from('{"v":"after"}\n')]))).toBe(
          true,
        )
      }),
      { numRuns: 100 },
    )
  })

  test('[J3] a last line of zeroes that kept its newline is set aside', async () => {
    const path = await tempFile()
    await writeFile(
      path,
      Buffer.concat([Buffer.from('1\n2\n'), Buffer.alloc(5000), Buffer.from('\n\n{"a":\n')]),
    )
    await reopen(path, 3)
    expect(await values(path)).toEqual([1, 2, 3])
    expect((await sideFiles(path)).get('j.jsonl.torn-4')).toHaveLength(5000 + 8)
  })

  test('[J3] a damaged line with a good one behind it stays where it is', async () => {
    const path = await tempFile()
    await writeFile(path, '1\n{"torn\n2\n')
    await reopen(path, 3)
    expect(await readFile(path, 'utf8')).toBe('1\n{"torn\n2\n3\n')
    expect(await sideFiles(path)).toEqual(new Map())
  })

  test('[J3] a tail longer than any line is set aside in full', async () => {
    const path = await tempFile()
    const tail = Buffer.alloc(MAX_LINE_BYTES + 70_001, 'x')
    tail[tail.length - 1] = 0x0a
    await writeFile(path, Buffer.concat([Buffer.from('1\n'), tail]))
    await reopen(path, 2)
    expect(await values(path)).toEqual([1, 2])
    const [aside] = (await sideFiles(path)).values()
    expect(aside?.equals(tail)).toBe(true)
  })

  test('[J3] the side file is 0600', async () => {
    const path = await tempFile()
    await writeFile(path, '1\n{"tor')
    await reopen(path)
    expect((await stat(`${path}.torn-2`)).mode & 0o777).toBe(0o600)
  })

  test('[J11] a side file with other bytes is left alone, one with the same bytes is not made twice', async () => {
    const path = await tempFile()
    for (const tail of ['{"one', '{"two', '{"one', '{"two', '{"six']) {
      await writeFile(path, `1\n${tail}`)
      await reopen(path)
    }
    expect([...(await sideFiles(path))].map(([name, bytes]) => [name, bytes.toString('utf8')])).toEqual([
      ['j.jsonl.torn-2', '{"one'],
      ['j.jsonl.torn-2-2', '{"two'],
      ['j.jsonl.torn-2-3', '{"six'],
    ])
  })
})
