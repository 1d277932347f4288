/**
 * A daemon in a process of its own. Prints one line of JSON: what it is, or why it is not. Stops cleanly on SIGTERM or
 * when it is asked to, and prints the reason.
 *
 *     node dist/testing/daemon-child.js <home> <Claude Code's config folder> [<umask>]
 *
 * What agents see of the environment is what `DAEMON_ENV` says, in JSON. With `DAEMON_PORT` it takes that port or none.
 */
import { writeSync } from 'node:fs'
import { isObject, parseJson, ThroughlineError } from '#base'
import { openDaemon } from '#server'

const [home = '', claudeDir = '', mask = ''] = process.argv.slice(2)
if (mask !== '') process.umask(Number.parseInt(mask, 8))
const begun = performance.now()

try {
  const port = Number(process.env['DAEMON_PORT'] ?? 0)
  const daemon = await openDaemon({
    home,
    ...(port === 0 ? {} : { port }),
    open: { env: readEnv(), config: { claudeDir } },
    now: () => Date.now(),
    version: '0.0.0-test',
  })
  process.once('SIGTERM', () => void daemon.close())
  const { pid, address } = daemon
  say({ kind: 'started', pid, address, port: daemon.port, ms: Math.round(performance.now() - begun) })
  say({ kind: 'stopped', reason: await daemon.stopped })
} catch (error) {
  if (!(error instanceof ThroughlineError)) throw error
  const { code, message, hint } = error
  say({ kind: 'refused', code, message, hint, ms: Math.round(performance.now() - begun) })
  process.exitCode = 1
}

function readEnv(): Record<string, string> {
  const value = parseJson(process.env['DAEMON_ENV'] ?? '{}')
  const pairs = Object.entries(isObject(value) ? value : {})
  return Object.fromEntries(pairs.flatMap(([name, text]) => (typeof text === 'string' ? [[name, text]] : [])))
}

function say(value: object): void {
  writeSync(1, `${JSON.stringify(value)}\n`)
}
