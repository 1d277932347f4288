import { execFile } from 'node:child_process'
import { createWriteStream, mkdirSync, statSync } from 'node:fs'
import { once } from 'node:events'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { number, parseJson } from '#base'
import { INDEX_VERSION } from '#store'
import { createLines, openTempDir, type TempDir } from '#testing'
import { afterAll, beforeAll, expect, test } from 'vitest'

const MB = 1024 * 1024
/** What the process may have at most, whatever the sessions are. */
const CEILING_MB = 256
/** Ten times what other work of the main thread waits for it on a machine that does nothing else. */
const LAG_MS = 1000

const BUILDER = join(import.meta.dirname, '../dist/testing/index-builder.js')
let dir: TempDir
beforeAll(async () => {
  dir = await openTempDir()
})
afterAll(() => dir.remove())

/** A session of many lines of all kinds, with words that differ from line to line; and, if asked for, one very long line. */
async function writeSession(name: string, size: number, long = 0): Promise<{ dir: string; lines: number }> {
  const configDir = join(dir.path, name)
  const folder = join(configDir, 'projects', '-work-long')
  mkdirSync(folder, { recursive: true })
  const made = createLines()
  const out = createWriteStream(join(folder, '0c0ffee0-0000-4000-8000-000000000001.jsonl'))
  let written = 0
  let count = 0
  const put = async (line: object): Promise<void> => {
    const text = `${JSON.stringify(line)}\n`
    written += text.length
    count++
    if (!out.write(text)) await once(out, 'drain')
  }
  for (let done = 0; done < size; done = written) {
    if (long > 0 && done > size / 2) {
      await put(made.result('toolu_long', 'x '.repeat(long / 2)))
      long = 0
    }
    await put(made.prompt(`please do number${count} of common things`))
    await put(
      made.reply([
        { type: 'text', text: `word${count} `.repeat(20) },
        { type: 'tool_use', id: `toolu_${count}`, name: 'Bash', input: { command: `run thing${count}` } },
      ]),
    )
    await put(made.result(`toolu_${count}`, `line ${count} of output, as tools print them\n`.repeat(12)))
  }
  out.end()
  await once(out, 'close')
  return { dir: configDir, lines: count }
}

async function build(home: string, configDir: string): Promise<unknown> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--max-old-space-size=64', BUILDER, join(dir.path, home), configDir, 'common'],
    { timeout: 120_000 },
  )
  return parseJson(stdout.split('\n')[1] ?? '')
}

test('[ING14] [S09] an index is built within a fixed ceiling of memory, with 64 MB for the main thread', async () => {
  const { dir: configDir, lines } = await writeSession(
    'large',
    (process.env['RUNS'] === 'full' ? 300 : 100) * MB,
  )
  const found = await build('home-large', configDir)
  expect(found).toMatchObject({ sessions: 1, hits: Math.ceil(lines / 3) })
  expect(number(found, 'peakMb')).toBeLessThan(CEILING_MB)
  const { size } = statSync(join(dir.path, 'home-large', `index.v${INDEX_VERSION}.db`))
  expect(size).toBeLessThan(60 * MB)
})

test('[ING14] [FLT26] a line of 50 MB goes through the index within the same ceiling, and hides nothing', async () => {
  const { dir: configDir } = await writeSession('long', 10 * MB, 50 * MB)
  const found = await build('home-long', configDir)
  expect(number(found, 'hits')).toBeGreaterThan(1000)
  expect(number(found, 'peakMb')).toBeLessThan(CEILING_MB + 64)
})

test('[ING15] [FLT25] 100,000 lines are indexed while the main thread stays free for others', async () => {
  const { dir: configDir, lines } = await writeSession('many', 75 * MB)
  expect(lines).toBeGreaterThan(90_000)
  const lags: number[] = []
  for (const round of [1, 2, 3]) {
    const found = await build(`home-many-${round}`, configDir)
    lags.push(number(found, 'lagMs') ?? Number.NaN)
    expect(number(found, 'ms')).toBeLessThan(60_000)
  }
  expect(lags.toSorted((a, b) => a - b)[1]).toBeLessThan(LAG_MS)
})
