// Rehearses what docs/team.md says about backups, with real servers: two machines of one person ship to a first
// server; it is dumped, more is said, and it is gone. A second one is restored from the dump, and the machines go on.
// Ends with 0 when every line is there, once.
import { execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
  appendFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { provideProgram } from './debian-program.mjs'

const run = promisify(execFile)
const main = join(import.meta.dirname, '..', 'dist', 'bin', 'throughline.js')
const HANG_MS = 120_000
const LINES = 2000

const bin = findServer()
const isRoot = process.getuid?.() === 0
const who = isRoot ? await idsOf('postgres') : {}
const dir = mkdtempSync(join(tmpdir(), 'throughline-rehearsal-'))
if (isRoot) chownSync(dir, who.uid, who.gid)
const port = await freePort()
const password = randomBytes(12).toString('hex')
const owner = `postgres://throughline:${password}@127.0.0.1:${port}/throughline`
const machines = []
let server

try {
  say('A first server, a team, two machines')
  server = await startServer('first')
  await psql('postgres', `CREATE ROLE throughline LOGIN CREATEROLE PASSWORD '${password}'`)
  await createDatabase()
  const desk = machine('desk')
  const laptop = machine('laptop')
  desk.write(0, LINES)
  await desk.cli(['team', 'init', '-', '--as', 'ada', '--machine', 'desk'], owner)
  const { stdout: invitation } = await desk.cli(['team', 'invite', 'ada'])
  await laptop.cli(['team', 'join', '-', '--machine', 'laptop'], invitation)
  for (const one of machines) await one.cli(['start', '--no-open'])
  await until(
    'everything is shipped and seen',
    async () => (await laptop.export(desk.session)) === desk.text(),
  )

  say('Dumping')
  await tool('pg_dumpall', ['--roles-only', '--file', join(dir, 'roles.sql')], { superuser: true })
  await tool('pg_dump', ['--format', 'custom', '--file', join(dir, 'throughline.dump'), 'throughline'], {
    superuser: true,
  })

  say('More is said, and the first server is gone for good')
  desk.write(LINES, LINES + 500)
  await until('that is shipped too', async () => (await laptop.export(desk.session)) === desk.text())
  await stopServer(server)
  rmSync(join(dir, 'first'), { recursive: true, force: true })
  desk.write(LINES + 500, LINES + 700)

  say('A second server, restored from the dump')
  server = await startServer('second')
  await tool('psql', ['--quiet', '--dbname', 'postgres', '--file', join(dir, 'roles.sql')], {
    superuser: true,
    mayComplain: true,
  })
  await createDatabase()
  await tool('pg_restore', ['--dbname', 'throughline', join(dir, 'throughline.dump')], { superuser: true })
  await desk.cli(['stop'])
  rmSync(join(desk.home, 'outbox.json'), { force: true })
  await desk.cli(['start', '--no-open'])
  await until('both machines go on', async () => (await laptop.export(desk.session)) === desk.text())

  say('Every line is there, once')
  const { stdout } = await psql(
    'throughline',
    `SELECT count(*) || ' ' || count(DISTINCT "offset") FROM throughline.log_line AS l JOIN throughline.log_file AS f ON f.team = l.team AND f.id = l.file WHERE f.session = '${desk.session}' AND f.kind = 'transcript'`,
  )
  const [lines, places] = stdout.trim().split(' ').map(Number)
  const wanted = desk.text().trimEnd().split('\n').length
  if (lines !== wanted || places !== wanted)
    throw new Error(`${lines} lines at ${places} places, and not ${wanted}`)
  say(`${lines} lines, as on the machine that wrote them`)
} finally {
  for (const one of machines) await one.cli(['stop']).catch(() => {})
  if (server !== undefined) await stopServer(server)
  rmSync(dir, { recursive: true, force: true })
}

/** A person's home, with a Throughline of its own in it. */
function machine(name) {
  const path = join(dir, name)
  const [home, claudeDir] = [join(path, 'home'), join(path, 'claude')]
  mkdirSync(home, { recursive: true, mode: 0o700 })
  const project = join(claudeDir, 'projects', '-shop')
  mkdirSync(project, { recursive: true })
  const session = '7d0c1f3e-0000-4000-8000-00000000000a'
  const file = join(project, `${session}.jsonl`)
  const one = {
    home,
    session,
    text: () => readFileSync(file, 'utf8'),
    write(from, to) {
      for (let n = from; n < to; n++) {
        const line = {
          type: 'user',
          uuid: `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`,
          parentUuid: n === 0 ? null : `00000000-0000-4000-8000-${String(n - 1).padStart(12, '0')}`,
          sessionId: session,
          cwd: '/shop',
          timestamp: new Date(1_700_000_000_000 + n * 1000).toISOString(),
          message: { role: 'user', content: `Line ${n} of a long day.` },
        }
        appendFileSync(file, `${JSON.stringify(line)}\n`)
      }
    },
    async cli(args, input) {
      const env = { PATH: process.env.PATH, HOME: path, THROUGHLINE_HOME: home, CLAUDE_CONFIG_DIR: claudeDir }
      const running = run(process.execPath, [main, ...args], { env, cwd: path, maxBuffer: 1e9 })
      running.child.stdin.end(input ?? '')
      return await running
    },
    export: async (id) =>
      await one.cli(['export', id, '--format', 'jsonl']).then(
        ({ stdout }) => stdout,
        () => undefined,
      ),
  }
  machines.push(one)
  return one
}

async function createDatabase() {
  await psql('postgres', `CREATE DATABASE throughline OWNER throughline ENCODING 'UTF8' TEMPLATE template0`)
}

async function startServer(name) {
  const data = join(dir, name)
  await run(
    join(bin, 'initdb'),
    ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C'],
    who,
  )
  writeFileSync(
    join(data, 'pg_hba.conf'),
    `local all all trust\nhost all postgres 127.0.0.1/32 trust\nhost all all 127.0.0.1/32 scram-sha-256\n`,
  )
  const child = spawn(
    join(bin, 'postgres'),
    [
      '-D',
      data,
      '-p',
      String(port),
      '-c',
      'listen_addresses=127.0.0.1',
      '-c',
      `unix_socket_directories=${dir}`,
    ],
    { ...who, stdio: 'ignore' },
  )
  await until(
    'the server answers',
    async () =>
      await psql('postgres', 'SELECT 1').then(
        () => true,
        () => false,
      ),
  )
  return child
}

async function stopServer(child) {
  const gone = new Promise((resolve) => child.once('exit', resolve))
  if (child.exitCode !== null) return
  child.kill('SIGQUIT')
  await gone
}

async function psql(database, sql) {
  return await run(join(bin, 'psql'), [
    '-h',
    '127.0.0.1',
    '-p',
    String(port),
    '-U',
    'postgres',
    '-d',
    database,
    '-qAt',
    '-v',
    'ON_ERROR_STOP=1',
    '-c',
    sql,
  ])
}

async function tool(name, args, { mayComplain = false }) {
  const all = ['-h', '127.0.0.1', '-p', String(port), '-U', 'postgres', ...args]
  try {
    await run(join(bin, name), all, { maxBuffer: 1e8 })
  } catch (error) {
    if (!mayComplain) throw error
  }
}

function findServer() {
  const found = findBin()
  if (found !== undefined) return found
  // Its programs lie in a folder of their own, so the name of the package is looked for, and never found.
  provideProgram({ name: 'postgresql', variable: 'POSTGRESQL', what: 'rehearsals' }, say)
  const installed = findBin()
  if (installed === undefined) throw new Error('no PostgreSQL here: install the package postgresql')
  return installed
}

function findBin() {
  const root = '/usr/lib/postgresql'
  const versions = existsSync(root) ? readdirSync(root).toSorted((a, b) => Number(b) - Number(a)) : []
  return versions
    .map((version) => join(root, version, 'bin'))
    .find((path) => existsSync(join(path, 'postgres')))
}

async function idsOf(user) {
  const ask = async (flag) => Number((await run('id', [flag, user])).stdout)
  return { uid: await ask('-u'), gid: await ask('-g') }
}

async function freePort() {
  return await new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port: free } = probe.address()
      probe.close(() => resolve(free))
    })
  })
}

async function until(what, isSo) {
  for (const end = Date.now() + HANG_MS; Date.now() < end; await sleep(200))
    if (await isSo()) return say(`  ${what}`)
  throw new Error(`not within ${HANG_MS / 1000} s: ${what}`)
}

function say(line) {
  process.stdout.write(`${line}\n`)
}
