import { ThroughlineError } from '#base'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Values } from './command-line.ts'
import type { Console } from './console.ts'
import { findDaemon, isAlive, type DaemonLink } from './daemon-link.ts'
import { toJsonLine } from './json.ts'
import type { Site } from './site.ts'

const PATIENCE_MS = 15_000
const PAUSE_MS = 20

/** `throughline stop` */
export async function stop(site: Site, values: Values, console: Console): Promise<number> {
  const link = await findDaemon(site.home)
  if (link === undefined) {
    if (values.flag('json')) await console.out.write(toJsonLine({ stopped: false, pid: null }))
    else console.say('No daemon runs for this home.')
    return 0
  }
  const pid = await stopDaemon(link)
  if (values.flag('json')) await console.out.write(toJsonLine({ stopped: true, pid }))
  else console.say(`Stopped (pid ${pid}).`)
  return 0
}

/** Tells a daemon to stop, and waits until its process is gone. Which it was. */
export async function stopDaemon(link: DaemonLink): Promise<number> {
  const throughline = await link.connect()
  const { pid } = await throughline.health()
  await throughline.stop()
  const deadline = performance.now() + PATIENCE_MS
  while (isAlive(pid)) {
    if (performance.now() > deadline) {
      throw new ThroughlineError(
        'daemon-unreachable',
        `the daemon (pid ${pid}) was told to stop and still runs`,
        {
          hint: `See what it does with \`throughline logs\`. Nothing is lost by ending it: kill ${pid}`,
        },
      )
    }
    await sleep(PAUSE_MS)
  }
  return pid
}
