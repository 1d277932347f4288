import { randomUUID } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { setTimeout as sleep } from 'node:timers/promises'
import { cpuMsOf, endChild, memoryOf, startChild, untilQuiet, type Memory } from './children.ts'
import { hold } from './comparison.ts'
import { median } from './measure.ts'
import { startWatched, type RunningPlace } from './running-place.ts'
import { mb, ms, times, type Row } from './table.ts'

const HOST = fileURLToPath(new URL('../../dist/bin/host.js', import.meta.url))
/** The least a process of Node can be that says something and lives on. */
const NOTHING = "process.stdout.write('ready\\n'); setInterval(() => {}, 60000)"
const STARTS = 15
const SESSIONS = 10
const SETTLE_MS = 300

interface Start {
  /** From the call that starts the process to the first it says. */
  readonly wallMs: number
  readonly cpuMs: number
  readonly memory: Memory
}

/** The process of a live session with an agent that needs nothing, against one that does nothing. */
export async function hostRows(place: RunningPlace): Promise<readonly Row[]> {
  const home = place.folder('hosts')
  const env = place.environment()
  const order = (): string => {
    const settings = { transcripts: place.folder('transcripts') }
    const work = { home, workdir: place.folder('work'), settings }
    return JSON.stringify({ ...work, sessionId: randomUUID(), agent: 'scripted', trusted: false, env })
  }
  const ours: Start[] = []
  const limit: Start[] = []
  for (let round = 0; round < STARTS; round++) {
    ours.push(await startOnce([HOST], { env, input: `${order()}\n` }))
    limit.push(await startOnce(['-e', NOTHING], { env, input: '' }))
  }
  const row = (name: string, show: (value: number) => string, of: (start: Start) => number): Row => {
    const [mine, other] = [median(ours.map(of)), median(limit.map(of))]
    return hold({
      name,
      value: mine,
      show,
      against: `Node doing nothing ${show(other)}`,
      ratio: times(mine / other),
      note: `median of ${STARTS}, in turns`,
    })
  }
  return [
    row('host: spawn to hello', ms, ({ wallMs }) => wallMs),
    row('host: CPU of the start', ms, ({ cpuMs }) => cpuMs),
    row('host, scripted agent at rest: RSS', mb, ({ memory }) => memory.rss),
    row('host, scripted agent at rest: PSS', mb, ({ memory }) => memory.pss),
  ]
}

async function startOnce(
  args: readonly string[],
  { env, input }: { readonly env: Readonly<Record<string, string>>; readonly input: string },
): Promise<Start> {
  const begun = performance.now()
  const child = startChild(process.execPath, args, { env, stdio: 'pipe' })
  try {
    child.stdin?.end(input)
    const said = await new Promise<string>((resolve, reject) => {
      child.stdout?.once('data', (piece: Buffer) => resolve(piece.toString('utf8')))
      child.once('exit', (code) => reject(new Error(`ended with ${code} before it said anything`)))
    })
    const wallMs = performance.now() - begun
    if (said.includes('refused')) throw new Error(said)
    const pid = child.pid ?? 0
    const cpuMs = cpuMsOf(pid)
    await sleep(SETTLE_MS)
    return { wallMs, cpuMs, memory: memoryOf([pid]) }
  } finally {
    await endChild(child)
  }
}

/** What the daemon itself takes for a live session, beside its host. */
export async function sessionMemoryRows(place: RunningPlace): Promise<readonly Row[]> {
  const { pid } = place.daemon
  // The first one loads what all need.
  const first = await startWatched(place, 'scripted')
  await first.prompt('[[say ready]]')
  await untilQuiet(pid)
  const before = memoryOf([pid])
  for (let count = 0; count < SESSIONS; count++) await startWatched(place, 'scripted')
  await untilQuiet(pid)
  const after = memoryOf([pid])
  // Not PSS: with every host there is one more to share the pages of Node with, which would make the daemon smaller.
  const each = (after.rss - before.rss) / SESSIONS
  const host = memoryOf([place.hostOf(first.id)])
  return [
    hold({
      name: 'daemon: memory for each further live session',
      value: each,
      show: mb,
      against: `its host ${mb(host.rss)}`,
      ratio: times(each / host.rss),
      note: `RSS, ${SESSIONS} begun and watched by a device; the daemon from ${mb(before.rss)} to ${mb(after.rss)}, garbage included`,
    }),
  ]
}
