import { number, parseJson } from '#base'
import { openTempDir } from '#testing'
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const main = join(import.meta.dirname, '../dist/bin/throughline.js')

interface UserResult {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** How a command is run, where that is not as usual. */
interface RunAs {
  /** The user, as a number. */
  readonly user?: number | undefined
  /** An open file for its standard output. */
  readonly output?: number | undefined
  /** When it is ended, if it has not. */
  readonly timeout?: number
}

/** The home of somebody who just installed it: nothing in it but what the test puts there. */
export interface UserPlace {
  readonly home: string
  /** Runs the built command line as a process of its own, without a terminal. */
  run(args: readonly string[], env?: Readonly<Record<string, string>>, as?: RunAs): Promise<UserResult>
  json(args: readonly string[], env?: Readonly<Record<string, string>>): Promise<unknown>
  /** Stops the daemon, if one was started, and removes everything. */
  remove(): Promise<void>
}

export async function openUserPlace(): Promise<UserPlace> {
  const temp = await openTempDir()
  const home = temp.path
  async function run(
    args: readonly string[],
    env: Readonly<Record<string, string>> = {},
    { user, output, timeout }: RunAs = {},
  ): Promise<UserResult> {
    const child = spawn(process.execPath, [main, ...args], {
      env: { PATH: process.env['PATH'] ?? '', HOME: home, COLUMNS: '100', ...env },
      cwd: home,
      stdio: ['ignore', output ?? 'pipe', 'pipe'],
      ...(user === undefined ? {} : { uid: user, gid: user }),
      ...(timeout === undefined ? {} : { timeout }),
    })
    let [out, err] = ['', '']
    child.stdout?.on('data', (piece: Buffer) => (out += piece.toString()))
    child.stderr?.on('data', (piece: Buffer) => (err += piece.toString()))
    const code = await new Promise<number | null>((done) => child.on('close', done))
    return { code, out, err }
  }
  return {
    home,
    run,
    json: async (args, env) => parseJson((await run([...args, '--json'], env)).out),
    async remove() {
      if (isStarted(home)) await run(['stop'])
      await temp.remove()
    },
  }
}

function isStarted(home: string): boolean {
  try {
    return (
      number(parseJson(readFileSync(join(home, '.throughline/daemon.json'), 'utf8')), 'pid') !== undefined
    )
  } catch {
    return false
  }
}
