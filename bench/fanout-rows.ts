import { setTimeout as sleep } from 'node:timers/promises'
import type { Bench } from './bench.ts'
import { cpuMsOf, freePort } from './children.ts'
import { hold, missing } from './comparison.ts'
import { startSettled, type Daemon } from './daemon.ts'
import type { LiveSession } from './ground.ts'
import { startSide, toArrivals, type Arrivals, type Side } from './live-sides.ts'
import { ms, type Row } from './table.ts'

const PER_SECOND = 1000
const SECONDS = 10
const NAIVE_SECONDS = 4
const TEXT_BYTES = 130
const PER_PROCESS = 500
/** What is still on its way when the last line was written has so long to arrive. */
const GRACE_MS = 2000

/** A thousand lines a second to many devices. */
export async function fanoutRows({ ground }: Bench): Promise<readonly Row[]> {
  const place = ground()
  const rows: Row[] = []
  let from = 2_000_000
  for (const devices of [100, 1000]) {
    const name = `${PER_SECOND} lines/s to ${devices} devices`
    const daemon = await startSettled(place)
    try {
      const ours = await throughDaemon(daemon, place.live, { devices, from })
      from += 1_000_000
      const naive = await naively(devices).catch((error: unknown) => String(error))
      rows.push(...toRows(name, ours, naive))
    } catch (error) {
      rows.push(missing(name, error))
    } finally {
      await daemon.stop()
    }
  }
  return rows
}

interface Load extends Arrivals {
  readonly wanted: number
  /** Of one core, while lines were written. */
  readonly cpuShare: number
  /** The same for all processes with devices: the machine has to bear them too. */
  readonly deviceShare: number
}

function toRows(name: string, ours: Load, naive: Load | string): readonly Row[] {
  const beside = (of: (load: Load) => string): string =>
    typeof naive === 'string' ? `ws.send each n/a` : `ws.send each ${of(naive)}`
  const fault =
    ours.repeated + ours.lost > 0 ? `${ours.repeated} repeated, ${ours.lost} sockets lost` : undefined
  const note =
    typeof naive === 'string'
      ? naive
      : `${SECONDS} s of load; ws.send each: ${NAIVE_SECONDS} s; delivered within ${GRACE_MS / 1000} s after it`
  return [
    hold({
      name: `${name}: delivered`,
      value: share(ours),
      show: percent,
      least: 100,
      against: beside((load) => percent(share(load))),
      fault,
      note,
    }),
    hold({
      name: `${name}: p99`,
      value: ours.p99,
      show: ms,
      most: 25,
      against: beside((load) => ms(load.p99)),
      note: `p50 ${ms(ours.p50)}${typeof naive === 'string' ? '' : `, ws.send each ${ms(naive.p50)}`}`,
    }),
    hold({
      name: `${name}: CPU of the server`,
      value: ours.cpuShare,
      show: percent,
      against: beside((load) => percent(load.cpuShare)),
      note: `of one core, indexing included; the devices took ${percent(ours.deviceShare)}${typeof naive === 'string' ? '' : `, those of ws.send each ${percent(naive.deviceShare)}`}`,
    }),
  ]
}

function percent(value: number): string {
  return `${value.toFixed(value === 100 ? 0 : 2)} %`
}

function share({ delivered, wanted }: Load): number {
  return (delivered / wanted) * 100
}

async function throughDaemon(
  daemon: Daemon,
  { id: sessionId, path }: LiveSession,
  { devices, from }: { readonly devices: number; readonly from: number },
): Promise<Load> {
  const { port, token, pid } = daemon
  const sides: Side[] = []
  try {
    for (const part of partsOf(devices)) {
      sides.push(await startSide('devices', { port, token, sessionId, devices: part, from }))
    }
    const count = PER_SECOND * SECONDS
    const told = { path, sessionId, count, bytes: TEXT_BYTES, perSecond: PER_SECOND, from }
    const appender = await startSide('append', told)
    sides.push(appender)
    return await underLoad({ sides, sender: appender, pid, wanted: count * devices, seconds: SECONDS })
  } finally {
    for (const side of sides) await side.end()
  }
}

async function naively(devices: number): Promise<Load> {
  const port = await freePort()
  const count = PER_SECOND * NAIVE_SECONDS
  const server = await startSide('naive', { port, devices, count, bytes: TEXT_BYTES, perSecond: PER_SECOND })
  const sides: Side[] = [server]
  try {
    for (const part of partsOf(devices)) {
      sides.push(await startSide('devices', { port, token: '', sessionId: '', devices: part, from: 0 }))
    }
    const wanted = count * devices
    return await underLoad({ sides, sender: server, pid: server.pid, wanted, seconds: NAIVE_SECONDS })
  } finally {
    for (const side of sides) await side.end()
  }
}

async function underLoad(load: {
  readonly sides: readonly Side[]
  readonly sender: Side
  readonly pid: number
  readonly wanted: number
  readonly seconds: number
}): Promise<Load> {
  const { sides, sender, pid, wanted, seconds } = load
  const receivers = sides.filter((side) => side !== sender)
  const taken = (): number => receivers.reduce((sum, side) => sum + cpuMsOf(side.pid), 0)
  const [before, takenBefore, start] = [cpuMsOf(pid), taken(), performance.now()]
  // Who cannot keep up is not waited for.
  await Promise.race([sender.done, sleep((seconds + 1) * 1000)])
  const tookMs = performance.now() - start
  const cpuShare = ((cpuMsOf(pid) - before) / tookMs) * 100
  const deviceShare = ((taken() - takenBefore) / tookMs) * 100
  await sleep(GRACE_MS)
  const reports = await Promise.all(receivers.map((side) => side.report()))
  return { ...toArrivals(reports), wanted, cpuShare, deviceShare }
}

function partsOf(devices: number): readonly number[] {
  const processes = Math.ceil(devices / PER_PROCESS)
  return Array.from({ length: processes }, () => devices / processes)
}
