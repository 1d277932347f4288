import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { field, number, parseJson } from '#base'
import type { CorpusFacts } from '#testing'
import { resultNumber, type Bench } from './bench.ts'
import { compare, missing } from './comparison.ts'
import { startSettled } from './daemon.ts'
import { Absent, Entrant, Trial, race } from './measure.ts'
import type { Racer } from './measure.ts'
import { runProgram, toSample } from './program.ts'
import type { Row } from './table.ts'

const KEYS = ['inputTokens', 'outputTokens', 'cacheCreationTokens', 'cacheReadTokens'] as const

/** Token totals of everything: read from the files, and from the index. */
export async function usageRows(bench: Bench): Promise<readonly Row[]> {
  const { configDir, facts, rounds, ground } = bench
  const place = ground()
  const full = new Entrant('ours usage', { configDir })
  const report = new Entrant('ours usage report', { configDir, home: place.folder('no-index') })
  const parse = new Entrant('limit parse all', { configDir })
  const theirs = ccusage(configDir, place.folder('ccusage'))
  await race([full, report, parse, theirs], Math.min(rounds, 3))
  const difference = differenceOf(theirs, facts)
  return [
    exactRow('token totals, full list: exact', full, facts),
    compare({ name: 'token totals, full list: CPU', ours: full, whom: 'JSON.parse', other: parse }),
    exactRow('token totals, no index: exact', report, facts),
    compare({
      name: 'token totals, no index: CPU',
      ours: report,
      whom: 'ccusage',
      other: theirs,
      target: { atMost: 0.5 },
      fault: faultOf(report, facts),
      note: difference,
    }),
    ...(await indexedRows(bench, theirs).catch((error: unknown) => [missing('token totals, index', error)])),
  ]
}

const CALLS = 10

async function indexedRows(
  { configDir, facts, rounds, ground }: Bench,
  theirs: Trial,
): Promise<readonly Row[]> {
  const place = ground()
  const daemon = await startSettled(place)
  try {
    const ours = new Trial('usage', async () => {
      const before = daemon.cpuMs()
      const wall: number[] = []
      let said: unknown
      for (let round = 0; round < CALLS; round++) {
        const { body, ms } = await daemon.get('/api/usage?by=model')
        wall.push(ms)
        said = parseJson(body.toString('utf8'))
      }
      const each = (daemon.cpuMs() - before) / CALLS
      return { cpu: wall.map(() => each), wall, peakRssKb: 0, baseRssKb: 0, result: toTotals(said) }
    })
    await race([ours, theirs], Math.min(rounds, 2))
    return [
      exactRow('token totals, index over HTTP: exact', ours, facts),
      compare({
        name: 'token totals, index over HTTP: CPU',
        ours,
        whom: 'ccusage',
        other: theirs,
        target: { atMost: 0.5 },
        fault: faultOf(ours, facts),
        note: `of ${configDir === place.configDir ? 'the same' : 'a linked copy of the same'} transcripts`,
      }),
    ]
  } finally {
    await daemon.stop()
  }
}

function toTotals(report: unknown): Readonly<Record<(typeof KEYS)[number], number>> {
  const usage = field(field(report, 'total'), 'usage')
  return {
    inputTokens: number(usage, 'input') ?? Number.NaN,
    outputTokens: number(usage, 'output') ?? Number.NaN,
    cacheCreationTokens: number(usage, 'cacheCreation') ?? Number.NaN,
    cacheReadTokens: number(usage, 'cacheRead') ?? Number.NaN,
  }
}

/** The program itself, without the script that looks for it. It has a home of its own, and asks nobody for prices. */
function ccusage(configDir: string, home: string): Trial {
  return new Trial('ccusage', async () => {
    const env = { PATH: process.env['PATH'], HOME: home, CLAUDE_CONFIG_DIR: configDir }
    const ran = await runProgram(findCcusage(), ['claude', 'daily', '--json', '--offline'], { env })
    const totals = field(parseJson(ran.stdout), 'totals')
    if (totals === undefined) throw new Error(`no totals, ended with ${ran.code}`)
    return toSample(ran, totals)
  })
}

function findCcusage(): string {
  const { resolve } = createRequire(import.meta.url)
  try {
    const near = dirname(resolve('ccusage/package.json'))
    const native = `@ccusage/ccusage-${process.platform}-${process.arch}`
    const found = [join(near, '..', native), join(near, 'node_modules', native)]
      .map((folder) => join(folder, 'bin', 'ccusage'))
      .find((path) => existsSync(path))
    if (found !== undefined) return found
  } catch {
    // Told below.
  }
  throw new Absent('ccusage is not installed, or not for this machine')
}

function wrongIn(ours: Racer, { usage }: CorpusFacts): readonly string[] {
  return KEYS.flatMap((key) => {
    const said = resultNumber(ours, key)
    return said === usage[key] ? [] : [`${key} ${said}, not ${usage[key]}`]
  })
}

function faultOf(ours: Racer, facts: CorpusFacts): string | undefined {
  const wrong = ours.outcome.state === 'measured' ? wrongIn(ours, facts) : []
  return wrong.length === 0 ? undefined : wrong.join(', ')
}

/** Held against what the generator wrote. */
function exactRow(name: string, ours: Racer, facts: CorpusFacts): Row {
  const { outcome } = ours
  const wrong = wrongIn(ours, facts)
  const note =
    outcome.state === 'failed' ? outcome.message : outcome.state === 'measured' ? wrong.join(', ') : ''
  return {
    name,
    ours: outcome.state === 'measured' ? `${KEYS.length - wrong.length}/${KEYS.length} equal` : 'n/a',
    against: `${facts.usage.messages} messages`,
    ratio: '',
    target: 'all',
    met: outcome.state === 'pending' ? 'n/a' : wrong.length === 0 ? 'yes' : 'NO',
    note,
  }
}

/** How far another's totals are from what the generator wrote. */
function differenceOf(theirs: Racer, { usage }: CorpusFacts): string | undefined {
  if (theirs.outcome.state !== 'measured') return undefined
  const apart = KEYS.flatMap((key) => {
    const said = resultNumber(theirs, key) ?? Number.NaN
    return said === usage[key] ? [] : [`${key} ${said - usage[key] > 0 ? '+' : ''}${said - usage[key]}`]
  })
  return apart.length === 0 ? 'ccusage says the same totals' : `ccusage differs: ${apart.join(', ')}`
}
