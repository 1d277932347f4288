import type { Reading } from '#model'
import { createLines, openTempDir, runs, toJsonl, writeTranscript, type TempDir } from '#testing'
import type { Page, PageOptions, PagePlace } from '#wire'
import * as fc from 'fast-check'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openThroughline } from './open-throughline.ts'
import type { LocalThroughline } from './throughline.ts'

let dir: TempDir
let throughline: LocalThroughline
const meter = { bytesRead: 0 }
beforeEach(async () => {
  dir = await openTempDir()
  const env = { THROUGHLINE_HOME: `${dir.path}/home`, CLAUDE_CONFIG_DIR: dir.path }
  throughline = await openThroughline({ env, meter })
})
afterEach(async () => {
  await throughline.close()
  await dir.remove()
})

/** Asks for a page of the only session, and what it cost. */
async function pageOf(options: PageOptions): Promise<{ readonly page: Page; readonly bytes: number }> {
  const [session] = (await throughline.list()).sessions
  if (session === undefined) throw new Error('there is no session')
  meter.bytesRead = 0
  const page = await throughline.page(session, options)
  return { page, bytes: meter.bytesRead }
}

const idOf = (reading: Reading): string => (reading.kind === 'entry' ? reading.entry.id : 'damage')

test('[DIG1] a page around any place is a gapless piece with about half of it before the place', async () => {
  const lines = createLines()
  const bad = '{"torn\n'
  const texts = Array.from({ length: 40 }, (_, n) =>
    n % 9 === 8 ? bad : `${JSON.stringify(lines.prompt('x'.repeat((n * 37) % 300)))}\n`,
  )
  await writeTranscript(dir.path, `${texts.join('')}{"type":"user"`)
  const whole = (await pageOf({ limit: 1000 })).page.readings.map(idOf)
  const entries = whole.filter((id) => id !== 'damage')
  await fc.assert(
    fc.asyncProperty(fc.nat(entries.length - 1), fc.integer({ min: 1, max: 12 }), async (at, limit) => {
      const entry = entries[at] ?? ''
      const { page } = await pageOf({ limit, around: { entry } })
      const ids = page.readings.map(idOf)
      const place = ids.indexOf(entry)
      expect(place).toBeGreaterThanOrEqual(0)
      const before = ids.slice(0, place).filter((id) => id !== 'damage').length
      expect(before).toBe(Math.min(at, Math.floor(limit / 2)))
      const counted = ids.filter((id) => id !== 'damage').length
      expect(counted).toBe(Math.min(limit, before + entries.length - at))
      const first = await pageOf({ limit: 1000, before: page.start })
      const last = await pageOf({ limit: 1000, after: page.end })
      const rest = page.atEnd ? [] : last.page.readings.map(idOf)
      expect([...first.page.readings.map(idOf), ...ids, ...rest]).toEqual(whole)
      expect(page.atStart).toBe(first.page.readings.length === 0)
    }),
    runs(80),
  )
})

test('[DIG3] a page around a time or a byte of a large file costs a bounded number of bytes', async () => {
  const lines = createLines()
  const start = Date.UTC(2026, 0, 1)
  const many = Array.from({ length: 20_000 }, (_, n) =>
    lines.prompt('x'.repeat(800), { timestamp: new Date(start + n * 1000).toISOString(), uuid: `u${n}` }),
  )
  const content = toJsonl(many)
  await writeTranscript(dir.path, content)
  const places: readonly (readonly [PagePlace, number, number])[] = [
    [{ offset: Math.floor(content.length / 2) }, 300_000, 10],
    [{ offset: content.length - 10 }, 300_000, 10],
    [{ time: new Date(start + 7_777_000).toISOString() }, 1_700_000, 7_777],
    [{ time: new Date(start + 19_999_000).toISOString() }, 1_700_000, 19_999],
    [{ entry: 'u19990' }, 300_000, 19_990],
  ]
  for (const [around, most, n] of places) {
    const { page, bytes } = await pageOf({ limit: 20, around, raw: false })
    expect([around, bytes < most]).toEqual([around, true])
    expect(page.readings.length).toBeGreaterThanOrEqual(10)
    if (n > 10) expect(page.readings.map(idOf)[10]).toBe(`u${n}`)
  }
})
