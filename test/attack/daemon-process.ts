import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { onTestFinished } from 'vitest'
import { isObject, number, parseJson, string, type JsonObject } from '#base'

const root = join(import.meta.dirname, '..', '..')
const DAEMON_SCRIPT: string = join(root, 'dist', 'testing', 'daemon-child.js')

/** The children run what is in `dist`. Errors in rooms they do not enter show in other tests. */
export async function buildDaemon(): Promise<void> {
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  await promisify(execFile)(process.execPath, [compiler, '-b', 'src/testing'], { cwd: root }).catch(() => {})
}

export interface DaemonProcess {
  readonly child: ChildProcess
  /** The next line that it prints, or `undefined` when it has ended. */
  next(): Promise<JsonObject | undefined>
  readonly exited: Promise<number | null>
}

export interface Started {
  readonly port: number
  readonly address: string
  readonly pid: number
}

/** Starts a daemon, by way of other commands if they are given. It goes with the test. */
export function spawnDaemon(
  args: readonly string[],
  options: { readonly before?: readonly string[]; readonly env?: Readonly<Record<string, string>> } = {},
): DaemonProcess {
  const [command = '', ...rest] = [...(options.before ?? []), process.execPath, DAEMON_SCRIPT, ...args]
  const child = spawn(command, rest, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...options.env },
  })
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  const exited = new Promise<number | null>((resolve) => {
    child.once('exit', (code) => resolve(code))
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return {
    child,
    exited,
    async next() {
      const { value, done } = await lines.next()
      const line = done === true ? undefined : parseJson(value)
      return isObject(line) ? line : undefined
    },
  }
}

/** The daemon's first line, which must say that it runs. */
export async function started(daemon: DaemonProcess): Promise<Started> {
  const line = await daemon.next()
  const port = number(line, 'port')
  const address = string(line, 'address')
  const pid = number(line, 'pid')
  if (port === undefined || address === undefined || pid === undefined) {
    throw new Error(`it did not start: ${JSON.stringify(line)}`)
  }
  // The child may be a tracer, whose end is not that of the daemon.
  onTestFinished(() => {
    if (daemon.child.exitCode !== null || daemon.child.pid === pid) return
    process.kill(pid, 'SIGKILL')
  })
  return { port, address, pid }
}
