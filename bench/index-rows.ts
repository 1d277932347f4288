import type { Bench } from './bench.ts'
import { compare, hold, missing } from './comparison.ts'
import type { Measure } from './comparison.ts'
import { buildIndex, startSettled, type IndexBuild } from './daemon.ts'
import { Entrant, Trial, median, race } from './measure.ts'
import { toSample } from './program.ts'
import { mb, ms, type Row } from './table.ts'

/** A full build in the daemon: CPU time of all its threads from its start to a complete index. */
export async function indexRows(bench: Bench): Promise<readonly Row[]> {
  const { configDir, facts, rounds, ground } = bench
  const place = ground()
  const builds: IndexBuild[] = []
  const ours = new Trial('full index', async () => {
    const build = await buildIndex(place)
    builds.push(build)
    return toSample(build)
  })
  const parse = new Entrant('limit parse all', { configDir })
  await race([ours, parse], Math.min(rounds, 2))
  const rate = (cpuMs: number): number => facts.bytes / 1000 / cpuMs
  const perSecond: Measure = { of: (figures) => figures.cpuMs, show: (cpu) => `${rate(cpu).toFixed(0)} MB/s` }
  const note = `${mb(facts.bytes)} of transcripts, start of the daemon included`
  const against = compare({
    name: 'full index: MB per CPU-second',
    ours,
    whom: 'JSON.parse',
    other: parse,
    measure: perSecond,
    note,
  })
  const { outcome } = ours
  if (outcome.state !== 'measured') return [against]
  const share = (median(builds.map((build) => build.indexBytes)) / facts.bytes) * 100
  const rows = [
    {
      ...against,
      target: '>= 100 MB/s',
      met: rate(outcome.figures.cpuMs) >= 100 ? ('yes' as const) : ('NO' as const),
    },
    hold({ name: 'full index: wall', value: outcome.figures.wallMs, show: ms }),
    hold({
      name: 'full index: size on disk',
      value: share,
      show: (percent) => `${percent.toFixed(1)} %`,
      most: 15,
      against: `transcripts ${mb(facts.bytes)}`,
      note: mb(median(builds.map((build) => build.indexBytes))),
    }),
    hold({
      name: 'full index: peak RSS of the daemon',
      value: Math.max(...builds.map((build) => build.peakBytes)),
      show: mb,
      most: 256e6,
    }),
  ]
  return [...rows, await servingMemory(bench).catch((error: unknown) => missing('serving: peak RSS', error))]
}

const QUERIES = [
  'function',
  'session',
  'error value',
  '"the quick"',
  'parse*',
  'tool:Bash error',
  'role:user index',
]

async function servingMemory({ facts, ground }: Bench): Promise<Row> {
  const daemon = await startSettled(ground())
  try {
    await daemon.get('/api/sessions')
    await daemon.get(`/api/sessions/${facts.biggest.id}/entries?limit=50`)
    for (let round = 0; round < 20; round++) {
      const q = facts.needles[round]?.text ?? QUERIES[round % QUERIES.length] ?? ''
      await daemon.get(`/api/search?q=${encodeURIComponent(q)}&limit=20`)
    }
    return hold({
      name: `serving: peak RSS after list, last page of ${mb(facts.biggest.bytes)}, 20 searches`,
      value: daemon.peakBytes(),
      show: mb,
      most: 128e6,
    })
  } finally {
    await daemon.stop()
  }
}
