import { appendFileSync, rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { list, number, parseJson } from '#base'
import { resultNumber, type Bench } from './bench.ts'
import { compare, hold } from './comparison.ts'
import type { Measure } from './comparison.ts'
import { startDaemon, startSettled, type Daemon } from './daemon.ts'
import { toLiveLine } from './live-line.ts'
import { Entrant, Trial, median, quantile, race } from './measure.ts'
import type { Sample } from './measure.ts'
import { runProgram, toSample } from './program.ts'
import { ms, type Row } from './table.ts'

const WALL: Measure = { of: (figures) => figures.wallMs, show: ms }
const FLOOR = fileURLToPath(new URL('floor.js', import.meta.url))

/** From the start of the process to a complete list over HTTP, with nothing known and with a catalogue; then warm. */
export async function daemonRows(bench: Bench): Promise<readonly Row[]> {
  return [...(await coldRows(bench)), ...(await restartRows(bench)), ...(await warmRows(bench))]
}

async function coldRows({ configDir, facts, rounds, ground }: Bench): Promise<readonly Row[]> {
  const place = ground()
  const cold = new Trial('cold start', async () => {
    const home = place.folder('home')
    const sample = await startToList(home, place.configDir)
    rmSync(home, { recursive: true, force: true })
    return sample
  })
  const peer = new Entrant('peer list', { configDir })
  const floor = floorTrial('windows', configDir)
  await race([cold, peer, floor], rounds)
  const name = 'start -> list over HTTP, no cache'
  const fault = listFault(cold, facts.sessions.length)
  // 15 times less is what 2,000 sessions ask for; the start of a process does not get shorter with fewer.
  const atLeast = Math.round((150 * facts.sessions.length) / 2000) / 10
  const files = `node start, stat, 4 KB head + tail of ${resultNumber(floor, 'files') ?? '?'} files`
  return [
    compare({
      name: `${name}: CPU`,
      ours: cold,
      whom: 'SDK in process',
      other: peer,
      target: { atLeast },
      fault,
    }),
    compare({
      name: `${name}: CPU`,
      ours: cold,
      whom: 'limit',
      other: floor,
      target: { atMost: 2 },
      fault,
      note: files,
    }),
    compare({ name: `${name}: wall`, ours: cold, whom: 'SDK in process', other: peer, measure: WALL }),
    compare({ name: `${name}: wall`, ours: cold, whom: 'limit', other: floor, measure: WALL }),
  ]
}

async function restartRows({ configDir, facts, rounds, ground }: Bench): Promise<readonly Row[]> {
  const place = ground()
  // Its index is built before the race.
  await (await startSettled(place)).stop()
  const restart = new Trial('restart', () => startToList(place.settledHome ?? '', place.configDir))
  const floor = floorTrial('stat', configDir)
  await race([restart, floor], Math.max(rounds, 5))
  const name = 'restart -> list over HTTP'
  const fault = listFault(restart, facts.sessions.length)
  const note = `node start, stat of ${resultNumber(floor, 'files') ?? '?'} files`
  return [
    compare({
      name: `${name}: CPU`,
      ours: restart,
      whom: 'limit',
      other: floor,
      target: { atMost: 1.5 },
      fault,
      note,
    }),
    compare({ name: `${name}: wall`, ours: restart, whom: 'limit', other: floor, measure: WALL }),
  ]
}

/** Starts a daemon and asks it for the list: what the process took until the last byte was there. */
export async function startToList(home: string, configDir: string): Promise<Sample> {
  const daemon = await startDaemon(home, configDir)
  try {
    const { body } = await daemon.get('/api/sessions')
    const cpuMs = daemon.cpuMs()
    const wallMs = performance.now() - daemon.startedAt
    const peakRssKb = daemon.peakBytes() / 1024
    return { ...toSample({ cpuMs, wallMs }, { sessions: sessionsIn(body) }), peakRssKb }
  } finally {
    await daemon.stop()
  }
}

function floorTrial(what: 'stat' | 'windows', configDir: string): Trial {
  return new Trial(`floor ${what}`, async () => {
    const { stdout, wallMs } = await runProgram(process.execPath, [FLOOR, what, configDir], {
      env: process.env,
    })
    const said = parseJson(stdout)
    const cpuMs = number(said, 'cpuMs')
    if (cpuMs === undefined) throw new Error(`it said ${stdout.slice(0, 100)}`)
    return toSample({ cpuMs, wallMs }, said)
  })
}

const WARM_LISTS = 60

/** Every list comes after a line was appended to one session, so none is the list of the time before. */
async function warmRows({ configDir, facts, ground }: Bench): Promise<readonly Row[]> {
  const place = ground()
  const peer = new Entrant('peer list', { configDir }, 2)
  await race([peer], 1)
  const daemon = await startSettled(place)
  try {
    for (let round = 0; round < 5; round++) await daemon.get('/api/sessions')
    const before = await newest(daemon)
    const cpuBefore = daemon.cpuMs()
    const trips: number[] = []
    let body = Buffer.alloc(0)
    for (let round = 0; round < WARM_LISTS; round++) {
      appendFileSync(place.live.path, toLiveLine(place.live.id, { n: round, bytes: 200 }))
      await sleep(25)
      const answer = await daemon.get('/api/sessions')
      trips.push(answer.ms)
      body = Buffer.from(answer.body)
    }
    const cpuMs = (daemon.cpuMs() - cpuBefore) / WARM_LISTS
    const after = await newest(daemon)
    // The log is written behind the answers.
    await sleep(100)
    const inside = daemon.loggedMs('sessions').slice(-WARM_LISTS - 1)
    const found = sessionsIn(body)
    const fault =
      found !== facts.sessions.length
        ? `${found} sessions listed of ${facts.sessions.length}`
        : after === before
          ? 'the list does not change with its sessions'
          : undefined
    const warm = new Trial('warm list', async () => toSample({ cpuMs, wallMs: median(trips) }))
    await race([warm], 1)
    return [
      hold({
        name: `warm list of ${found}, a session appended to before each: in server`,
        value: median(inside),
        show: ms,
        most: 2,
        against: `round trip p50 ${ms(median(trips))}, p95 ${ms(quantile(trips, 0.95))}`,
        fault,
        note: `median of ${WARM_LISTS}, ${(body.length / 1e3).toFixed(0)} KB each; in server p95 ${ms(quantile(inside, 0.95))}`,
      }),
      compare({
        name: 'warm list: CPU, following the append included',
        ours: warm,
        whom: 'SDK, warm',
        other: peer,
        fault,
      }),
    ]
  } finally {
    await daemon.stop()
  }
}

async function newest(daemon: Daemon): Promise<string> {
  const { body } = await daemon.get('/api/sessions?limit=1')
  return JSON.stringify(list(parseJson(body.toString('utf8')), 'sessions'))
}

function sessionsIn(body: Buffer): number {
  return list(parseJson(body.toString('utf8')), 'sessions').length
}

function listFault(trial: Trial, wanted: number): string | undefined {
  const found = resultNumber(trial, 'sessions')
  return found === undefined || found === wanted ? undefined : `${found} sessions listed of ${wanted}`
}
