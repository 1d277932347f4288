import { spawn } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { parseJson } from '#base'
import { readDaemonFile, readSecret, toLocalToken } from '#server'
import { openPostgresServer, openTempDir } from '#testing'

const main = join(import.meta.dirname, '../dist/bin/throughline.js')

/** A database without a team, and machines with the built command line. */
export interface TeamPlace {
  /** The address of the database's owner, with the password in it. */
  readonly owner: string
  machine(name: string): TeamMachinePlace
  /** Lets a machine in, by an invitation that another one makes with these arguments. */
  admit(machine: TeamMachinePlace, by: TeamMachinePlace, args: readonly string[]): Promise<void>
  close(): Promise<void>
}

export interface TeamMachinePlace {
  readonly name: string
  readonly path: string
  readonly home: string
  readonly claudeDir: string
  run(args: readonly string[], input?: string): Promise<Result>
  json(args: readonly string[], input?: string): Promise<unknown>
}

interface Result {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

export async function openTeamCliPlace(): Promise<TeamPlace> {
  if (!existsSync(main)) throw new Error('run `npm run build` first')
  const temp = await openTempDir()
  const server = await openPostgresServer()
  const owner = await server.createDatabase()
  const machines: TeamMachinePlace[] = []
  return {
    owner,
    machine(name) {
      const made = makeMachine(join(temp.path, name), name)
      machines.push(made)
      return made
    },
    async admit(machine, by, args) {
      const { out } = await by.run(['team', 'invite', ...args])
      await machine.json(['team', 'join', '-', '--machine', machine.name], out)
    },
    async close() {
      for (const machine of machines) await machine.run(['stop'])
      await server.close()
      await temp.remove()
    },
  }
}

function makeMachine(path: string, name: string): TeamMachinePlace {
  const [home, claudeDir] = [join(path, 'home'), join(path, 'claude')]
  mkdirSync(home, { recursive: true, mode: 0o700 })
  mkdirSync(claudeDir)
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: path,
    TMPDIR: path,
    THROUGHLINE_HOME: home,
    CLAUDE_CONFIG_DIR: claudeDir,
    COLUMNS: '120',
  }

  function run(args: readonly string[], input?: string): Promise<Result> {
    const child = spawn(process.execPath, [main, ...args], {
      cwd: path,
      env,
      stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    })
    let [out, err] = ['', '']
    child.stdout?.setEncoding('utf8').on('data', (piece: string) => (out += piece))
    child.stderr?.setEncoding('utf8').on('data', (piece: string) => (err += piece))
    child.stdin?.on('error', () => {})
    child.stdin?.end(input)
    return new Promise((resolve) => {
      child.on('close', (code) => resolve({ code, out, err }))
    })
  }

  return {
    name,
    path,
    home,
    claudeDir,
    run,
    async json(args, input) {
      const { out, err } = await run([...args, '--json'], input)
      if (out === '') throw new Error(err)
      return parseJson(out)
    },
  }
}

/** Asks the daemon of a machine, as its owner does. */
export function askOf({ home }: TeamMachinePlace): (path: string, init?: RequestInit) => Promise<Response> {
  return async (path, init = {}) => {
    const { port } = await readDaemonFile(home)
    const token = toLocalToken(await readSecret(home))
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    return await fetch(`http://127.0.0.1:${port ?? 0}${path}`, { ...init, headers })
  }
}
