import { execFile } from 'node:child_process'
import { createWriteStream } from 'node:fs'
import { once } from 'node:events'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { number, parseJson } from '#base'
import { createLines, openTempDir, type TempDir } from '#testing'
import { afterAll, beforeAll, expect, test } from 'vitest'

const MB = 1024 * 1024
/** Bare Node has 45 MB, the longest line that is held 32 MB and its text as much again, the heap 64 MB. */
const CEILING_MB = 220

let dir: TempDir
beforeAll(async () => {
  dir = await openTempDir()
})
afterAll(() => dir.remove())

/** A session of about this size, with one line of 50 MB in its middle. Gives the number of its lines. */
async function writeSession(path: string, size: number): Promise<number> {
  const lines = createLines()
  const out = createWriteStream(path)
  const filler = 'a line of output, as tools print them by the thousand \\n'.repeat(60)
  const put = async (line: object): Promise<void> => {
    if (!out.write(`${JSON.stringify(line)}\n`)) await once(out, 'drain')
  }
  const count = Math.floor(size / filler.length)
  for (let index = 0; index < count; index++) {
    if (index === count >> 1) await put(lines.result('toolu_long', 'x'.repeat(50 * MB)))
    await put(lines.reply([{ type: 'text', text: filler }]))
  }
  out.end()
  await once(out, 'close')
  return count + 1
}

const sizes = process.env['RUNS'] === 'full' ? [80, 160, 300] : [80, 160]

test.each(sizes)(
  '[READ5] a session of %i MB with a line of 50 MB is read within a fixed ceiling of memory',
  async (size) => {
    const path = join(dir.path, `${size}.jsonl`)
    const count = await writeSession(path, size * MB)
    const program = join(import.meta.dirname, '../dist/testing/reading-measured.js')
    const { stdout } = await promisify(execFile)(process.execPath, ['--max-old-space-size=64', program, path])
    const found = parseJson(stdout)
    expect(found).toMatchObject({ entries: count - 1, oversize: 1, damage: 0, page: 50 })
    expect(number(found, 'peakMb')).toBeLessThan(CEILING_MB)
  },
)
