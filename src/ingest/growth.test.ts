import { appendFileSync, renameSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { claudeFormat, type Meter } from '#sources'
import { createLines, openTempDir, runs, toJsonl, type TempDir } from '#testing'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createGrowth, type Growth, type GrowthEvent } from './growth.ts'

const KB = 1024
let dir: TempDir
let path = ''
beforeEach(async () => {
  dir = await openTempDir()
  path = join(dir.path, 'a.jsonl')
})
afterEach(() => dir.remove())

const lines = createLines()
const prompts = (count: number, word = 'hello'): string =>
  toJsonl(Array.from({ length: count }, (_, n) => lines.prompt(`${word} ${n}`)))

async function look(growth: Growth): Promise<readonly GrowthEvent[]> {
  const events: GrowthEvent[] = []
  for await (const event of growth.news()) events.push(event)
  return events
}

const kindsOf = (events: readonly GrowthEvent[]): readonly string[] =>
  events.map((event) => (event.kind === 'reset' ? event.reason : event.kind))

test('[LIV4] tells whole lines, each once, and pieces that follow one another without a gap', async () => {
  writeFileSync(path, prompts(2))
  const growth = createGrowth({ path, format: claudeFormat, size: statSync(path).size })
  expect(await look(growth)).toEqual([])
  const start = growth.offset
  const more = prompts(2000)
  appendFileSync(path, more.slice(0, -20))
  const events = [...(await look(growth))]
  appendFileSync(path, more.slice(-20))
  events.push(...(await look(growth)))
  expect(await look(growth)).toEqual([])
  let at = start
  let count = 0
  for (const event of events) {
    if (event.kind !== 'grown') throw new Error(event.kind)
    expect(event.from).toBe(at)
    at = event.to
    count += event.readings.length
  }
  expect([at, count]).toEqual([statSync(path).size, 2000])
})

test('[LIV2] [FLT15] says how a file became another one, once', async () => {
  writeFileSync(path, prompts(5))
  const growth = createGrowth({ path, format: claudeFormat, size: statSync(path).size })
  await look(growth)
  const steps: readonly (readonly [() => void, readonly string[]])[] = [
    [() => truncateSync(path, 100), ['truncated']],
    [() => writeFileSync(path, prompts(5)), ['grown']],
    [() => writeFileSync(path, prompts(9)), ['rewritten']],
    [
      () => {
        writeFileSync(`${path}.new`, prompts(12))
        renameSync(`${path}.new`, path)
      },
      ['replaced'],
    ],
    [() => rmSync(path), ['gone']],
    [() => undefined, []],
    [() => writeFileSync(path, prompts(20)), ['replaced']],
    [() => appendFileSync(path, prompts(1)), ['grown']],
  ]
  for (const [happen, told] of steps) {
    happen()
    expect(kindsOf(await look(growth)).map((kind) => (kind === 'rewritten' ? 'replaced' : kind))).toEqual(
      told.map((kind) => (kind === 'rewritten' ? 'replaced' : kind)),
    )
    expect(await look(growth)).toEqual([])
  }
})

test('[LIV2] a text of the same length within one tick of the clock is noticed', async () => {
  const growth = createGrowth({ path, format: claudeFormat, size: 0 })
  writeFileSync(path, prompts(3))
  await look(growth)
  const { atime, mtime } = statSync(path)
  writeFileSync(path, prompts(3, 'jello'))
  const { utimesSync } = await import('node:fs')
  utimesSync(path, atime, mtime)
  expect(kindsOf(await look(growth))).toEqual(['rewritten'])
})

test.each([100 * KB, 30_000 * KB])(
  '[ING2] a look at one new line costs the line and a fixed guard: a file of %i bytes',
  async (size) => {
    const filler = prompts(50)
    writeFileSync(path, filler.repeat(Math.ceil(size / filler.length)))
    const meter: Meter = { bytesRead: 0 }
    const growth = createGrowth({ path, format: claudeFormat, size: statSync(path).size, meter })
    await look(growth)
    meter.bytesRead = 0
    const line = prompts(1)
    appendFileSync(path, line)
    expect(kindsOf(await look(growth))).toEqual(['grown'])
    expect(meter.bytesRead).toBeLessThanOrEqual(line.length + 24 * KB)
    meter.bytesRead = 0
    expect(await look(growth)).toEqual([])
    expect(meter.bytesRead).toBeLessThanOrEqual(8 * KB)
  },
)

test('[LIV1] however a file grows and whenever it is looked at, what is told since the last reset is the file', async () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant('append' as const), count: fc.integer({ min: 1, max: 4 }) }),
    fc.record({ kind: fc.constant('tear' as const), count: fc.integer({ min: 1, max: 200 }) }),
    fc.constant({ kind: 'rewrite' as const, count: 3 }),
    fc.constant({ kind: 'truncate' as const, count: 0 }),
    fc.constant({ kind: 'look' as const, count: 0 }),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
      writeFileSync(path, '')
      const growth = createGrowth({ path, format: claudeFormat, size: 0 })
      await look(growth)
      let from = 0
      let told = 0
      const take = async (): Promise<void> => {
        for (const event of await look(growth)) {
          if (event.kind === 'reset') {
            // Whoever listens reads from the beginning to here, and hears the rest.
            from = growth.offset
            told = from
          } else if (event.kind === 'grown') {
            expect(event.from).toBe(told)
            told = event.to
          }
        }
      }
      for (const { kind, count } of steps) {
        if (kind === 'append') appendFileSync(path, prompts(count))
        else if (kind === 'tear') appendFileSync(path, prompts(1).slice(0, count))
        else if (kind === 'rewrite') writeFileSync(path, prompts(count, 'anew'))
        else if (kind === 'truncate') truncateSync(path, statSync(path).size >> 1)
        else await take()
      }
      await take()
      const { readFileSync } = await import('node:fs')
      expect(told).toBe(readFileSync(path).lastIndexOf(0x0a) + 1)
      expect(from).toBeLessThanOrEqual(told)
    }),
    runs(100),
  )
})
