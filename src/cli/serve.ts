import { ThroughlineError } from '#base'
import { readFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import type { Values } from './command-line.ts'
import type { Console } from './console.ts'
import { toJsonLine } from './json.ts'
import { toLogLine } from './log-line.ts'
import type { Site } from './site.ts'

/** By then the daemon has started, and what it does from then on it does often. */
const STARTED_MS = 500

/** `throughline serve` */
export async function serve(site: Site, values: Values, console: Console): Promise<number> {
  const port = values.count('port')
  const host = values.value('host')
  const tls = readTls(values)
  const names = values.value('allow-host')
  const isJson = values.flag('json')
  // The first list is out before the code that makes it would be compiled: see decision 0008.
  setFlagsFromString('--no-opt')
  setTimeout(() => setFlagsFromString('--opt'), STARTED_MS)
  const { DEFAULT_PORT, openDaemon } = await import('#server')
  const daemon = await openDaemon({
    home: site.home,
    firstPort: isPersonal(site.home) ? DEFAULT_PORT : undefined,
    open: { env: site.env },
    now: Date.now,
    version: site.version,
    log(level, event, fields) {
      // Started in the background, standard output is the end of the log.
      if (!isJson && !console.isTerminal) return
      const line = { at: new Date().toISOString(), level, event, ...fields }
      const shown = isJson ? toJsonLine(line) : `${toLogLine(line, console)}\n`
      process.stdout.write(shown)
    },
    ...(port === undefined ? {} : { port }),
    ...(host === undefined ? {} : { host }),
    ...(tls === undefined ? {} : { tls }),
    ...(names === undefined ? {} : { allowedHosts: names.split(',').map((name) => name.trim()) }),
  })
  if (console.isTerminal && !isJson) console.say(`Throughline runs at ${daemon.address}. Ctrl+C stops it.`)
  const end = (): void => {
    daemon.close().catch(() => {})
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, end)
  const reason = await daemon.stopped
  if (reason !== 'home-gone') return 0
  throw new ThroughlineError('config-invalid', `${site.home} was deleted while the daemon ran`, {
    hint: 'Start it again: `throughline`.',
  })
}

/** The one that a person has without saying so. Others, of sandboxes and tests, leave it the well-known port. */
function isPersonal(home: string): boolean {
  try {
    return home === join(userInfo().homedir, '.throughline')
  } catch {
    // A user without an entry: one of a container.
    return true
  }
}

/** Half of a pair is a mistake, not a wish. */
function readTls(values: Values): { readonly cert: string; readonly key: string } | undefined {
  const [cert, key] = [values.value('tls-cert'), values.value('tls-key')]
  if (cert === undefined && key === undefined) return undefined
  if (cert === undefined || key === undefined) {
    throw new ThroughlineError('bad-usage', 'a certificate needs its key, and the other way round', {
      hint: 'Give both --tls-cert and --tls-key.',
    })
  }
  return { cert: readPem(cert), key: readPem(key) }
}

function readPem(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    throw new ThroughlineError('config-invalid', `cannot read ${path}`, {
      hint: 'Check that the file is there and that you may read it.',
      cause,
    })
  }
}
