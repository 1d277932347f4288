import { setTimeout as sleep } from 'node:timers/promises'
import { number, string } from '#base'
import { cpuMsOf, descendantsOf, memoryOf, type Memory } from './children.ts'
import { hold } from './comparison.ts'
import { startSide, type Side } from './live-sides.ts'
import { median, quantile } from './measure.ts'
import { getClaude, startWatched, type RunningPlace, type WatchedSession } from './running-place.ts'
import { mb, ms, times, type Row } from './table.ts'

const STARTS = 7
const WARM_UPS = 5
const PROMPTS = 40
/** After so long without work the engine gives back what it does not need. */
const REST_MS = 12_000

/** The real Claude Code, through host, daemon and device, and through the Agent SDK alone in a process. */
export async function claudeRows(place: RunningPlace): Promise<readonly Row[]> {
  const told = { executable: getClaude(), workdir: place.folder('work'), env: place.environment() }
  const startRows = await measureStarts(place, told)
  const ours = await startWatched(place, 'claude')
  const bare = await startSide('sdk', told)
  try {
    const promptRows = await measurePrompts(place, ours, bare)
    await sleep(REST_MS)
    return [...promptRows, ...startRows, ...memoryRows(place, ours, bare)]
  } finally {
    await bare.end()
    await ours.end()
  }
}

async function measureStarts(place: RunningPlace, told: object): Promise<readonly Row[]> {
  const ours: number[] = []
  const warm: number[] = []
  const cold: number[] = []
  for (let round = 0; round < STARTS; round++) {
    const session = await startWatched(place, 'claude')
    ours.push(session.startMs)
    await session.end()
    const begun = performance.now()
    const bare = await startSide('sdk', told)
    cold.push(performance.now() - begun)
    warm.push(await askMs(bare, { do: 'start' }))
    await bare.end()
  }
  const [mine, theirs] = [median(ours), median(warm)]
  return [
    hold({
      name: 'live session: start until Claude Code takes prompts',
      value: mine,
      show: ms,
      against: `SDK in a running process ${ms(theirs)}`,
      ratio: times(mine / theirs),
      note: `adds ${ms(mine - theirs)}; SDK in a new process ${ms(median(cold))}; median of ${STARTS}, in turns`,
    }),
  ]
}

async function measurePrompts(
  place: RunningPlace,
  ours: WatchedSession,
  bare: Side,
): Promise<readonly Row[]> {
  const first: number[] = []
  const kept: number[] = []
  const theirs: number[] = []
  const host = place.hostOf(ours.id)
  const cpu = (): readonly number[] => [cpuMsOf(host), cpuMsOf(place.daemon.pid), cpuMsOf(bare.pid)]
  let before = cpu()
  for (let round = -WARM_UPS; round < PROMPTS; round++) {
    if (round === 0) before = cpu()
    const text = `Prompt ${round + WARM_UPS}. [[say This is the answer to it, in a few words.]]`
    const mine = await ours.prompt(text)
    const other = await askMs(bare, { do: 'prompt', text })
    if (round < 0) continue
    first.push(mine.firstMs)
    kept.push(mine.keptMs)
    theirs.push(other)
  }
  const [hostMs = 0, daemonMs = 0, sdkMs = 0] = cpu().map((now, at) => (now - (before[at] ?? 0)) / PROMPTS)
  const apart = median(first.map((mine, at) => mine - (theirs[at] ?? 0)))
  const row = (name: string, part: number, note: string): Row => {
    const [mine, other] = [quantile(first, part), quantile(theirs, part)]
    return hold({
      name: `prompt -> first word of Claude Code on a device: ${name}`,
      value: mine,
      show: ms,
      against: `SDK in process ${ms(other)}`,
      ratio: times(mine / other),
      note: `adds ${ms(mine - other)}${note}`,
    })
  }
  return [
    row('p50', 0.5, `, pair by pair ${ms(apart)}; ${PROMPTS} prompts each, in turns, warm sessions`),
    row('p95', 0.95, ''),
    hold({
      name: 'prompt -> on disk and acknowledged over REST: p50',
      value: median(kept),
      show: ms,
      against: `first word ${ms(median(first))}`,
      ratio: times(median(kept) / median(first)),
      note: `p95 ${ms(quantile(kept, 0.95))}`,
    }),
    hold({
      name: 'prompt and its answer: CPU of host and daemon',
      value: hostMs + daemonMs,
      show: ms,
      against: `SDK process ${ms(sdkMs)}`,
      ratio: times((hostMs + daemonMs) / sdkMs),
      note: `host ${ms(hostMs)}, daemon ${ms(daemonMs)}, without the agent`,
    }),
  ]
}

async function askMs(side: Side, asked: object): Promise<number> {
  const said = await side.ask(asked)
  const took = number(said, 'ms')
  if (took === undefined) throw new Error(`sdk: ${string(said, 'failed') ?? 'no answer'}`)
  return took
}

/** After so many prompts, at rest. */
function memoryRows(place: RunningPlace, ours: WatchedSession, bare: Side): readonly Row[] {
  const host = place.hostOf(ours.id)
  const alone = { ours: memoryOf([host]), other: memoryOf([bare.pid]) }
  const whole = { ours: memoryOf(treeOf(host)), other: memoryOf(treeOf(bare.pid)) }
  return [
    memoryRow('Claude Code session: memory of the host', 'SDK process', alone),
    memoryRow('Claude Code session: host and agent', 'SDK process and agent', whole),
  ]
}

function memoryRow(
  name: string,
  whom: string,
  { ours, other }: { readonly ours: Memory; readonly other: Memory },
): Row {
  return hold({
    name,
    value: ours.pss,
    show: mb,
    against: `${whom} ${mb(other.pss)}`,
    ratio: times(ours.pss / other.pss),
    note: `PSS; RSS ${mb(ours.rss)} against ${mb(other.rss)}`,
  })
}

function treeOf(pid: number): readonly number[] {
  return [pid, ...descendantsOf(pid)]
}
