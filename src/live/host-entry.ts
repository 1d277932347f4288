import { randomUUID } from 'node:crypto'
import { writeSync } from 'node:fs'
import { join } from 'node:path'
import { parseJson, string, ThroughlineError } from '#base'
import { toStoppingDriver, type Driver } from '#drivers'
import { createClock } from './clock.ts'
import { openHost } from './host.ts'
import { getHostOrder } from './host-order.ts'
import type { HostOrder } from './host-order.ts'
import { fromError } from './host-protocol.ts'
import { toRecordedDriver } from './recorded-driver.ts'
import { findClaim } from './recording.ts'
import { findSessionJournal, readSessionJournal } from './session-journal.ts'

/** The drivers that a host can have, by the name of the agent. Loaded when one is asked for. */
export type DriverTable = Readonly<Record<string, (order: HostOrder) => Promise<Driver>>>

/**
 * The life of a host's process: one line of JSON on its standard input tells what to do, one on its standard output
 * how that went (`ready` or `refused`), and it ends when the session has ended. Without a whole order it does nothing.
 */
export async function runHost({
  drivers,
  now,
}: {
  readonly drivers: DriverTable
  readonly now: () => number
}): Promise<void> {
  // Whatever it makes is for its owner alone.
  process.umask(0o077)
  const said = await readOrder()
  if (said === undefined) return
  try {
    const order = getHostOrder(said)
    const host = await openHost({
      order,
      driver: toRecorded(toStoppingDriver(await getDriver(drivers, order)), order, {
        now,
        // Before this host writes anything: it is about what the last one knew.
        agentId: await findAgentId(order),
      }),
      clock: createClock(now),
      mintId: () => randomUUID(),
      pid: process.pid,
    })
    // Its daemon's terminal may close, and its daemon with it; the host stays.
    process.on('SIGHUP', () => {})
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void host.stop())
    say({ ready: host.hello })
    await host.ended
  } catch (error) {
    say({ refused: fromError(error) })
  }
}

async function readOrder(): Promise<unknown> {
  let text = ''
  for await (const piece of process.stdin) text += String(piece)
  // Who began to write it may have died in the middle.
  return text.endsWith('\n') ? parseJson(text) : undefined
}

async function getDriver(drivers: DriverTable, order: HostOrder): Promise<Driver> {
  const load = Object.hasOwn(drivers, order.agent) ? drivers[order.agent] : undefined
  if (load) return await load(order)
  throw new ThroughlineError('driver-unavailable', `there is no driver for ${order.agent}`, {
    hint: `There is one for: ${Object.keys(drivers).join(', ')}.`,
  })
}

/** What agents say that leave no transcript is written down by their host. */
function toRecorded(
  driver: Driver,
  order: HostOrder,
  { now, agentId }: { readonly now: () => number; readonly agentId: string | undefined },
): Driver {
  return toRecordedDriver(driver, {
    folder: folderOf(order),
    now,
    mintId: () => randomUUID(),
    agentId,
    transcript: order.transcript,
    onTrouble: (message) => void process.stderr.write(`${message}\n`),
  })
}

/** The id under which an agent knows the session that it is to go on with, when it took one of its own. */
async function findAgentId(order: HostOrder): Promise<string | undefined> {
  const { home, resume } = order
  if (resume === undefined) return undefined
  const path = await findSessionJournal(home, resume.sessionId)
  const told = path === undefined ? undefined : (await readSessionJournal(path)).agentSessionId
  // A run that did not come to its beginning has told nothing.
  return told ?? (await findClaim(folderOf(order), resume.sessionId))
}

function folderOf({ home, agent, settings }: HostOrder): string {
  return string(settings, 'transcripts') ?? join(home, 'recorded', agent, 'projects')
}

function say(value: object): void {
  try {
    writeSync(1, `${JSON.stringify(value)}\n`)
  } catch {
    // Nobody listens any more. The session is there all the same, and will be found.
  }
}
