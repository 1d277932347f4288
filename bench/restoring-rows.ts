import { createWriteStream, mkdirSync } from 'node:fs'
import { once } from 'node:events'
import { join } from 'node:path'
import { NATIVE_AGENTS, TARGETS } from '#model'
import { createLines, openTempDir, type CorpusFacts } from '#testing'
import { resultNumber, type Bench } from './bench.ts'
import { compare, hold, type Measure } from './comparison.ts'
import { Entrant, race } from './measure.ts'
import { mb, ms, times, type Row } from './table.ts'

const MOST_BYTES = 40e6
const LARGE_BYTES = 300e6
const LARGE_ID = '0c0ffee0-0000-4000-8000-0000000b16b1'

/**
 * Restoring for each interface and converting for each agent, from the file to what is sent or written, against
 * `JSON.parse` of the same bytes; and a session of 300 MB compacted before anybody loads it.
 */
export async function restoringRows(bench: Bench): Promise<readonly Row[]> {
  return [...(await throughputRows(bench)), ...(await largeRows())]
}

async function throughputRows({ configDir, facts, rounds }: Bench): Promise<readonly Row[]> {
  const sample = sampleOf(facts)
  const told = { configDir, sample }
  const calls = 3
  const parse = new Entrant('limit parse sample', told, calls)
  const restored = TARGETS.map((target) => ({
    name: `restore for ${target}`,
    most: 5,
    ours: new Entrant('ours restore', { ...told, to: target }, calls),
  }))
  const converted = NATIVE_AGENTS.map((agent) => ({
    // It is written as text too.
    name: `convert for ${agent}`,
    most: 8,
    ours: new Entrant('ours convert', { ...told, to: agent }, calls),
  }))
  const all = [...restored, ...converted]
  await race([parse, ...all.map(({ ours }) => ours)], Math.min(rounds, 3))
  const bytes = resultNumber(parse, 'bytes') ?? 0
  const rate: Measure = {
    of: (figures) => figures.cpuMs,
    show: (cpu) => `${(bytes / 1000 / cpu).toFixed(0)} MB/s`,
  }
  return all.map(({ name, ours, most }) =>
    compare({
      name: `${name}: MB/CPU-s`,
      ours,
      whom: 'JSON.parse',
      other: parse,
      measure: rate,
      target: { atMost: most },
      fault: resultNumber(ours, 'bytes') === bytes ? undefined : 'not the same bytes',
      note: `${sample.length} sessions, ${mb(bytes)}, read, put in order and written`,
    }),
  )
}

/** Sessions that the model sees whole, the largest first, as many as there is time for. */
function sampleOf({ sessions }: CorpusFacts): readonly { id: string; path: string; visible: number }[] {
  let bytes = 0
  return sessions
    .filter(({ compactions, rewinds }) => compactions === 0 && rewinds === 0)
    .toSorted((a, b) => b.bytes - a.bytes)
    .filter((session) => {
      if (bytes + session.bytes > MOST_BYTES) return false
      bytes += session.bytes
      return true
    })
    .map(({ id, path, visible }) => ({ id, path, visible }))
}

async function largeRows(): Promise<readonly Row[]> {
  const dir = await openTempDir()
  try {
    const configDir = join(dir.path, 'config')
    await writeLarge(configDir, LARGE_BYTES)
    const told = { configDir, home: join(dir.path, 'home'), id: LARGE_ID }
    const ours = new Entrant('ours compact', told)
    await race([ours], 1)
    if (ours.outcome.state !== 'measured')
      throw new Error('message' in ours.outcome ? ours.outcome.message : 'pending')
    const { figures } = ours.outcome
    const peak = figures.peakRssKb * 1024
    const note = `${resultNumber(ours, 'summarised')} turns summarised, ${resultNumber(ours, 'kept')} kept, ${resultNumber(ours, 'tokens')} tokens left`
    return [
      hold({
        name: `compact a session of ${mb(LARGE_BYTES)} before loading: peak RSS`,
        value: peak,
        show: mb,
        most: 250e6,
        against: `file ${mb(LARGE_BYTES)}`,
        ratio: times(LARGE_BYTES / peak),
        note: `${mb(figures.baseRssKb * 1024)} before the first byte; ${note}`,
      }),
      hold({
        name: `compact a session of ${mb(LARGE_BYTES)} before loading: CPU`,
        value: figures.cpuMs,
        show: ms,
        note: 'compacted, restored from what stayed, and taken back',
      }),
    ]
  } finally {
    await dir.remove()
  }
}

/** A session of so many bytes: long outputs of tools, many turns, never compacted. */
async function writeLarge(configDir: string, bytes: number): Promise<void> {
  const folder = join(configDir, 'projects', '-w')
  mkdirSync(folder, { recursive: true })
  const file = createWriteStream(join(folder, `${LARGE_ID}.jsonl`))
  const make = createLines({ sessionId: LARGE_ID, cwd: '/w' })
  const output = 'src/parser/token.ts:12: a line of what a tool gave back, as tools do \n'.repeat(1_500)
  let written = 0
  for (let turn = 1; written < bytes; turn++) {
    const lines = [make.prompt(`Question ${turn}: what is in the log of run ${turn}?`)]
    for (let step = 0; step < 4; step++) {
      const id = `toolu_${turn}_${step}`
      lines.push(
        make.reply([
          { type: 'tool_use', id, name: 'Bash', input: { command: `cat run-${turn}-${step}.log` } },
        ]),
        make.result(id, output),
      )
    }
    lines.push(
      make.reply([{ type: 'text', text: `Answer ${turn}: nothing that matters, because it passed.` }]),
    )
    const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('')
    written += text.length
    if (!file.write(text)) await once(file, 'drain')
  }
  file.end()
  await once(file, 'close')
}
