import { setTimeout as sleep } from 'node:timers/promises'
import { untilQuiet } from './children.ts'
import type { Bench } from './bench.ts'
import { hold, missing } from './comparison.ts'
import { startSettled, type Daemon } from './daemon.ts'
import type { Ground } from './ground.ts'
import { startSide, toArrivals, type Arrivals, type Side } from './live-sides.ts'
import { ms, times, type Row } from './table.ts'

const APPENDS = 300
const LINE_BYTES = 700
const IDLE_MS = 20_000
/** Numbers of lines go on from part to part: the file keeps those of the part before. */
const FIRST_LINE = 1_000_000

/** A line from the moment before it is written to the moment a device has it, and what waiting for it costs. */
export async function liveRows({ ground }: Bench): Promise<readonly Row[]> {
  const place = ground()
  const daemon = await startSettled(place)
  try {
    return [...(await latencyRows(place, daemon)), await idleRow(daemon)]
  } catch (error) {
    return [missing('append -> device', error)]
  } finally {
    await daemon.stop()
  }
}

async function latencyRows(place: Ground, daemon: Daemon): Promise<readonly Row[]> {
  const { id: sessionId, path } = place.live
  const { port, token } = daemon
  // The device and the watcher wait for the same appends, so both see the same machine.
  const device = await startSide('devices', { port, token, sessionId, devices: 1, from: FIRST_LINE })
  const watch = await startSide('watch', { path, from: FIRST_LINE })
  const sides: Side[] = [device, watch]
  try {
    const before = daemon.cpuMs()
    const appender = await startSide('append', {
      path,
      sessionId,
      count: APPENDS,
      bytes: LINE_BYTES,
      from: FIRST_LINE,
    })
    sides.push(appender)
    await appender.done
    await sleep(300)
    const cpuMs = (daemon.cpuMs() - before) / APPENDS
    const ours = toArrivals([await device.report()])
    const limit = toArrivals([await watch.report()])
    await appender.report()
    const fault = faultOf(ours)
    return [
      hold({
        name: 'append -> device over WebSocket: p50',
        value: ours.p50,
        show: ms,
        most: 2,
        against: `fs.watch + read ${ms(limit.p50)}`,
        ratio: times(ours.p50 / limit.p50),
        fault,
        note: `${APPENDS} lines of about 1 KB at random intervals, ${ms(cpuMs)} of the daemon's CPU each`,
      }),
      hold({
        name: 'append -> device over WebSocket: p99',
        value: ours.p99,
        show: ms,
        most: 10,
        against: `fs.watch + read ${ms(limit.p99)}`,
        ratio: times(ours.p99 / limit.p99),
        fault,
      }),
    ]
  } finally {
    for (const side of sides) await side.end()
  }
}

function faultOf({ delivered, repeated, lost }: Arrivals): string | undefined {
  if (delivered === APPENDS && repeated === 0 && lost === 0) return undefined
  return `${delivered} of ${APPENDS} lines came, ${repeated} more than once, ${lost} sockets lost`
}

async function idleRow(daemon: Daemon): Promise<Row> {
  await untilQuiet(daemon.pid)
  const before = daemon.cpuMs()
  const start = performance.now()
  await sleep(IDLE_MS)
  const share = ((daemon.cpuMs() - before) / (performance.now() - start)) * 100
  return hold({
    name: 'idle daemon: CPU of one core',
    value: share,
    show: (percent) => `${percent.toFixed(3)} %`,
    most: 0.1,
    note: `over ${IDLE_MS / 1000} s, all sessions followed, nothing happening`,
  })
}
