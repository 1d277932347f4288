import type { Reading } from '#model'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createLines, openTempDir, readAll, runs, toJsonl, type TempDir } from '#testing'
import * as fc from 'fast-check'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readBackward } from './backward.ts'
import { claudeFormat } from './claude/read-line.ts'
import { readPageAfter, readPageBefore } from './pages.ts'
import { openTranscript, type Meter } from './transcript-file.ts'

let dir: TempDir
let path: string
beforeEach(async () => {
  dir = await openTempDir()
  path = join(dir.path, 'transcript.jsonl')
})
afterEach(() => dir.remove())

/** A transcript of lines of many lengths, some of them spoiled. */
const transcript = fc
  .array(
    fc.oneof(
      {
        weight: 8,
        arbitrary: fc.tuple(fc.uuid(), fc.nat({ max: 800 })).map(([uuid, size]) =>
          JSON.stringify({
            type: 'user',
            uuid,
            parentUuid: null,
            message: { role: 'user', content: 'x'.repeat(size) },
          }),
        ),
      },
      { weight: 1, arbitrary: fc.string({ maxLength: 30 }) },
      { weight: 1, arbitrary: fc.constant('') },
    ),
    { maxLength: 16 },
  )
  .chain((lines) =>
    fc
      .boolean()
      .map((ended) => lines.map((line) => line.replaceAll('\n', ' ')).join('\n') + (ended ? '\n' : '')),
  )

test('[C3.1] [READ6] pages from either end, of any size, put together are the whole', async () => {
  await fc.assert(
    fc.asyncProperty(transcript, fc.integer({ min: 1, max: 9 }), async (content, limit) => {
      await writeFile(path, content)
      const whole = await readAll(path)
      expect(await pagesBackward(limit)).toEqual(whole)
      expect(await pagesForward(limit)).toEqual(whole)
    }),
    runs(200),
  )
})

test('[READ6] read backwards in pieces of any size, a file gives the same lines as forwards', async () => {
  await fc.assert(
    fc.asyncProperty(
      transcript,
      fc.integer({ min: 1, max: 5000 }),
      fc.integer({ min: 300, max: 1000 }),
      async (content, firstPiece, maxLine) => {
        await writeFile(path, content)
        const whole = await readAll(path, { maxLine, chunk: firstPiece })
        const file = openTranscript(path)
        const batches: (readonly Reading[])[] = []
        for await (const { readings } of readBackward(file, claudeFormat, { firstPiece, maxLine }))
          batches.push(readings)
        file.close()
        const backward = batches.toReversed().flat()
        // What counts as too long to hold depends on how much was already held; both then know the envelope.
        expect(backward.map(placeAndId)).toEqual(whole.map(placeAndId))
      },
    ),
    runs(200),
  )
})

test('[READ7] the last 50 entries of a large session cost about as many bytes as they have', async () => {
  const lines = createLines()
  const all = Array.from({ length: 20_000 }, (_, index) =>
    lines.prompt(`${index} ${'words '.repeat(40 + (index % 50))}`),
  )
  await writeFile(path, toJsonl(all))
  for (const before of [undefined, 3_000_000]) {
    const meter: Meter = { bytesRead: 0 }
    const file = openTranscript(path, meter)
    const page = await readPageBefore(file, claudeFormat, {
      limit: 50,
      ...(before === undefined ? {} : { before }),
    })
    file.close()
    expect(page.readings.filter(({ kind }) => kind === 'entry').length).toBeGreaterThanOrEqual(50)
    const size = page.end - page.start
    expect(meter.bytesRead).toBeLessThan(2 * size + 64 * 1024)
    expect(file.size).toBeGreaterThan(100 * meter.bytesRead)
  }
})

test('[READ7] the first 50 entries cost about as many bytes as they have', async () => {
  const lines = createLines()
  await writeFile(
    path,
    toJsonl(Array.from({ length: 2000 }, (_, index) => lines.prompt(`${index} ${'words '.repeat(60)}`))),
  )
  const meter: Meter = { bytesRead: 0 }
  const file = openTranscript(path, meter)
  const page = await readPageAfter(file, claudeFormat, { limit: 50 })
  file.close()
  expect(page.readings).toHaveLength(50)
  expect(meter.bytesRead).toBeLessThan(2 * (page.end - page.start) + 128 * 1024)
})

test('[READ6] a page counts the entries it is asked to count, and has what stands between them', async () => {
  const lines = createLines()
  await writeFile(
    path,
    toJsonl([
      lines.prompt('a'),
      lines.attachment('date'),
      lines.prompt('b'),
      lines.attachment('date'),
      lines.prompt('c'),
    ]),
  )
  const file = openTranscript(path)
  const page = await readPageBefore(file, claudeFormat, { limit: 2, counts: ({ kind }) => kind === 'prompt' })
  file.close()
  expect(page.readings.map((each) => (each.kind === 'entry' ? each.entry.kind : 'damage'))).toEqual([
    'prompt',
    'context',
    'prompt',
  ])
})

async function pagesBackward(limit: number): Promise<readonly Reading[]> {
  const file = openTranscript(path)
  const pages: (readonly Reading[])[] = []
  for (let before = file.size; before > 0;) {
    const page = await readPageBefore(file, claudeFormat, { limit, before })
    expect(page.start).toBeLessThan(before)
    pages.push(page.readings)
    before = page.start
  }
  file.close()
  return pages.toReversed().flat()
}

async function pagesForward(limit: number): Promise<readonly Reading[]> {
  const file = openTranscript(path)
  const readings: Reading[] = []
  for (let after = 0; after < file.size;) {
    const page = await readPageAfter(file, claudeFormat, { limit, after })
    expect(page.end).toBeGreaterThan(after)
    readings.push(...page.readings)
    after = page.end
  }
  file.close()
  return readings
}

function placeAndId(reading: Reading): unknown {
  return reading.kind === 'entry' ? [reading.entry.place, reading.entry.id] : reading.damage
}
