import { open, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openRecording, type Recording } from '#recorder'
import { openTempDir } from '#testing'
import type { Bench } from './bench.ts'
import { hold } from './comparison.ts'
import { quantile } from './measure.ts'
import { times, type Row } from './table.ts'

const MANY = 64
const ROUND_MS = 1_000
const WORDS = 'the quick brown fox of the checkout jumps over a lazy parser and tests it twice '.repeat(10)

/** Turns that are acknowledged, against the least that anybody could do for one: a write and an fdatasync. */
export async function recordingRows({ rounds }: Bench): Promise<readonly Row[]> {
  const dir = await openTempDir()
  try {
    const record = async (): Promise<Recording> => {
      const recording = await openRecording({ cwd: dir.path, agent: 'bench', version: '1', register: false })
      await recording.user('begin')
      return recording
    }
    const alone = await record()
    await alone.user(WORDS)
    const [, line = ''] = (await readFile(alone.path, 'utf8')).split('\n')
    const bytes = Buffer.from(`${line}\n`)
    const together = await Promise.all(Array.from({ length: MANY }, record))
    const rates: {
      readonly bare: number
      readonly one: number
      readonly many: number
      readonly files: number
    }[] = []
    for (let round = 0; round < Math.max(5, rounds); round++) {
      // The machine may slow down between two of them: the bare one stands on both sides.
      const before = await bareRate([join(dir.path, 'bare')], bytes)
      const one = await turnsPerSecond([alone])
      const many = await turnsPerSecond(together)
      const after = await bareRate([join(dir.path, 'bare')], bytes)
      const files = await bareRate(
        together.map((_, n) => join(dir.path, `bare-${n}`)),
        bytes,
      )
      rates.push({ bare: (before + after) / 2, one, many, files })
    }
    for (const recording of [alone, ...together]) await recording.end()
    const median = (of: (rate: (typeof rates)[number]) => number): number => quantile(rates.map(of), 0.5)
    const bare = `write+fdatasync ${perSecond(median((rate) => rate.bare))}`
    return [
      hold({
        name: 'recording, turns acknowledged by one writer, of the bare rate',
        value: median((rate) => rate.one / rate.bare),
        show: times,
        least: 0.8,
        against: bare,
        note: `${perSecond(median((rate) => rate.one))}, ${bytes.length} bytes each, every one synced`,
      }),
      hold({
        name: `recording, turns acknowledged by ${MANY} at once, of the bare rate of one`,
        value: median((rate) => rate.many / rate.bare),
        show: times,
        least: 10,
        against: bare,
        note: `${perSecond(median((rate) => rate.many))}; bare, with ${MANY} files: ${perSecond(median((rate) => rate.files))}`,
      }),
    ]
  } finally {
    await dir.remove()
  }
}

async function turnsPerSecond(recordings: readonly Recording[]): Promise<number> {
  return await perSecondOf(recordings.map((recording) => async () => void (await recording.user(WORDS))))
}

/** In the way of Node that holds nobody else up, as the recorder must. */
async function bareRate(paths: readonly string[], bytes: Buffer): Promise<number> {
  const files = await Promise.all(paths.map(async (path) => await open(path, 'a')))
  try {
    return await perSecondOf(
      files.map((file) => async () => {
        await file.write(bytes)
        await file.datasync()
      }),
    )
  } finally {
    for (const file of files) await file.close()
  }
}

async function perSecondOf(works: readonly (() => Promise<void>)[]): Promise<number> {
  const begun = performance.now()
  let count = 0
  await Promise.all(
    works.map(async (work) => {
      while (performance.now() < begun + ROUND_MS) {
        await work()
        count += 1
      }
    }),
  )
  return (count * 1000) / (performance.now() - begun)
}

function perSecond(rate: number): string {
  return `${rate.toFixed(0)}/s`
}
