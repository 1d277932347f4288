import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from './children.ts'
import { hold } from './comparison.ts'
import { startSide, type Side } from './live-sides.ts'
import { toSpread, type Spread } from './running-arrivals.ts'
import { startWatched, type RunningPlace } from './running-place.ts'
import { ms, times, type Row } from './table.ts'

const DEVICES = 100
const WORDS = 600
const PAUSE_MS = 5
const GRACE_MS = 500

/** A word from the moment a host has said it to the moment the last of many devices has it. */
export async function deviceRow(place: RunningPlace): Promise<readonly Row[]> {
  const ours = await throughDaemon(place)
  const limit = await barely()
  const fault = ours.complete === WORDS ? undefined : `${ours.complete} of ${WORDS} words came to all devices`
  const row = (part: 'p50' | 'p99', note?: string): Row =>
    hold({
      name: `word of an agent -> last of ${DEVICES} devices: ${part}`,
      value: ours[part],
      show: ms,
      against: `ws.send to each ${ms(limit[part])}`,
      ratio: times(ours[part] / limit[part]),
      fault,
      note,
    })
  return [
    row('p50', `${WORDS} words, one every ${PAUSE_MS} ms; from the host's socket, past the daemon`),
    row('p99'),
  ]
}

async function throughDaemon(place: RunningPlace): Promise<Spread> {
  const session = await startWatched(place, 'scripted')
  const { port, token } = place.daemon
  const sides: Side[] = []
  try {
    // What has been said before is nobody's business here.
    await session.prompt('[[say ready]]')
    const told = { port, token, sessionId: session.id, devices: DEVICES, from: 0, topic: 'live' }
    const devices = await startSide('devices', told)
    sides.push(devices)
    const ear = await startSide('ear', { socket: place.socketOf(session.id) })
    sides.push(ear)
    const words = Array.from({ length: WORDS }, (_, nth) => `word${nth}`).join(' ')
    await session.prompt(`[[slow ${PAUSE_MS}]] [[say ${words}]]`)
    await sleep(GRACE_MS)
    return toSpread(await ear.report(), await devices.report(), DEVICES)
  } finally {
    for (const side of sides) await side.end()
    await session.end()
  }
}

async function barely(): Promise<Spread> {
  const port = await freePort()
  const told = { port, devices: DEVICES, count: WORDS, perSecond: 1000 / PAUSE_MS }
  const server = await startSide('broadcast', told)
  const sides: Side[] = [server]
  try {
    const devices = await startSide('devices', { port, token: '', devices: DEVICES, topic: 'live' })
    sides.push(devices)
    await server.done
    await sleep(GRACE_MS)
    return toSpread(await server.report(), await devices.report(), DEVICES)
  } finally {
    for (const side of sides) await side.end()
  }
}
