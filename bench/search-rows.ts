import { field, list, number, parseJson, string } from '#base'
import type { CorpusFacts } from '#testing'
import { resultNumber, type Bench } from './bench.ts'
import { compare, hold } from './comparison.ts'
import type { Measure } from './comparison.ts'
import { startSettled, type Daemon } from './daemon.ts'
import { Entrant, Trial, quantile, race } from './measure.ts'
import { ripgrep } from './ripgrep.ts'
import { ms, type Row } from './table.ts'

const WALL: Measure = { of: (figures) => figures.wallMs, show: ms }
const COMMON = ['function', 'session', 'error', 'value', 'string', 'index'] as const
const QUERIES = 60
const WARMING = 12

/** Search with an index, over a connection that stays open, and search without one. */
export async function searchRows(bench: Bench): Promise<readonly Row[]> {
  return [...(await indexedRows(bench)), ...(await scanRows(bench))]
}

async function indexedRows({ configDir, facts, rounds, ground }: Bench): Promise<readonly Row[]> {
  const daemon = await startSettled(ground())
  try {
    const needles = facts.needles.map(({ text }) => text)
    const [rareWord = ''] = needles
    const first = (await search(daemon, COMMON[0])).ms
    const phrases = await findPhrases(daemon)
    const rare = await measured(daemon, needles)
    const phrase = await measured(daemon, phrases)
    const common = await measured(daemon, COMMON)
    const rgRare = ripgrep(configDir, rareWord)
    const rgCommon = ripgrep(configDir, COMMON[0])
    const ourRare = again(daemon, rareWord)
    const ourCommon = again(daemon, COMMON[0])
    await race([ourRare, rgRare, ourCommon, rgCommon], rounds)
    const worst = Math.max(...COMMON.map((word) => quantile(common.byQuery.get(word) ?? [], 0.95)))
    const shared = { show: ms, ratio: '' }
    return [
      hold({ ...shared, ...spread('search, rare word', rare), most: 3 }),
      hold({ ...shared, ...spread(`search, phrase of three words`, phrase), most: 3 }),
      hold({ ...shared, ...spread('search, common word', common), most: 10 }),
      hold({
        name: 'search, commonest word in order of relevance: p95',
        value: worst,
        show: ms,
        most: 20,
        note: `worst of ${COMMON.join(', ')}; hits always come best first`,
      }),
      hold({ name: 'search, the first one after a start', value: first, show: ms, note: COMMON[0] }),
      await needleRow(daemon, facts),
      compare({
        name: 'search, rare word: wall',
        ours: ourRare,
        whom: 'rg -c',
        other: rgRare,
        measure: WALL,
      }),
      compare({
        name: 'search, common word: wall',
        ours: ourCommon,
        whom: 'rg -c',
        other: rgCommon,
        measure: WALL,
        note: `${COMMON[0]}, on ${resultNumber(rgCommon, 'lines') ?? '?'} lines`,
      }),
    ]
  } finally {
    await daemon.stop()
  }
}

interface Found {
  readonly ms: number
  readonly sessions: readonly string[]
  readonly snippets: number
}

async function search(daemon: Daemon, q: string): Promise<Found> {
  const { body, ms: took } = await daemon.get(`/api/search?q=${encodeURIComponent(q)}&limit=20`)
  const hits = list(parseJson(body.toString('utf8')), 'hits')
  return {
    ms: took,
    sessions: hits.map((hit) => string(field(hit, 'session'), 'id') ?? ''),
    snippets: hits.filter((hit) => list(field(hit, 'snippet'), 'marks').length > 0).length,
  }
}

interface Measured {
  readonly all: readonly number[]
  readonly byQuery: ReadonlyMap<string, readonly number[]>
  readonly fault: string | undefined
}

async function measured(daemon: Daemon, queries: readonly string[]): Promise<Measured> {
  const all: number[] = []
  const byQuery = new Map<string, number[]>()
  let fault: string | undefined
  for (let round = -WARMING; round < QUERIES; round++) {
    const q = queries[(round + WARMING) % queries.length] ?? ''
    const found = await search(daemon, q)
    if (found.sessions.length === 0) fault ??= `nothing found for ${q}`
    if (found.snippets < found.sessions.length) fault ??= `a hit without a mark for ${q}`
    if (round < 0) continue
    all.push(found.ms)
    byQuery.set(q, [...(byQuery.get(q) ?? []), found.ms])
  }
  return { all, byQuery, fault: queries.length === 0 ? 'no query to ask' : fault }
}

function spread(
  name: string,
  { all, byQuery, fault }: Measured,
): {
  readonly name: string
  readonly value: number
  readonly against: string
  readonly note: string
  readonly fault: string | undefined
} {
  return {
    name: `${name}: p95 over HTTP`,
    value: quantile(all, 0.95),
    against: `p50 ${ms(quantile(all, 0.5))}`,
    note: `${all.length} warm queries, ${byQuery.size} different ones, 20 hits with snippets at most`,
    fault,
  }
}

function again(daemon: Daemon, q: string): Trial {
  return new Trial('search', async () => {
    const wall: number[] = []
    for (let round = 0; round < 10; round++) wall.push((await search(daemon, q)).ms)
    return { cpu: [], wall, peakRssKb: 0, baseRssKb: 0, result: undefined }
  })
}

/** Three neighbouring words from the first prompts of sessions. */
async function findPhrases(daemon: Daemon): Promise<readonly string[]> {
  const { body } = await daemon.get('/api/sessions?limit=400')
  const phrases = list(parseJson(body.toString('utf8')), 'sessions').flatMap((session) => {
    const prompt = string(session, 'firstPrompt') ?? ''
    const words = /(?<![\w`-])[a-z]{4,} [a-z]{4,} [a-z]{4,}(?![\w`-])/.exec(prompt)?.[0]
    return words === undefined || words.startsWith('live') ? [] : [`"${words}"`]
  })
  return [...new Set(phrases)].slice(0, 20)
}

async function needleRow(daemon: Daemon, { needles }: CorpusFacts): Promise<Row> {
  const lost: string[] = []
  for (const { text, where, sessionId } of needles) {
    const { sessions } = await search(daemon, text)
    if (sessions.length !== 1 || sessions[0] !== sessionId) lost.push(`${where} (${sessions.length} hits)`)
  }
  return hold({
    name: 'search: planted needles found',
    value: needles.length - lost.length,
    show: String,
    least: needles.length,
    against: `planted ${needles.length}`,
    note:
      lost.length === 0
        ? needles.map(({ where }) => where).join(', ')
        : `lost or more than once: ${lost.join(', ')}`,
  })
}

async function scanRows({ configDir, facts, rounds, ground }: Bench): Promise<readonly Row[]> {
  const home = ground().folder('no-index')
  // In a result of a tool: what reads only words of people and models does not find it.
  const needle = facts.needles.find(({ where }) => where === 'tool-output') ?? facts.needles[0]
  if (needle === undefined) return []
  const rare = new Entrant('ours scan', { configDir, home, q: needle.text })
  const common = new Entrant('ours scan', { configDir, home, q: COMMON[0] })
  const rg = ripgrep(configDir, needle.text)
  await race([rare, rg, common], Math.min(rounds, 3))
  const hits = rare.outcome.state === 'measured' ? list(rare.outcome.result, 'hits') : []
  const fault =
    hits.length === 1 && hits[0] === needle.sessionId ? undefined : `${hits.length} hits for a needle`
  const rows = [
    compare({
      name: 'search without an index, rare word: wall',
      ours: rare,
      whom: 'rg -c',
      other: rg,
      measure: WALL,
      target: { atMost: 4 },
      fault: rare.outcome.state === 'measured' ? fault : undefined,
    }),
    compare({ name: 'search without an index, rare word: CPU', ours: rare, whom: 'rg -c', other: rg }),
    compare({
      name: 'search without an index, common word: wall',
      ours: common,
      whom: 'rg -c, rare',
      other: rg,
      measure: WALL,
      note: 'until 20 hits',
    }),
  ]
  const held = [...heldMs(rare), ...heldMs(common)]
  if (held.length === 0) return rows
  return [
    ...rows,
    hold({
      name: 'search without an index: longest hold of the event loop',
      value: Math.max(...held),
      show: ms,
      most: 50,
      note: `in ${held.length} searches, each the first of its process: ${held.map(ms).join(', ')}`,
    }),
  ]
}

function heldMs({ outcome }: Entrant): readonly number[] {
  const results = outcome.state === 'measured' ? outcome.results : []
  return results.flatMap((result) => number(result, 'heldMs') ?? [])
}
