import { rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { resultNumber, type Bench } from './bench.ts'
import { compare } from './comparison.ts'
import type { Measure } from './comparison.ts'
import { startToList } from './daemon-rows.ts'
import { startSettled, type Daemon } from './daemon.ts'
import { Trial, race } from './measure.ts'
import type { Sample } from './measure.ts'
import { PEERS, type PeerName } from './peer-install.ts'
import { startPeer, type PeerServer } from './peer-servers.ts'
import { toSample } from './program.ts'
import { mb, ms, type Row } from './table.ts'

const WALL: Measure = { of: (figures) => figures.wallMs, show: ms }
const PEAK: Measure = { of: (figures) => figures.peakRssKb * 1024, show: mb }
const NAMES: readonly PeerName[] = ['claude-run', 'cloudcli']
const WARM_LISTS = 10
const SEARCHES = 3

/** Other servers on the same transcripts. For information: they do other things too, and not all of these. */
export async function peerRows(bench: Bench): Promise<readonly Row[]> {
  const { rounds, ground } = bench
  const place = ground()
  const cold = new Trial('start', async () => {
    const home = place.folder('home')
    const sample = await startToList(home, place.configDir)
    rmSync(home, { recursive: true, force: true })
    return sample
  })
  const peers = NAMES.map((name) => measuredPeer(bench, name))
  await race([cold, ...peers.map(({ start }) => start)], Math.min(rounds, 2))
  const daemon = await startSettled(place)
  try {
    const warm = warmList(daemon)
    const rare = search(daemon, bench.facts.needles[0]?.text ?? '')
    const common = search(daemon, 'function')
    await race([warm, rare, common], 2)
    return peers.flatMap(({ name, start, list, rareWord, commonWord }) => {
      const whom = `${name} ${PEERS[name].version}`
      const lists = `it lists ${resultNumber(start, 'sessions') ?? '?'} of ${bench.facts.sessions.length} sessions`
      const note = name === 'claude-run' ? `${lists} from its history, looks at no transcript` : lists
      const row = { whom, measure: WALL }
      return [
        compare({ ...row, name: 'peer, start -> list, no cache: wall', ours: cold, other: start, note }),
        compare({ whom, name: 'peer, start -> list, no cache: CPU', ours: cold, other: start }),
        compare({ whom, name: 'peer, start -> list: peak RSS', ours: cold, other: start, measure: PEAK }),
        compare({ ...row, name: 'peer, warm list: wall', ours: warm, other: list }),
        ...(name === 'cloudcli'
          ? [
              compare({
                ...row,
                name: 'peer, search, rare word: wall',
                ours: rare,
                other: rareWord,
                note: found(rareWord),
              }),
              compare({
                ...row,
                name: 'peer, search, common word: wall',
                ours: common,
                other: commonWord,
                note: found(commonWord),
              }),
            ]
          : []),
      ]
    })
  } finally {
    await daemon.stop()
  }
}

interface MeasuredPeer {
  readonly name: PeerName
  readonly start: Trial
  /** Filled by the laps of `start`: a peer that runs is asked all there is to ask. */
  readonly list: Trial
  readonly rareWord: Trial
  readonly commonWord: Trial
}

function measuredPeer({ configDir, facts, ground }: Bench, name: PeerName): MeasuredPeer {
  const place = ground()
  const root = dirname(dirname(configDir))
  let running: PeerServer | undefined
  const asked = (): PeerServer => {
    if (running === undefined) throw new Error('it does not run')
    return running
  }
  const list = new Trial(name, async () => {
    const wall: number[] = []
    for (let round = 0; round < WARM_LISTS; round++) wall.push((await asked().list()).ms)
    return { ...toSample({ cpuMs: 0, wallMs: 0 }), wall }
  })
  const rareWord = new Trial(name, () => searchPeer(asked(), facts.needles[0]?.text ?? ''))
  const commonWord = new Trial(name, () => searchPeer(asked(), 'function'))
  const start = new Trial(name, async () => {
    const home = place.folder(name)
    try {
      running = await startPeer(name, { root, home, corpusDir: configDir, facts })
      const { sessions } = await running.list()
      const took = { cpuMs: running.cpuMs(), wallMs: performance.now() - running.startedAt }
      await race([list, ...(name === 'cloudcli' ? [rareWord, commonWord] : [])], 1)
      return { ...toSample(took, { sessions }), peakRssKb: running.peakBytes() / 1024 }
    } finally {
      await running?.stop()
      running = undefined
      rmSync(home, { recursive: true, force: true })
    }
  })
  return { name, start, list, rareWord, commonWord }
}

async function searchPeer(server: PeerServer, word: string): Promise<Sample> {
  const wall: number[] = []
  let isFound = 0
  for (let round = 0; round < SEARCHES; round++) {
    const { ms: took, found: one } = await server.search(word)
    wall.push(took)
    isFound = one ? 1 : 0
  }
  return { ...toSample({ cpuMs: 0, wallMs: 0 }, { isFound }), wall }
}

function found(trial: Trial): string {
  return resultNumber(trial, 'isFound') === 1 ? 'it finds it' : 'it does not find it'
}

function warmList(daemon: Daemon): Trial {
  return new Trial('warm list', async () => {
    const wall: number[] = []
    for (let round = 0; round < WARM_LISTS; round++) wall.push((await daemon.get('/api/sessions')).ms)
    return { ...toSample({ cpuMs: 0, wallMs: 0 }), wall }
  })
}

function search(daemon: Daemon, word: string): Trial {
  return new Trial('search', async () => {
    const wall: number[] = []
    for (let round = 0; round < SEARCHES; round++) {
      wall.push((await daemon.get(`/api/search?q=${encodeURIComponent(word)}&limit=20`)).ms)
    }
    return { ...toSample({ cpuMs: 0, wallMs: 0 }), wall }
  })
}
