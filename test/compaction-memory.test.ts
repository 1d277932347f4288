import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { number, parseJson } from '#base'
import { createLines, openTempDir, SESSION, type TempDir } from '#testing'
import { afterEach, beforeEach, expect, test } from 'vitest'

const MB = 1024 * 1024
/** Bare Node has 45 MB, what it loads 25 MB, the heap 96 MB, pieces of the file some more. */
const CEILING_MB = 230

let dir: TempDir
beforeEach(async () => {
  dir = await openTempDir()
})
afterEach(() => dir.remove())

/** A session of about this size that was never compacted, with outputs of 100 KB. Gives the number of its turns. */
async function writeSession(configDir: string, size: number): Promise<number> {
  const folder = join(configDir, 'projects', '-w')
  mkdirSync(folder, { recursive: true })
  const out = createWriteStream(join(folder, `${SESSION}.jsonl`))
  const make = createLines({ cwd: '/w' })
  const output = 'src/parser/token.ts:12: a line of what a tool gave back \n'.repeat(1_800)
  const steps = 4
  const count = Math.ceil(size / (output.length * steps))
  for (let turn = 1; turn <= count; turn++) {
    const calls = Array.from({ length: steps }, (_none, step) => {
      const id = `toolu_${turn}_${step}`
      const command = `cat ${turn}-${step}.log`
      return [
        make.reply([{ type: 'tool_use', id, name: 'Bash', input: { command } }]),
        make.result(id, output),
      ]
    })
    const lines = [make.prompt(`Question ${turn}`), ...calls.flat(), make.reply([], { message: toEnd(turn) })]
    if (!out.write(lines.map((line) => `${JSON.stringify(line)}\n`).join(''))) await once(out, 'drain')
  }
  out.end()
  await once(out, 'close')
  return count
}

/** The last words of a turn, with how full the window was. */
function toEnd(turn: number): object {
  const usage = { input_tokens: Math.min(1_000 * turn, 195_000), output_tokens: 10 }
  return {
    id: `msg_end_${turn}`,
    role: 'assistant',
    model: 'claude-opus-5-5',
    content: [{ type: 'text', text: 'So.' }],
    usage,
  }
}

const sizes = process.env['RUNS'] === 'full' ? [80, 160, 300] : [80, 160]

test.each(sizes)(
  '[RST5] [RST9] [P11] a session of %i MB is compacted and gone on with within a fixed ceiling of memory',
  async (size) => {
    const configDir = join(dir.path, 'config')
    const turns = await writeSession(configDir, size * MB)
    const program = join(import.meta.dirname, '../dist/testing/compaction-measured.js')
    const { stdout } = await promisify(execFile)(process.execPath, [
      '--max-old-space-size=96',
      program,
      configDir,
      join(dir.path, 'home'),
      SESSION,
    ])
    const found = parseJson(stdout)
    expect(found).toMatchObject({ summarised: turns - 10, kept: 10, wasFull: true, isFull: false })
    // What stays fits into a window, however long its outputs were.
    expect(number(found, 'tokens')).toBeLessThan(100_000)
    expect(number(found, 'characters')).toBeLessThan(400_000)
    expect(number(found, 'peakMb')).toBeLessThan(CEILING_MB)
  },
)
