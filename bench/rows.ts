import { list } from '#base'
import type { CorpusFacts, CorpusSession } from '#testing'
import { resultNumber, type Bench } from './bench.ts'
import { compare } from './comparison.ts'
import type { Measure, Target } from './comparison.ts'
import type { JobArguments } from './jobs.ts'
import { Entrant, race } from './measure.ts'
import { mb, ms } from './table.ts'
import type { Row } from './table.ts'

const PEAK: Measure = { of: (figures) => figures.peakRssKb * 1024, show: mb }
const GROWTH: Measure = { of: (figures) => (figures.peakRssKb - figures.baseRssKb) * 1024, show: mb }
const WALL: Measure = { of: (figures) => figures.wallMs, show: ms }

export async function listRows({ configDir, facts, rounds }: Bench): Promise<readonly Row[]> {
  const told: JobArguments = { configDir }
  // As `throughline ls` runs it: a list is over before the code that makes it would be compiled.
  const ours = new Entrant('ours list', told, 1, ['--no-opt'])
  const compiled = new Entrant('ours list', told)
  const peer = new Entrant('peer list', told)
  const stat = new Entrant('limit stat', told)
  const windows = new Entrant('limit windows', told)
  const warm = new Entrant('ours list', told, 10)
  const warmPeer = new Entrant('peer list', told, 2)
  await race([ours, compiled, peer, stat, windows], rounds)
  await race([warm, warmPeer], Math.min(rounds, 2))
  const found = resultNumber(ours, 'sessions')
  // The SDK hides the session that has no message; whether a list shows it is a matter of taste.
  const visible = facts.sessions.filter((session) => session.visible > 0).length
  const fault =
    found !== undefined && (found < visible || found > facts.sessions.length)
      ? `${found} sessions listed, ${visible} have messages`
      : undefined
  const shown = resultNumber(peer, 'sessions') ?? '?'
  const note = `optimising compiler off, as in ls; SDK lists ${shown} of ${facts.sessions.length} sessions`
  return [
    compare({ name: 'list all: CPU', ours, whom: 'SDK', other: peer, target: { atLeast: 10 }, fault, note }),
    compare({ name: 'list all: wall', ours, whom: 'SDK', other: peer, measure: WALL }),
    compare({ name: 'list all, optimising compiler on: CPU', ours: compiled, whom: 'SDK', other: peer }),
    compare({ name: 'list all, warm process: CPU', ours: warm, whom: 'SDK, warm', other: warmPeer }),
    compare({ name: 'list all: CPU', ours, whom: 'stat each', other: stat }),
    compare({ name: 'list all: CPU', ours, whom: 'open, 4 KB head + tail', other: windows }),
    compare({
      name: 'list all: peak RSS',
      ours,
      whom: 'SDK',
      other: peer,
      measure: PEAK,
      ...fifthOf(peer, PEAK),
    }),
    compare({ name: 'list all: RSS growth', ours, whom: 'SDK', other: peer, measure: GROWTH }),
  ]
}

/** A Node process that does nothing has 45 MB: a fifth of what the SDK takes is a target only beyond that. */
function fifthOf({ outcome }: Entrant, { of }: Measure): { readonly target?: Target } {
  return outcome.state === 'measured' && of(outcome.figures) > 5 * 60e6 ? { target: { atLeast: 5 } } : {}
}

export async function pageRows({ configDir, facts, rounds }: Bench): Promise<readonly Row[]> {
  const { id, path, bytes } = facts.biggest
  const told: JobArguments = { configDir, id, path, entries: 50 }
  const last = new Entrant('ours last page', told, 15)
  const first = new Entrant('ours first page', told, 15)
  const peerLast = new Entrant('peer last page', told, 2)
  const peerFirst = new Entrant('peer first page', told, 2)
  await race([last, first, peerLast, peerFirst], Math.min(rounds, 3))
  // 500 times less is what 300 MB ask for; a smaller session is read in less time, a page of it is not.
  const atLeast = Math.round((500 * bytes) / 300e6)
  const of = `of ${mb(bytes)}`
  return [
    compare({
      name: `last page ${of}: CPU`,
      ours: last,
      whom: 'SDK',
      other: peerLast,
      target: { atLeast },
      fault: pageFault(last),
      note: pageNote(last),
    }),
    compare({ name: `last page ${of}: wall`, ours: last, whom: 'SDK', other: peerLast, measure: WALL }),
    compare({
      name: `first page ${of}: CPU`,
      ours: first,
      whom: 'SDK',
      other: peerFirst,
      fault: pageFault(first),
      note: pageNote(first),
    }),
  ]
}

function firstCall({ outcome }: Entrant): string {
  return outcome.state === 'measured' ? ms(outcome.figures.firstCpuMs) : 'n/a'
}

function pageFault(page: Entrant): string | undefined {
  const entries = resultNumber(page, 'entries')
  return entries === undefined || entries === 50 ? undefined : `${entries} entries, not 50`
}

function pageNote(page: Entrant): string | undefined {
  const read = resultNumber(page, 'bytesRead')
  const { outcome } = page
  if (outcome.state !== 'measured' || read === undefined) return undefined
  return `${mb(read)} read; first call ${ms(outcome.figures.firstCpuMs)}`
}

export async function viewRows({ configDir, facts, rounds }: Bench): Promise<readonly Row[]> {
  const { id, path, bytes, visible } = facts.compacted
  const sample = viewSample(facts).map((session) => ({
    id: session.id,
    path: session.path,
    visible: session.visible,
  }))
  const compared = new Entrant('compare views', { configDir, sample })
  await race([compared], 1)
  const told: JobArguments = { configDir, id, path }
  // Both warm, and the peer for longer: five of its calls take more time than all of ours.
  const ours = new Entrant('ours view', told, 60)
  const peer = new Entrant('peer view', told, 5)
  await race([ours, peer], Math.min(rounds, 3))
  const checked = resultNumber(compared, 'checked') ?? 0
  const equal = resultNumber(compared, 'equal')
  return [
    compare({
      name: `what the model sees, ${mb(bytes)}: CPU`,
      ours,
      whom: 'SDK',
      other: peer,
      target: { atLeast: 30 },
      fault: sameUuids(ours, peer) ? undefined : 'not the uuids the SDK gives',
      note: `${visible} messages; first call ${firstCall(ours)}, SDK ${firstCall(peer)}`,
    }),
    {
      name: 'what the model sees: same uuids',
      ours: equal === undefined ? 'n/a' : `equal ${equal}/${checked}`,
      against: `SDK as generated ${resultNumber(compared, 'asGenerated') ?? '?'}/${checked}`,
      ratio: '',
      target: 'all',
      met: equal === undefined ? 'n/a' : equal === checked ? 'yes' : 'NO',
      note: differences(compared),
    },
  ]
}

function sameUuids(ours: Entrant, peer: Entrant): boolean {
  return (
    ours.outcome.state === 'measured' &&
    peer.outcome.state === 'measured' &&
    String(ours.outcome.result) === String(peer.outcome.result)
  )
}

function differences({ outcome }: Entrant): string {
  if (outcome.state === 'failed') return outcome.message
  return outcome.state === 'measured' ? list(outcome.result, 'differing').map(String).join(' ') : ''
}

/** About sixty sessions: all that were compacted or rewound or forked, as far as they go, and some of the others. */
function viewSample({ sessions }: CorpusFacts): readonly CorpusSession[] {
  const compacted = sessions.filter((session) => session.compactions > 0)
  const bent = sessions.filter(
    (session) => session.compactions === 0 && (session.rewinds > 0 || session.forkOf),
  )
  const plain = sessions.filter(
    (session) => session.compactions === 0 && session.rewinds === 0 && !session.forkOf,
  )
  return [...compacted, ...evenly(bent, 15), ...evenly(plain, 30)]
}

function evenly<Item>(items: readonly Item[], wanted: number): readonly Item[] {
  const step = Math.max(1, Math.floor(items.length / wanted))
  return items.filter((_, index) => index % step === 0).slice(0, wanted)
}

export async function readRows({ configDir, facts, rounds }: Bench): Promise<readonly Row[]> {
  const told: JobArguments = { configDir }
  const ours = new Entrant('ours read all', told)
  const parse = new Entrant('limit parse all', told)
  const raw = new Entrant('limit read all', told)
  await race([ours, parse, raw], Math.min(rounds, 3))
  const rate: Measure = {
    of: (figures) => figures.cpuMs,
    show: (cpu) => `${(facts.bytes / 1000 / cpu).toFixed(0)} MB/s`,
  }
  const bytes = resultNumber(ours, 'bytes')
  const fault =
    bytes === undefined || bytes === facts.bytes ? undefined : `${bytes} bytes read of ${facts.bytes}`
  const note = `${mb(facts.bytes)}, ${facts.lines} lines, per second of CPU`
  return [
    compare({
      name: 'read everything: MB/CPU-s',
      ours,
      whom: 'JSON.parse',
      other: parse,
      measure: rate,
      target: { atLeast: 1 },
      fault,
      note,
    }),
    compare({ name: 'read everything: MB/CPU-s', ours, whom: 'raw read', other: raw, measure: rate }),
    compare({ name: 'read everything: peak RSS', ours, whom: 'JSON.parse', other: parse, measure: PEAK }),
  ]
}

export async function memoryRows({
  configDir,
  facts,
  longLine,
  longLineDir,
}: Bench): Promise<readonly Row[]> {
  const big: JobArguments = { configDir, id: facts.biggest.id, path: facts.biggest.path }
  const long: JobArguments = { configDir: longLineDir, id: longLine.id, path: longLine.path }
  const ours = new Entrant('ours read one', big)
  const peer = new Entrant('peer view', big)
  const oursLong = new Entrant('ours read one', long)
  const peerLong = new Entrant('peer view', long)
  await race([ours, peer, oursLong, peerLong], 1)
  return [
    ceiling(`peak RSS, ${mb(facts.biggest.bytes)} session`, ours, peer, 160e6),
    ceiling(`peak RSS, one line of ${mb(longLine.bytes)}`, oursLong, peerLong, 400e6),
  ]
}

/** Memory has a ceiling of its own; the SDK beside it is for information. */
function ceiling(name: string, ours: Entrant, peer: Entrant, most: number): Row {
  const row = {
    ...compare({ name, ours, whom: 'SDK', other: peer, measure: PEAK }),
    target: `<= ${mb(most)}`,
  }
  if (ours.outcome.state !== 'measured') return row
  const { figures } = ours.outcome
  return {
    ...row,
    met: PEAK.of(figures) <= most ? 'yes' : 'NO',
    note: `${mb(figures.baseRssKb * 1024)} before the first byte`,
  }
}
