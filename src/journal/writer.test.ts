import { statSync } from 'node:fs'
import { mkdtemp, open, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { field } from '#base'
import type { JournalFile } from './file.ts'
import type { Place } from '#model'
import { journalOn } from './writer.ts'
import type { Journal } from './writer.ts'

let home: string
let made = 0

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'journal-'))
})
afterAll(async () => {
  await rm(home, { recursive: true, force: true })
})

type Operation = 'open' | 'write' | 'sync' | 'truncate'
/** `short`: half of the write arrives, the rest is refused. `lost`: the failed sync leaves zeroes behind. */
type Fault = 'refused' | 'short' | 'lost'

/** A real file on a disk that fails as planned, and that keeps account of what was synced. */
function failingDisk(path: string, plan: (operation: Operation, n: number) => Fault | undefined) {
  const disk = {
    operations: [] as Operation[],
    /** Everything before is on disk, come what may. */
    synced: statSync(path).size,
    syncsAfterFailure: 0,
    isDead: false,
    async open(): Promise<JournalFile> {
      const fault = next('open')
      if (fault) throw failure('EIO')
      const handle = await open(path, 'a+')
      let hasFailed = false
      let isFull = false
      return {
        read: (buffer, offset, length, position) => handle.read(buffer, offset, length, position),
        stat: () => handle.stat(),
        close: () => handle.close(),
        async write(buffer, offset, length) {
          const planned = next('write')
          if (planned === 'refused' || isFull) {
            isFull = false
            throw failure('ENOSPC')
          }
          isFull = planned === 'short'
          return await handle.write(buffer, offset, planned === 'short' ? length >> 1 || length : length)
        },
        async truncate(length) {
          if (next('truncate')) throw failure('EIO')
          await handle.truncate(length)
          disk.synced = Math.min(disk.synced, length)
        },
        async datasync() {
          if (hasFailed) disk.syncsAfterFailure++
          const planned = next('sync')
          const { size } = await handle.stat()
          if (planned) {
            hasFailed = true
            if (planned === 'lost' && size > disk.synced) await zero(path, disk.synced, size)
            throw failure('EIO')
          }
          await handle.datasync()
          disk.synced = size
        },
      }
    },
  }
  function next(operation: Operation): Fault | undefined {
    if (disk.isDead) throw failure('EIO')
    disk.operations.push(operation)
    return plan(operation, disk.operations.length)
  }
  return disk
}

function failure(code: string): Error {
  return Object.assign(new Error(code), { code })
}

async function zero(path: string, from: number, to: number): Promise<void> {
  const handle = await open(path, 'r+')
  await handle.write(Buffer.alloc(to - from), 0, to - from, from)
  await handle.close()
}

async function tempFile(content: string): Promise<string> {
  const path = join(home, `${made++}.jsonl`)
  await writeFile(path, content)
  return path
}

/** The numbers of all lines; throws when one does not parse. */
async function numbers(path: string): Promise<unknown[]> {
  const lines = (await readFile(path, 'utf8')).split('\n')
  expect(lines.pop()).toBe('')
  return lines.map((line) => field(JSON.parse(line), 'n'))
}

type Outcome = { readonly n: number; readonly place?: Place; readonly error?: unknown }

async function append(journal: Journal, n: number, size: number): Promise<Outcome> {
  try {
    return { n, place: await journal.append({ n, text: 'x'.repeat(size) }) }
  } catch (error) {
    return { n, error }
  }
}

function isUnwritable(error: unknown): boolean {
  return field(error, 'code') === 'journal-unwritable'
}

function counter(): () => number {
  let n = 0
  return () => ++n
}

const BURSTS: readonly (readonly number[])[] = [
  [10],
  [10, 20, 30],
  [300_000, 5, 1_100_000, 10, 20],
  [40],
  [7, 8],
]

/** Opens (twice, if need be), appends the bursts, and then single lines until the disk is well again. */
async function work(path: string, disk: ReturnType<typeof failingDisk>): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = []
  const n = counter()
  const openFile = async (): Promise<JournalFile> => await disk.open()
  let journal = await journalOn(path, openFile).catch(() => undefined)
  for (let tries = 0; !journal; tries++) {
    expect(tries).toBeLessThan(10)
    journal = await journalOn(path, openFile).catch(() => undefined)
  }
  const opened = journal
  const tell = async (size: number): Promise<Outcome> => {
    const outcome = await append(opened, n(), size)
    // The moment of the acknowledgement: the line has to be within what was synced.
    const end = outcome.place ? outcome.place.offset + outcome.place.length + 1 : 0
    expect(end).toBeLessThanOrEqual(disk.synced)
    return outcome
  }
  for (const sizes of BURSTS) outcomes.push(...(await Promise.all(sizes.map(tell))))
  for (let tries = 0; !outcomes.at(-1)?.place; tries++) {
    expect(tries).toBeLessThan(10)
    outcomes.push(await tell(3))
  }
  await journal.close()
  return outcomes
}

function acknowledged(outcomes: readonly Outcome[]): number[] {
  return outcomes.flatMap(({ n, place }) => (place ? [n] : []))
}

const TORN = '{"n":0}\n{"n":'

describe('a failing disk', () => {
  test.each<[Fault, number]>([
    ['refused', 1],
    ['short', 1],
    ['lost', 1],
    ['refused', 2],
    ['short', 3],
    ['lost', 4],
    ['refused', 9],
  ])(
    '[J1] [J2] [J6] [J7] [J8] when the n-th operation fails for every n (%s, %i in a row), what is acknowledged is there, in order and once',
    async (fault, inARow) => {
      const whole = failingDisk(await tempFile(TORN), () => undefined)
      await work(join(home, `${made - 1}.jsonl`), whole)
      expect(whole.operations.length).toBeGreaterThan(18)

      for (let n = 1; n <= whole.operations.length; n++) {
        const path = await tempFile(TORN)
        const disk = failingDisk(path, (_, at) => (at >= n && at < n + inARow ? fault : undefined))
        const outcomes = await work(path, disk)
        expect({ n, lines: await numbers(path) }).toEqual({ n, lines: [0, ...acknowledged(outcomes)] })
        expect({ n, retried: disk.syncsAfterFailure }).toEqual({ n, retried: 0 })
        expect(outcomes.map(({ error }) => error).filter((error) => error && !isUnwritable(error))).toEqual(
          [],
        )
      }
    },
  )

  test('[J6] [T11] a full disk rejects the line that does not fit, alone, with its cause', async () => {
    const path = await tempFile('')
    let writes = 0
    const disk = failingDisk(path, (operation) =>
      operation === 'write' && ++writes === 2 ? 'short' : undefined,
    )
    const journal = await journalOn(path, () => disk.open())
    const outcomes = await Promise.all([1, 2, 3].map(async (n) => await append(journal, n, 1000)))
    await journal.close()
    expect(acknowledged(outcomes)).toEqual([1, 3])
    expect(outcomes[1]?.error).toMatchObject({ code: 'journal-unwritable', cause: { code: 'ENOSPC' } })
    expect(await numbers(path)).toEqual([1, 3])
  })

  test('[J7] a short write without an error is carried on', async () => {
    const path = await tempFile('')
    const journal = await journalOn(path, async () => {
      const file = await open(path, 'a+')
      return {
        read: (buffer, offset, length, position) => file.read(buffer, offset, length, position),
        write: (buffer, offset, length) => file.write(buffer, offset, Math.min(length, 7)),
        truncate: (length) => file.truncate(length),
        datasync: () => file.datasync(),
        stat: () => file.stat(),
        close: () => file.close(),
      }
    })
    expect(acknowledged(await Promise.all([1, 2].map(async (n) => await append(journal, n, 100))))).toEqual([
      1, 2,
    ])
    await journal.close()
    expect(await numbers(path)).toEqual([1, 2])
  })

  test('[J7] a line that could neither be written nor cut off is cut off before the next one', async () => {
    const path = await tempFile('')
    const failing = new Set<Operation>()
    const disk = failingDisk(path, (operation) =>
      failing.has(operation) ? (operation === 'write' ? 'short' : 'refused') : undefined,
    )
    const journal = await journalOn(path, () => disk.open())
    const outcomes = [await append(journal, 1, 10)]
    failing.add('write').add('truncate')
    outcomes.push(await append(journal, 2, 10), await append(journal, 3, 10))
    expect((await stat(path)).size).toBeGreaterThan(disk.synced)
    failing.clear()
    outcomes.push(await append(journal, 4, 10))
    await journal.close()
    expect(acknowledged(outcomes)).toEqual([1, 4])
    expect(await numbers(path)).toEqual([1, 4])
  })

  test('[J8] a failed fdatasync rejects every line in doubt, and the next goes through a new descriptor', async () => {
    const path = await tempFile('')
    let syncs = 0
    const disk = failingDisk(path, (operation) =>
      operation === 'sync' && ++syncs === 2 ? 'refused' : undefined,
    )
    const journal = await journalOn(path, () => disk.open())
    const doubtful = await Promise.all([1, 2, 3].map(async (n) => await append(journal, n, 10)))
    const later = await append(journal, 4, 10)
    await journal.close()
    expect(acknowledged([...doubtful, later])).toEqual([4])
    expect(doubtful[0]?.error).toMatchObject({ code: 'journal-unwritable', cause: { code: 'EIO' } })
    expect(await numbers(path)).toEqual([4])
    expect(disk.operations.filter((operation) => operation === 'open')).toHaveLength(2)
    expect(disk.syncsAfterFailure).toBe(0)
  })

  test('[J5] lines that wait share one fdatasync, each with a write of its own', async () => {
    const path = await tempFile('')
    const disk = failingDisk(path, () => undefined)
    const journal = await journalOn(path, () => disk.open())
    await Promise.all(Array.from({ length: 64 }, async (_, n) => await append(journal, n, 1000)))
    await journal.close()
    const count = (wanted: Operation): number => disk.operations.filter((found) => found === wanted).length
    // One fdatasync is of the opening.
    expect({ write: count('write'), sync: count('sync') }).toEqual({ write: 64, sync: 2 })
  })

  test('[J5] a line of 4 MiB is one write', async () => {
    const path = await tempFile('')
    const disk = failingDisk(path, () => undefined)
    const journal = await journalOn(path, () => disk.open())
    await append(journal, 1, 4 * 1024 * 1024)
    await journal.close()
    expect(disk.operations).toEqual(['open', 'sync', 'write', 'sync'])
  })
})

type Step =
  | { readonly do: 'append'; readonly sizes: readonly number[] }
  | { readonly do: 'fail'; readonly after: number; readonly fault: Fault; readonly times: number }
  /** The power goes while lines are under way. Of what was not synced, a part is left, as it was or as zeroes. */
  | { readonly do: 'cut'; readonly sizes: readonly number[]; readonly kept: number; readonly zeroed: boolean }

const sizes = fc.array(fc.oneof(fc.nat(200), fc.nat(70_000)), { minLength: 1, maxLength: 5 })
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ do: fc.constant('append' as const), sizes }),
  fc.record({
    do: fc.constant('fail' as const),
    after: fc.nat(6),
    fault: fc.constantFrom<Fault>('refused', 'short', 'lost'),
    times: fc.integer({ min: 1, max: 4 }),
  }),
  fc.record({ do: fc.constant('cut' as const), sizes, kept: fc.nat(), zeroed: fc.boolean() }),
)

test('[J1] [J2] [J3] [T12] whatever happens in whatever order, all that was acknowledged is there, in order and once', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 14 }), async (steps) => {
      const path = await tempFile('')
      const n = counter()
      const sure: number[] = []
      let faults: { readonly from: number; readonly to: number; readonly fault: Fault } | undefined
      let disk = newDisk()
      let journal = await journalOn(path, () => disk.open())

      function newDisk(): ReturnType<typeof failingDisk> {
        faults = undefined
        return failingDisk(path, (_, at) =>
          faults && at > faults.from && at <= faults.to ? faults.fault : undefined,
        )
      }

      for (const now of steps) {
        switch (now.do) {
          case 'append':
            sure.push(...acknowledged(await Promise.all(now.sizes.map((size) => append(journal, n(), size)))))
            break
          case 'fail': {
            const from = disk.operations.length + now.after
            faults = { from, to: from + now.times, fault: now.fault }
            break
          }
          case 'cut': {
            const under = Promise.all(now.sizes.map((size) => append(journal, n(), size)))
            // As many turns as chance will have it: some lines are written, some synced.
            for (let turns = now.kept % 12; turns > 0; turns--) await new Promise(setImmediate)
            disk.isDead = true
            sure.push(...acknowledged(await under))
            await journal.close()
            const { size } = await stat(path)
            const left = disk.synced + (now.kept % (size - disk.synced + 1))
            if (now.zeroed) await zero(path, left, size)
            else await truncate(path, left)
            disk = newDisk()
            journal = await journalOn(path, () => disk.open())
            break
          }
        }
      }
      await journal.close()

      // A last look through a sound disk, as the next start would do.
      await (await journalOn(path, () => newDisk().open())).close()
      const present = (await numbers(path)).map(Number)
      expect(present).toEqual([...new Set(present)].toSorted((a, b) => a - b))
      expect(sure.filter((number) => !present.includes(number))).toEqual([])
    }),
    { numRuns: 150 },
  )
})

test('[J17] lines that are appended together are all there, or none is, wherever the disk stops', async () => {
  for (const fault of ['refused', 'short', 'lost'] as const) {
    for (let fatal = 1; fatal < 9; fatal++) {
      const path = await tempFile('{"n":0}\n')
      const disk = failingDisk(path, (operation, n) =>
        n === fatal && operation !== 'open' ? fault : undefined,
      )
      const journal = await journalOn(path, () => disk.open()).catch(() => undefined)
      if (!journal) continue
      const together = await journal.appendAll([{ n: 1 }, { n: 2 }, { n: 3 }]).catch(() => undefined)
      const [last] = await journal.appendAll([{ n: 4 }]).catch(() => [undefined])
      await journal.close()
      const expected = [0, ...(together ? [1, 2, 3] : []), ...(last ? [4] : [])]
      expect([fault, fatal, await numbers(path)]).toEqual([fault, fatal, expected])
      if (together) expect(together.map(({ length }) => length)).toEqual([7, 7, 7])
      if (together) expect(together.map(({ offset }) => offset)).toEqual([8, 16, 24])
    }
  }
})
