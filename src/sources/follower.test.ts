import { placeOf, type Reading } from '#model'
import { appendFile, rename, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createLines, openTempDir, readAll, runs, toJsonl, type TempDir } from '#testing'
import * as fc from 'fast-check'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { claudeFormat } from './claude/read-line.ts'
import { createFollower, type Follower } from './follower.ts'
import type { Meter } from './transcript-file.ts'

let dir: TempDir
let path: string
beforeEach(async () => {
  dir = await openTempDir()
  path = join(dir.path, 'transcript.jsonl')
})
afterEach(() => dir.remove())

/** What somebody knows who believes every event. */
async function follow(follower: Follower, known: Reading[]): Promise<void> {
  for (const event of await follower.poll()) {
    if (event.kind === 'reset' || event.kind === 'gone') known.length = 0
    else known.push(...event.readings)
  }
}

test('[READ8] appended lines come out once, when they are whole', async () => {
  const lines = createLines()
  const [first, second] = [lines.prompt('one'), lines.prompt('two')].map(
    (line) => `${JSON.stringify(line)}\n`,
  )
  const follower = createFollower(path, claudeFormat)
  expect(await follower.poll()).toEqual([])
  await writeFile(path, `${first}${second?.slice(0, 20)}`)
  const [event] = await follower.poll()
  expect(event).toMatchObject({ kind: 'readings', readings: [{ entry: { blocks: [{ text: 'one' }] } }] })
  expect(follower.tail).toBe(20)
  expect(await follower.poll()).toEqual([])
  await appendFile(path, second?.slice(20) ?? '')
  expect(await follower.poll()).toMatchObject([{ readings: [{ entry: { blocks: [{ text: 'two' }] } }] }])
  expect(follower.tail).toBe(0)
})

test('[READ8] one appended line costs one line and two guards, whatever the size of the file', async () => {
  const lines = createLines()
  await writeFile(path, toJsonl(Array.from({ length: 5000 }, (_, index) => lines.prompt(`${index}`))))
  const meter: Meter = { bytesRead: 0 }
  const follower = createFollower(path, claudeFormat, { meter })
  await follower.poll()
  meter.bytesRead = 0
  const line = `${JSON.stringify(lines.prompt('new'))}\n`
  await appendFile(path, line)
  await follower.poll()
  // One byte more says where the last line ends, and two whether the line before was ended.
  expect(meter.bytesRead).toBeLessThanOrEqual(line.length + 4 * 4096 + 3)
})

test('[READ8] truncated, replaced, rewritten and deleted files are told as such', async () => {
  const lines = createLines()
  const text = toJsonl([lines.prompt('one'), lines.prompt('two'), lines.prompt('three')])
  await writeFile(path, text)
  const follower = createFollower(path, claudeFormat)
  await follower.poll()

  await truncate(path, text.indexOf('\n') + 1)
  expect(await follower.poll()).toMatchObject([{ kind: 'reset', reason: 'truncated' }, { kind: 'readings' }])

  await writeFile(`${path}.new`, text)
  await rename(`${path}.new`, path)
  expect(await follower.poll()).toMatchObject([{ kind: 'reset', reason: 'replaced' }, { kind: 'readings' }])

  await writeFile(path, text.replace('one', 'ONE').replace('two', 'TWO'))
  expect(await follower.poll()).toMatchObject([{ kind: 'reset', reason: 'rewritten' }, { kind: 'readings' }])

  await rm(path)
  expect(await follower.poll()).toEqual([{ kind: 'gone' }])
  expect(await follower.poll()).toEqual([])
  await writeFile(path, text)
  expect(await follower.poll()).toMatchObject([{ kind: 'reset' }, { kind: 'readings' }])
})

test('[READ8] followed through any appends, cuts, renames, deletions and rewrites, it knows what reading knows', async () => {
  const step = fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({ do: fc.constant('append' as const), bytes: fc.integer({ min: 1, max: 700 }) }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ do: fc.constant('truncate' as const), bytes: fc.nat({ max: 1500 }) }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ do: fc.constant('rename' as const), bytes: fc.integer({ min: 1, max: 900 }) }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ do: fc.constant('rewrite' as const), bytes: fc.integer({ min: 1, max: 900 }) }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('delete' as const), bytes: fc.constant(0) }) },
    { weight: 4, arbitrary: fc.record({ do: fc.constant('poll' as const), bytes: fc.constant(0) }) },
  )
  let run = 0
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), async (steps) => {
      path = join(dir.path, `${run++}.jsonl`)
      const supply = endlessLines(run)
      const follower = createFollower(path, claudeFormat)
      const known: Reading[] = []
      for (const each of steps) {
        switch (each.do) {
          case 'append':
            await appendFile(path, supply(each.bytes))
            break
          case 'truncate':
            await truncate(path, each.bytes).catch(() => {})
            break
          case 'rename':
            await writeFile(`${path}.new`, supply(each.bytes))
            await rename(`${path}.new`, path)
            break
          case 'rewrite':
            await writeFile(path, supply(each.bytes))
            break
          case 'delete':
            await rm(path, { force: true })
            break
          case 'poll':
            await follow(follower, known)
            break
        }
      }
      // At the second look nothing was written since the first: a last record counts without its newline.
      await follow(follower, known)
      await follow(follower, known)
      expect(known).toEqual(await readWholeRecords())
    }),
    runs(150),
  )
})

/** What a reader sees, without the beginning of a record at the end. */
async function readWholeRecords(): Promise<readonly Reading[]> {
  try {
    const all = await readAll(path)
    const { size, end } = await lastNewline()
    // A record that can be read behind the last newline counts, with what is wrong behind it.
    const isWhole =
      end === size || all.some((reading) => reading.kind === 'entry' && reading.entry.place.offset >= end)
    return isWhole ? all : all.filter((reading) => placeOf(reading).offset < end)
  } catch {
    return []
  }
}

async function lastNewline(): Promise<{ size: number; end: number }> {
  const { readFile } = await import('node:fs/promises')
  const bytes = await readFile(path)
  return { size: bytes.length, end: bytes.lastIndexOf(10) + 1 }
}

/** Hands out the bytes of an endless transcript, so that appends cut lines anywhere. */
function endlessLines(seed: number): (bytes: number) => string {
  const lines = createLines({ sessionId: `session-${seed}` })
  let left = ''
  let count = 0
  return (bytes) => {
    while (left.length < bytes) left += `${JSON.stringify(lines.prompt(`line ${seed} ${count++}`))}\n`
    const piece = left.slice(0, bytes)
    left = left.slice(bytes)
    return piece
  }
}
