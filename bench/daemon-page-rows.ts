import { fromWireReading } from '#wire'
import { createBytesCodec } from '#client'
import { list, parseJson } from '#base'
import type { CorpusSession } from '#testing'
import { resultNumber, type Bench } from './bench.ts'
import { compare } from './comparison.ts'
import type { Measure } from './comparison.ts'
import { startSettled, type Daemon } from './daemon.ts'
import type { Ground } from './ground.ts'
import type { JobArguments } from './jobs.ts'
import { Entrant, Trial, race } from './measure.ts'
import type { Sample } from './measure.ts'
import { toUuids } from './ours.ts'
import { toSample } from './program.ts'
import { mb, ms, type Row } from './table.ts'

const WALL: Measure = { of: (figures) => figures.wallMs, show: ms }
const ENTRIES = 50

/** Sessions opened over HTTP in a daemon that was just started: CPU time of the whole daemon for the request. */
export async function daemonPageRows(bench: Bench): Promise<readonly Row[]> {
  return [...(await lastPageRows(bench)), ...(await viewRows(bench))]
}

async function lastPageRows({ configDir, facts, rounds, ground }: Bench): Promise<readonly Row[]> {
  const place = ground()
  const { biggest } = facts
  const big = firstOpen(place, biggest)
  const small = firstOpen(place, place.small)
  const told: JobArguments = { configDir, id: biggest.id, path: biggest.path, entries: ENTRIES }
  const peer = new Entrant('peer last page', told, 1)
  await race([big, small, peer], Math.min(rounds, 3))
  // The peer takes long and varies little, a first open is short and varies much.
  await race([big, small], 5)
  const of = `of ${mb(biggest.bytes)}`
  const name = `last page ${of} over HTTP, first open`
  const note = `daemon just started, index complete; ${mb(resultNumber(big, 'bytes') ?? 0)} answered`
  const smallName = mb(place.small.bytes)
  const fault = pageFault(big)
  const shared = { name: `${name}: wall`, ours: big, measure: WALL }
  // 500 times less is what 300 MB ask for; a smaller session is read in less time, a page of it is not.
  const atLeast = Math.round((500 * biggest.bytes) / 300e6)
  return [
    compare({ name: `${name}: CPU`, ours: big, whom: 'SDK', other: peer, target: { atLeast }, fault, note }),
    compare({ ...shared, whom: 'SDK', other: peer }),
    compare({
      name: `${name}: CPU`,
      ours: big,
      whom: `of ${smallName}`,
      other: small,
      target: { atMost: 1.5 },
      fault: pageFault(small),
      note: `${mb(resultNumber(small, 'bytes') ?? 0)} answered of the small one`,
    }),
    compare({ ...shared, whom: `of ${smallName}`, other: small }),
  ]
}

function firstOpen(place: Ground, { id }: CorpusSession): Trial {
  return new Trial('first open', () =>
    inNewDaemon(place, async (daemon) => {
      const { sample, body } = await measured(daemon, `/api/sessions/${id}/entries?limit=${ENTRIES}&raw=0`)
      const entries = list(parseJson(body.toString('utf8')), 'readings').length
      return { ...sample, result: { entries, bytes: body.length } }
    }),
  )
}

function pageFault(page: Trial): string | undefined {
  const entries = resultNumber(page, 'entries')
  return entries === undefined || entries === ENTRIES ? undefined : `${entries} entries, not ${ENTRIES}`
}

async function viewRows({ configDir, facts, rounds, ground }: Bench): Promise<readonly Row[]> {
  const place = ground()
  const rows: Row[] = []
  for (const { session, atLeast } of viewed(facts.compacted, facts.biggest)) {
    const told: JobArguments = { configDir, id: session.id, path: session.path }
    const ours = new Trial('conversation', () => inNewDaemon(place, (daemon) => readViews(daemon, session)))
    const peer = new Entrant('peer view', told, 3)
    await race([ours, peer], Math.min(rounds, 3))
    rows.push(
      compare({
        name: `what the model sees over HTTP, ${mb(session.bytes)}: CPU`,
        ours,
        whom: 'SDK',
        other: peer,
        target: { atLeast },
        fault: differs(ours, peer) ? 'not the uuids the SDK gives' : undefined,
        note: `same ${session.visible} uuids; first call ${firstCall(ours)}, SDK ${firstCall(peer)}`,
      }),
    )
  }
  return rows
}

/** 150 times less is what 300 MB ask for. */
function viewed(
  compacted: CorpusSession,
  biggest: CorpusSession,
): readonly { readonly session: CorpusSession; readonly atLeast: number }[] {
  const atLeast = Math.max(30, Math.round((150 * biggest.bytes) / 300e6))
  const first = { session: compacted, atLeast: 30 }
  return biggest.id === compacted.id ? [first] : [first, { session: biggest, atLeast }]
}

const VIEWS = 20

async function readViews(daemon: Daemon, { id }: CorpusSession): Promise<Sample> {
  const path = `/api/sessions/${id}/conversation?raw=0`
  const first = await measured(daemon, path)
  const before = daemon.cpuMs()
  const wall: number[] = []
  for (let round = 0; round < VIEWS; round++) wall.push((await daemon.get(path)).ms)
  const each = (daemon.cpuMs() - before) / VIEWS
  const codec = createBytesCodec()
  const entries = list(parseJson(first.body.toString('utf8')), 'readings').flatMap((one) => {
    const reading = fromWireReading(one, codec)
    return reading.kind === 'entry' ? [reading.entry] : []
  })
  return {
    ...first.sample,
    cpu: [...first.sample.cpu, ...wall.map(() => each)],
    wall: [...first.sample.wall, ...wall],
    result: toUuids(entries),
  }
}

function differs(ours: Trial, peer: Entrant): boolean {
  return (
    ours.outcome.state === 'measured' &&
    peer.outcome.state === 'measured' &&
    String(ours.outcome.result) !== String(peer.outcome.result)
  )
}

function firstCall({ outcome }: Trial | Entrant): string {
  return outcome.state === 'measured' ? ms(outcome.figures.firstCpuMs) : 'n/a'
}

async function inNewDaemon(place: Ground, use: (daemon: Daemon) => Promise<Sample>): Promise<Sample> {
  const daemon = await startSettled(place)
  try {
    return await use(daemon)
  } finally {
    await daemon.stop()
  }
}

/** One request, and what the daemon took for it. */
async function measured(
  daemon: Daemon,
  path: string,
): Promise<{ readonly sample: Sample; readonly body: Buffer }> {
  const before = daemon.cpuMs()
  const { body, ms: wallMs } = await daemon.get(path)
  return { sample: toSample({ cpuMs: daemon.cpuMs() - before, wallMs }), body }
}
