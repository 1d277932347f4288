import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { beforeAll, beforeEach, afterEach, expect, test } from 'vitest'
import { openThroughline, type LocalThroughline } from '#app'
import { list, string } from '#base'
import { readSecret, toLocalToken } from '#server'
import { createLines, openTempDir, runs, toJsonl, type TempDir } from '#testing'
import { buildDaemon, spawnDaemon, started } from './daemon-process.ts'
import { ask, openTarget } from './target.ts'

const SECRET = 'TOP-SECRET-CONTENT'
const ID = '0c0ffee0-0000-4000-8000-000000000001'
const root = join(import.meta.dirname, '..', '..')

let dir: TempDir
let claudeDir: string
let project: string

beforeAll(buildDaemon)
beforeEach(async () => {
  dir = await openTempDir()
  claudeDir = join(dir.path, 'claude')
  project = join(claudeDir, 'projects', '-home-user-work')
  await mkdir(project, { recursive: true })
  await writeFile(join(project, `${ID}.jsonl`), sessionWith('an ordinary prompt'))
  await writeFile(join(dir.path, 'outside.jsonl'), sessionWith(SECRET))
})
afterEach(async () => {
  await dir.remove()
})

function sessionWith(text: string): string {
  return toJsonl([createLines({ sessionId: ID }).prompt(text)])
}

async function openReal(): Promise<LocalThroughline> {
  return await openThroughline({ env: {}, config: { claudeDir, home: join(dir.path, 'home') } })
}

/** Written into a path of the API. The first kind breaks the grammar of ids, the second is an id that nobody has. */
const NO_IDS = [
  '..',
  '../',
  '..%2f',
  '%2e%2e%2f%2e%2e%2fetc%2fpasswd',
  '%2fetc%2fpasswd',
  '..%5c..%5cwindows',
  '%252e%252e%252f',
  'a%00b',
  '%00',
  'a%0d%0aSet-Cookie:x=1',
  'a'.repeat(129),
  'a'.repeat(10_000),
  // A full-width stop, a one-dot leader and a division slash look like what they are not.
  '%EF%BC%8E%EF%BC%8E%E2%88%95etc',
  '%E2%80%A4%E2%80%A4%2F',
  'C:',
  'aux.txt',
  '%ff',
  '%',
  '~',
  '$HOME',
  '',
]
const NOBODYS = ['CON', 'NUL', 'COM1', 'etc', 'passwd', '__proto__', 'constructor']

test('[ATT22] ids are letters, digits, - and _; nothing else gets near a path', async () => {
  const home = join(dir.path, 'home')
  const trace = join(dir.path, 'trace')
  const strace = [
    '/usr/bin/strace',
    '-f',
    '-qq',
    '-e',
    'trace=open,openat,openat2,stat,lstat,readlink',
    '-o',
    trace,
  ]
  const isTraced = existsSync('/usr/bin/strace')
  const daemon = spawnDaemon([home, claudeDir], isTraced ? { before: strace } : {})
  const target = await started(daemon)
  const token = toLocalToken(await readSecret(home))

  for (const id of NO_IDS) {
    for (const rest of ['/entries', '/bytes', '/export?format=html', '/survey', '/check', '/conversation']) {
      const { status } = await ask(target, `GET /api/sessions/${id}${rest}`, { token })
      // A slash that is not written with a percent sign makes another path, and there is none.
      expect([id, rest, status]).toEqual([id, rest, id.includes('/') ? 404 : 400])
    }
    const { status } = await ask(target, `PATCH /api/sessions/${id}`, { token, body: { name: 'x' } })
    expect([id, status]).toEqual([id, id.includes('/') ? 404 : 400])
    // What a person may type is only compared with names.
    const { status: typed } = await ask(target, `GET /api/sessions/${id}`, { token })
    expect([id, [400, 404].includes(typed)]).toEqual([id, true])
  }
  for (const id of NOBODYS) {
    expect([id, (await ask(target, `GET /api/sessions/${id}/bytes`, { token })).status]).toEqual([id, 404])
  }
  for (const subagent of ['../../../outside', '%2fetc%2fpasswd', 'a%00b']) {
    const { status } = await ask(target, `GET /api/sessions/${ID}/entries?subagent=${subagent}`, { token })
    expect([subagent, status]).toEqual([subagent, 404])
  }
  expect((await ask(target, `GET /api/sessions/${ID}/bytes`, { token })).status).toBe(200)
  expect((await ask(target, 'POST /api/stop', { token })).status).toBe(204)
  await daemon.exited
  if (!isTraced) return

  const all = [...(await readFile(trace, 'utf8')).matchAll(/"(\/[^"]*)"/g)].map(([, path = '']) => path)
  const program = join(import.meta.dirname, '../../dist/')
  const paths = all.filter((path) => !path.startsWith(program))
  expect(paths.some((path) => path.startsWith(claudeDir))).toBe(true)
  const asked = paths.filter(
    (path) => /passwd|outside|aux|windows|\.\./.test(basename(path)) || path.includes('/../'),
  )
  expect(asked).toEqual([])
  const sessions = paths.filter(
    (path) => path.endsWith('.jsonl') && !path.startsWith(home) && !path.startsWith(root),
  )
  expect(sessions.filter((path) => !path.startsWith(claudeDir))).toEqual([])
})

test('[ATT23] [ATT26] links, pipes and devices among the transcripts are not followed, opened or waited for', async () => {
  const home = join(dir.path, 'home')
  const id = (n: number): string => `0c0ffee0-0000-4000-8000-${String(n).padStart(12, '0')}`
  const at = (n: number): string => join(project, `${id(n)}.jsonl`)
  await mkdir(join(dir.path, '.ssh'))
  await writeFile(join(dir.path, '.ssh', 'id_ed25519'), SECRET)
  await writeFile(join(dir.path, '.env'), `KEY=${SECRET}\n`)
  await symlink(join(dir.path, 'outside.jsonl'), at(2))
  await symlink('/proc/self/environ', at(3))
  execFileSync('mkfifo', [at(4)])
  await symlink('/dev/zero', at(5))
  await symlink(join(dir.path, '.ssh', 'id_ed25519'), at(6))
  await symlink(join(dir.path, '.env'), at(7))
  await symlink(join(home, 'secret'), at(8))
  if (process.getuid?.() === 0) execFileSync('mknod', [at(9), 'c', '1', '5'])
  await mkdir(at(10))
  // A folder of sessions that is really another folder.
  await mkdir(join(dir.path, 'elsewhere'))
  await writeFile(join(dir.path, 'elsewhere', `${id(11)}.jsonl`), sessionWith(SECRET))
  await symlink(join(dir.path, 'elsewhere'), join(claudeDir, 'projects', '-linked'))

  const throughline = await openReal()
  const target = await openTarget({ throughline, home })
  const begun = performance.now()
  const listed = await ask(target, 'GET /api/sessions', { token: target.token })
  expect(listed.body).not.toContain(SECRET)
  expect(list(listed.json, 'sessions').some((session) => string(session, 'id') === ID)).toBe(true)
  for (let n = 2; n <= 11; n++) {
    for (const rest of ['bytes', 'entries', 'export?format=md', 'export?format=jsonl', 'conversation']) {
      const { status, body } = await ask(target, `GET /api/sessions/${id(n)}/${rest}`, {
        token: target.token,
      })
      expect([n, rest, [403, 404, 410].includes(status) ? 'refused' : status]).toEqual([n, rest, 'refused'])
      expect(body).not.toContain(SECRET)
    }
  }
  for (const path of [
    '/secret',
    '/.ssh/id_ed25519',
    '/.env',
    '/api/files/etc/passwd',
    '/../home/secret',
    '//etc/passwd',
  ]) {
    const { status, body } = await ask(target, `GET ${path}`, { token: target.token })
    expect([path, status]).toEqual([path, 404])
    expect(body).not.toContain(SECRET)
  }
  expect(performance.now() - begun).toBeLessThan(30_000)
  expect(target.server.failures()).toBe(0)
})

/** Puts the good file and the bad one in the same place by turns, as fast as it goes. */
function swapper(good: string, bad: string, place: string): Worker {
  const code = `
    const { renameSync } = require('node:fs')
    const { workerData: { good, bad, place } } = require('node:worker_threads')
    for (;;) {
      renameSync(place, good); renameSync(bad, place)
      renameSync(place, bad); renameSync(good, place)
    }`
  return new Worker(code, { eval: true, workerData: { good, bad, place } })
}

test.each([
  ['a file', () => [join(project, `${ID}.jsonl`), join(dir.path, 'outside.jsonl')] as const],
  ['the folder of a project', () => [project, join(dir.path, 'outside')] as const],
])(
  '[ATT24] %s that is swapped for a link between look and read leaks nothing',
  { timeout: 600_000 },
  async (_what, where) => {
    const [place, outside] = where()
    await mkdir(join(dir.path, 'outside'))
    await writeFile(join(dir.path, 'outside', `${ID}.jsonl`), sessionWith(SECRET))
    const bad = `${place}-bad`
    await symlink(outside, bad)
    const throughline = await openReal()
    const session = await throughline.get(ID)
    const outcomes = { good: 0, refused: 0, leaked: 0 }
    const worker = swapper(`${place}-good`, bad, place)
    try {
      for (let n = 0; n < (runs(10_000).numRuns ?? 0); n++) {
        try {
          let text = ''
          for await (const piece of throughline.bytes(session)) text += Buffer.from(piece).toString('latin1')
          outcomes[text.includes(SECRET) ? 'leaked' : 'good']++
        } catch {
          outcomes.refused++
        }
      }
    } finally {
      await worker.terminate()
    }
    expect(outcomes.leaked).toBe(0)
    expect(outcomes.good).toBeGreaterThan(0)
    expect(outcomes.refused).toBeGreaterThan(0)
  },
)
