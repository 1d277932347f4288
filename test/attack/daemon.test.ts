import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import { object, parseJson, string } from '#base'
import { DEFAULT_PORT, findDaemon, openLogFile, readSecret, toLocalToken, toProof } from '#server'
import { createLines, generateCorpus, openTempDir, toJsonl, type TempDir } from '#testing'
import { indexPath, readRows } from '../index-rows.ts'
import { buildDaemon, spawnDaemon, started, type Started } from './daemon-process.ts'
import { ask, openTarget } from './target.ts'

const isRoot = process.getuid?.() === 0
const hasSetpriv = existsSync('/usr/bin/setpriv')

let dir: TempDir
let home: string
let claudeDir: string

beforeAll(buildDaemon)
beforeEach(async () => {
  dir = await openTempDir()
  home = join(dir.path, 'home')
  claudeDir = join(dir.path, 'claude')
  const project = join(claudeDir, 'projects', '-home-user-work')
  await mkdir(project, { recursive: true })
  const lines = toJsonl([createLines().prompt('hello')])
  await writeFile(join(project, '0c0ffee0-0000-4000-8000-000000000001.jsonl'), lines)
})
afterEach(async () => {
  await dir.remove()
})

test('[ATT17] what has taken the port cannot pass for the daemon, and is told nothing', async () => {
  const daemon = spawnDaemon([home, claudeDir])
  const { port } = await started(daemon)
  expect(await findDaemon(home)).toMatchObject({ port, token: toLocalToken(await readSecret(home)) })
  daemon.child.kill('SIGKILL')
  await daemon.exited
  expect(await findDaemon(home)).toBeUndefined()

  const heard: string[] = []
  // One squatter says anything; one asks a real daemon of the same home, which listens elsewhere.
  const real = await openTarget({ home })
  for (const relay of [undefined, real]) {
    const squatter = createServer((request, response) => {
      let body = ''
      heard.push(`${request.url} ${request.rawHeaders.join(' ')}`)
      request.on('data', (piece) => (body += String(piece)))
      request.on('end', () => {
        heard.push(body)
        if (relay === undefined) response.end(JSON.stringify({ proof: 'A'.repeat(43) }))
        else {
          void ask(relay, 'POST /api/prove', { body }).then((answer) => response.end(answer.body))
        }
      })
    })
    squatter.listen(port, '127.0.0.1')
    await once(squatter, 'listening')
    try {
      await expect(findDaemon(home)).rejects.toMatchObject({ code: 'daemon-unreachable' })
    } finally {
      squatter.closeAllConnections()
      squatter.close()
      await once(squatter, 'close')
    }
  }
  expect(heard).toHaveLength(4)
  expect(heard.join('\n')).not.toContain(toLocalToken(await readSecret(home)))
  expect(heard.join('\n')).not.toMatch(/authorization/i)
})

test('[CLI37] a daemon that is stopped is not taken for a stranger', async () => {
  const daemon = spawnDaemon([home, claudeDir])
  const { pid, port } = await started(daemon)
  daemon.child.kill('SIGSTOP')
  await expect(findDaemon(home)).rejects.toMatchObject({
    code: 'daemon-unreachable',
    message: expect.stringMatching(new RegExp(`pid ${pid}.* does not answer`)),
    hint: expect.stringContaining(`kill -CONT ${pid}`),
  })
  daemon.child.kill('SIGCONT')
  expect(await findDaemon(home)).toMatchObject({ pid, port })
})

test('[ATT17] a stranger who is silent on the port is not taken for a daemon that is busy', async () => {
  const daemon = spawnDaemon([home, claudeDir])
  const { port } = await started(daemon)
  daemon.child.kill('SIGKILL')
  await daemon.exited
  const silent = createServer(() => {}).listen(port, '127.0.0.1')
  await once(silent, 'listening')
  onTestFinished(() => {
    silent.closeAllConnections()
    silent.close()
  })
  await expect(findDaemon(home)).rejects.toMatchObject({
    code: 'daemon-unreachable',
    message: expect.stringContaining('is not the daemon'),
  })
})

test('[ATT17] a proof is good for one nonce and one port', async () => {
  const secret = Buffer.alloc(32, 7)
  const proof = toProof(secret, { nonce: 'a'.repeat(32), port: 4700 })
  expect(toProof(secret, { nonce: 'b'.repeat(32), port: 4700 })).not.toBe(proof)
  expect(toProof(secret, { nonce: 'a'.repeat(32), port: 4701 })).not.toBe(proof)
  expect(toProof(Buffer.alloc(32, 8), { nonce: 'a'.repeat(32), port: 4700 })).not.toBe(proof)
  expect(toLocalToken(secret)).not.toBe(proof)
})

test.skipIf(!isRoot || !hasSetpriv)(
  '[ATT18] another user can read nothing of a home, whatever the umask',
  async () => {
    await chmod(dir.path, 0o755)
    const daemon = spawnDaemon([home, claudeDir, '000'])
    const target = await started(daemon)
    const token = toLocalToken(await readSecret(home))
    for (let n = 0; n < 3; n++) await ask(target, 'GET /api/sessions', { token })
    await ask(target, 'POST /api/codes', { token })
    const names = await readdir(home, { recursive: true })
    expect(names).toEqual(
      expect.arrayContaining(['secret', 'daemon.json', 'devices.jsonl', join('logs', 'daemon.jsonl')]),
    )
    for (const name of ['', ...names]) {
      const path = join(home, name)
      const found = await stat(path)
      // A link to an agent's own file has the mode that the agent gave it: the folder above keeps others out.
      const isLink = name.startsWith('archive') && found.isFile() && found.nlink > 1
      if (!isLink) expect([name, (found.mode & 0o077).toString(8)]).toEqual([name, '0'])
      const look = `try { require('fs').${found.isDirectory() ? 'readdirSync' : 'readFileSync'}(${JSON.stringify(path)}); console.log('READ') } catch (error) { console.log(error.code) }`
      const other = ['--reuid', '65534', '--regid', '65534', '--clear-groups', process.execPath, '-e', look]
      expect([name, execFileSync('/usr/bin/setpriv', other, { encoding: 'utf8', cwd: '/' }).trim()]).toEqual([
        name,
        'EACCES',
      ])
    }
  },
)

test('[ATT18] a home or a secret that others can read is refused', async () => {
  const first = spawnDaemon([home, claudeDir])
  await started(first)
  first.child.kill('SIGTERM')
  await first.exited
  await chmod(join(home, 'secret'), 0o640)
  expect(await spawnDaemon([home, claudeDir]).next()).toMatchObject({
    kind: 'refused',
    code: 'config-invalid',
  })
  await chmod(join(home, 'secret'), 0o600)
  await chmod(home, 0o755)
  expect(await spawnDaemon([home, claudeDir]).next()).toMatchObject({
    kind: 'refused',
    code: 'config-invalid',
  })
  await chmod(home, 0o700)
  await started(spawnDaemon([home, claudeDir]))
})

test('[ATT19] no secret stands in a command line or an environment', async () => {
  const daemon = spawnDaemon([home, claudeDir])
  const target = await started(daemon)
  const secret = await readSecret(home)
  const token = toLocalToken(secret)
  const code = string((await ask(target, 'POST /api/codes', { token })).json, 'code') ?? 'none'
  const login = await ask(target, 'POST /api/login', { body: { code } })
  const words = [
    token,
    code,
    string(login.json, 'token') ?? 'none',
    secret.toString('hex'),
    secret.toString('base64'),
  ]
  for (const name of ['cmdline', 'environ']) {
    const text = await readFile(`/proc/${target.pid}/${name}`, 'latin1')
    for (const word of words) expect(text.includes(word)).toBe(false)
  }
  const logs = await readFile(join(home, 'logs', 'daemon.jsonl'), 'utf8')
  const devices = await readFile(join(home, 'devices.jsonl'), 'utf8')
  expect(devices).toContain('device.added')
  for (const word of words) expect(`${logs}${devices}`.includes(word)).toBe(false)
})

test('[ATT33] a log has no control characters but newlines, whatever is logged', async () => {
  const path = join(home, 'logs', 'x.jsonl')
  const file = await openLogFile(path, { now: () => 0 })
  const corpus = [
    '\u001b[2J\u001b]0;title\u0007',
    '\u009b31m',
    '\r\n{"level":"info"}',
    '\u202e\u2066',
    '\u0000\u007f',
    'a\tb',
  ]
  for (const text of corpus) file.log('info', text, { message: text, [text]: text })
  await file.close()
  const written = await readFile(path, 'utf8')
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  expect(written).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/)
  const lines = written
    .trimEnd()
    .split('\n')
    .map((line) => parseJson(line))
  expect(lines.map((line) => string(line, 'message'))).toEqual(corpus)
})

test('[ATT33] what a request says does not reach the log of the daemon', async () => {
  const daemon = spawnDaemon([home, claudeDir])
  const target = await started(daemon)
  const token = toLocalToken(await readSecret(home))
  for (const path of ['/api/%1b%5b2J', '/api/sessions/%1b%5b2J%0a', '/%00', '/api/search?q=%1b%5b2Jwords']) {
    await ask(target, `GET ${path}`, {
      token,
      headers: ['User-Agent: evil\u009b31m', 'X-Forwarded-For: words'],
    })
  }
  await sleep(50)
  const log = await readFile(join(home, 'logs', 'daemon.jsonl'), 'latin1')
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  expect(log).not.toMatch(/[^\n\u0020-\u007e]/)
  expect(log).not.toMatch(/2J|words|evil/)
})

test('[FLT19] the second daemon of a home names the first and does nothing; a killed one is replaced at once', async () => {
  const first = spawnDaemon([home, claudeDir])
  const { pid, address, port } = await started(first)
  const before = await readFile(join(home, 'daemon.json'), 'utf8')
  const refused = await spawnDaemon([home, claudeDir]).next()
  expect(refused).toMatchObject({ kind: 'refused', code: 'daemon-running' })
  expect(string(refused, 'message')).toContain(`process ${pid} `)
  expect(string(refused, 'message')).toContain(address)
  expect(Number(refused?.['ms'])).toBeLessThan(5000)
  expect(await readFile(join(home, 'daemon.json'), 'utf8')).toBe(before)

  first.child.kill('SIGKILL')
  await first.exited
  const second = spawnDaemon([home, claudeDir])
  const line = await second.next()
  expect(line).toMatchObject({ kind: 'started', port })
  expect(Number(line?.['ms'])).toBeLessThan(5000)
})

test('[FLT10] with hardly any descriptors the daemon goes on, and recovers', async () => {
  // Node opens all files of a program at once when it loads them one by one: fewer would not let it begin.
  const limited = ['/bin/sh', '-c', 'ulimit -n 128; exec "$@"', 'sh']
  const daemon = spawnDaemon([home, claudeDir], { before: limited })
  const target = await started(daemon)
  const token = toLocalToken(await readSecret(home))
  const { connect } = await import('node:net')
  const held = Array.from({ length: 150 }, () => connect(target.port, '127.0.0.1').on('error', () => {}))
  onTestFinished(() => {
    for (const socket of held) socket.destroy()
  })
  await sleep(1000)
  for (const socket of held) socket.destroy()
  await sleep(500)
  const { status } = await ask(target, 'GET /api/devices', { token })
  expect(status).toBe(200)
  expect((await ask(target, 'GET /api/sessions', { token })).status).toBe(200)
  expect(daemon.child.exitCode).toBeNull()
})

test('[FLT12] a home that is deleted is noticed, said, and the end', async () => {
  const daemon = spawnDaemon([home, claudeDir])
  await started(daemon)
  const begun = performance.now()
  await rm(home, { recursive: true, force: true })
  expect(await daemon.next()).toEqual({ kind: 'stopped', reason: 'home-gone' })
  expect(performance.now() - begun).toBeLessThan(5000)
  expect(await daemon.exited).toBe(0)
  // The index may have been begun again a moment before; what would let somebody in was not.
  for (const name of ['secret', 'devices.jsonl', 'daemon.json'])
    expect(existsSync(join(home, name))).toBe(false)
})

test('[SRV10] devices stay logged in over a restart, at the same port', async () => {
  // The usual port is taken, by this test or by another: the daemon finds one of its own, and keeps it.
  const other = createServer().listen(DEFAULT_PORT, '127.0.0.1')
  await new Promise((done) => other.once('listening', done).once('error', done))
  const first = spawnDaemon([home, claudeDir])
  const target = await started(first)
  other.close()
  const token = toLocalToken(await readSecret(home))
  const code = string((await ask(target, 'POST /api/codes', { token })).json, 'code')
  const device = string((await ask(target, 'POST /api/login', { body: { code } })).json, 'token') ?? ''
  first.child.kill('SIGTERM')
  const begun = performance.now()
  expect(await first.exited).toBe(0)
  expect(performance.now() - begun).toBeLessThan(5000)
  const second = await started(spawnDaemon([home, claudeDir]))
  expect(second.port).toBe(target.port)
  expect((await ask(second, 'GET /api/devices', { token: device })).status).toBe(200)
})

test('[SRV11] a home keeps its port, and a port that is taken is no reason not to start', async () => {
  const portOf = async (folder: string): Promise<number> => {
    const daemon = spawnDaemon([folder, claudeDir])
    const { port } = await started(daemon)
    daemon.child.kill('SIGTERM')
    await daemon.exited
    return port
  }
  const own = await portOf(home)
  const other = await portOf(join(dir.path, 'other'))
  expect(other).not.toBe(own)
  // Nobody who waits for one of them meets the other: it is the home's, whatever was there before.
  await rm(home, { recursive: true })
  expect(await portOf(home)).toBe(own)
  await rm(home, { recursive: true })
  const stranger = createServer().listen(own, '127.0.0.1')
  await once(stranger, 'listening')
  const next = await portOf(home)
  stranger.close()
  expect(next).not.toBe(own)
  for (const port of [own, other, next]) expect(port).toBeLessThan(30_010)
})

test('[FLT50] with hardly any memory a daemon indexes, stops in the middle of it, and goes on from there', async () => {
  await generateCorpus({ dir: claudeDir, seed: 7, size: 'xs' })
  const scarce = { env: { NODE_OPTIONS: '--max-old-space-size=128' } }
  const stops = process.env['RUNS'] === 'full' ? 20 : 3
  let inTheMiddle = 0
  for (let stop = 0; stop < stops; stop++) {
    const daemon = spawnDaemon([home, claudeDir], scarce)
    const target = await started(daemon)
    await sleep(stop * 60)
    if ((await readIndex(target)) !== 'complete') inTheMiddle++
    const begun = performance.now()
    daemon.child.kill('SIGTERM')
    expect(await daemon.next()).toEqual({ kind: 'stopped', reason: 'closed' })
    expect(await daemon.exited).toBe(0)
    expect(performance.now() - begun).toBeLessThan(5000)
  }
  expect(inTheMiddle).toBeGreaterThan(0)
  const other = join(dir.path, 'other')
  for (const each of [home, other]) {
    const daemon = spawnDaemon([each, claudeDir], scarce)
    const target = await started(daemon)
    while ((await readIndex(target, each)) !== 'complete') await sleep(30)
    daemon.child.kill('SIGTERM')
    expect(await daemon.exited).toBe(0)
  }
  const rows = readRows(indexPath(other))
  expect(rows.length).toBeGreaterThan(1000)
  expect(readRows(indexPath(home))).toEqual(rows)
})

async function readIndex(target: Started, of = home): Promise<string | undefined> {
  const token = toLocalToken(await readSecret(of))
  const { json } = await ask(target, 'GET /api/health', { token })
  return string(object(json, 'index'), 'state')
}
