import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createLines, openTempDir, readAll, runs, toJsonl, type TempDir } from '#testing'
import * as fc from 'fast-check'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { claudeFormat } from './claude/read-line.ts'
import { findEntryLine, findLineAt, findTimeLine } from './places.ts'
import { openTranscript, type Meter, type TranscriptFile } from './transcript-file.ts'

let dir: TempDir
let path: string
beforeEach(async () => {
  dir = await openTempDir()
  path = join(dir.path, 'transcript.jsonl')
})
afterEach(() => dir.remove())

async function withFile<T>(use: (file: TranscriptFile) => Promise<T>, meter?: Meter): Promise<T> {
  const file = openTranscript(path, meter)
  try {
    return await use(file)
  } finally {
    file.close()
  }
}

const START = Date.UTC(2026, 0, 1)
/** Some lines with a time each, some without, some that are no record, of many lengths. */
const pieces = fc.array(
  fc.record({
    kind: fc.constantFrom('timed', 'timed', 'timed', 'timeless', 'bad', 'blank'),
    pause: fc.integer({ min: 0, max: 3 }),
    size: fc.oneof(
      { weight: 9, arbitrary: fc.nat(300) },
      { weight: 1, arbitrary: fc.integer({ min: 20_000, max: 90_000 }) },
    ),
  }),
  { maxLength: 40 },
)

interface Made {
  readonly content: string
  readonly lines: readonly { readonly start: number; readonly time?: number; readonly id?: string }[]
}

function make(all: readonly { kind: string; pause: number; size: number }[]): Made {
  let content = ''
  let time = START
  const lines = all.map(({ kind, pause, size }, n) => {
    const start = content.length
    const id = `id-${n}`
    time += pause * 1000
    const text = 'x'.repeat(size)
    const timestamp = new Date(time).toISOString()
    if (kind === 'timed')
      content += JSON.stringify({ type: 'user', uuid: id, timestamp, message: { content: text } })
    else if (kind === 'timeless') content += JSON.stringify({ type: 'mode', mode: text })
    else if (kind === 'bad') content += `{"uuid":"id-${n}",${text}`
    content += '\n'
    return kind === 'timed' ? { start, time, id } : { start }
  })
  return { content, lines }
}

test('[DIG3] the first line that is not older than a time, wherever it stands', async () => {
  await fc.assert(
    fc.asyncProperty(pieces, fc.integer({ min: -2, max: 60 }), async (all, seconds) => {
      const { content, lines } = make(all)
      await writeFile(path, content)
      const wanted = START + seconds * 1000
      const first = lines.find(({ time }) => time !== undefined && time >= wanted)
      const found = await withFile((file) => findTimeLine(file, claudeFormat, wanted))
      expect(found).toBe(first?.start ?? content.length)
    }),
    runs(150),
  )
})

test('[DIG3] the line that a byte is in', async () => {
  await fc.assert(
    fc.asyncProperty(pieces, fc.nat(), async (all, place) => {
      const { content, lines } = make(all)
      await writeFile(path, content)
      const offset = place % (content.length + 10)
      const at = lines.findLast(({ start }) => start <= offset)
      const found = await withFile((file) => findLineAt(file, offset))
      expect(found).toBe(offset >= content.length ? content.length : at?.start)
    }),
    runs(150),
  )
})

test('[DIG2] every entry is found by its id, and nothing else is', async () => {
  await fc.assert(
    fc.asyncProperty(pieces, async (all) => {
      const { content, lines } = make(all)
      await writeFile(path, content)
      await withFile(async (file) => {
        for (const [n, { start, id }] of lines.entries()) {
          expect(await findEntryLine(file, claudeFormat, `id-${n}`)).toBe(
            id === undefined ? undefined : start,
          )
        }
      })
      for (const reading of await readAll(path)) {
        if (reading.kind === 'damage') continue
        const { id, place } = reading.entry
        expect(await withFile((file) => findEntryLine(file, claudeFormat, id))).toBe(place.offset)
      }
    }),
    runs(60),
  )
})

test('[DIG2] a mention of an id is not the entry; written twice, the last one is', async () => {
  const lines = createLines()
  const wanted = lines.prompt('me')
  const child = lines.reply([{ type: 'text', text: `it is {"uuid":"${wanted.uuid}"}` }])
  const other = lines.prompt('x', { note: { uuid: wanted.uuid }, leafUuid: wanted.uuid })
  const texts = [other, wanted, child, other, wanted, child].map((line) => `${JSON.stringify(line)}\n`)
  await writeFile(path, texts.join(''))
  const find = (id: string): Promise<number | undefined> =>
    withFile((file) => findEntryLine(file, claudeFormat, id))
  expect(await find(wanted.uuid)).toBe(texts.slice(0, 4).join('').length)
  for (const id of ['nobody', '', '"', '\\', '@', '@-1', '@999999999', '\u0000'])
    expect(await find(id)).toBeUndefined()
  expect(await find(`@${(texts[0]?.length ?? 0) + 3}`)).toBe(texts[0]?.length)
})

test('[DIG2] [DIG3] of a large file little is read, and never much at once', async () => {
  const lines = createLines()
  const many = Array.from({ length: 24_000 }, (_, n) =>
    lines.prompt('x'.repeat(700), { timestamp: new Date(START + n * 1000).toISOString(), uuid: `u${n}` }),
  )
  const content = toJsonl(many)
  await writeFile(path, content)
  expect(content.length).toBeGreaterThan(20_000_000)
  const cost = async (find: (file: TranscriptFile) => Promise<unknown>): Promise<number> => {
    const meter = { bytesRead: 0 }
    await withFile(find, meter)
    return meter.bytesRead
  }
  for (const n of [0, 1, 11_999, 23_999]) {
    expect(await cost((file) => findTimeLine(file, claudeFormat, START + n * 1000))).toBeLessThan(1_500_000)
    expect(await cost((file) => findLineAt(file, Math.floor((content.length / 24_000) * n)))).toBeLessThan(
      70_000,
    )
  }
  expect(await cost((file) => findEntryLine(file, claudeFormat, 'u23990'))).toBeLessThan(70_000)
  let largest = 0
  await withFile((file) =>
    findEntryLine(
      { ...file, read: (...asked) => ((largest = Math.max(largest, asked[1])), file.read(...asked)) },
      claudeFormat,
      'u0',
    ),
  )
  expect(largest).toBeLessThanOrEqual(1024 * 1024)
})
