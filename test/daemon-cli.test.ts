import { list, number, parseJson, string } from '#base'
import { connect, login } from '#client'
import { openTempDir, createLines, toJsonl, writeTranscript, type TempDir } from '#testing'
import { execFile, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { appendFile, chmod, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'

const root = join(import.meta.dirname, '..')
const main = join(root, 'dist/bin/throughline.js')

const SHOP = 'aaaaaaaa-1111-4000-8000-000000000001'
const BLOG = 'bbbbbbbb-2222-4000-8000-000000000002'
const EVIL = '\u001b[2J\u009b31m\u202e\u0007'

let temp: TempDir
let home: string
const lines = createLines({ sessionId: SHOP, cwd: '/home/user/work/shop' })
const kumquat = lines.reply([{ type: 'text', text: 'The kumquat is ripe.' }])

beforeAll(async () => {
  if (!existsSync(main)) throw new Error('run `npm run build` first')
  temp = await openTempDir()
  home = join(temp.path, 'home')
  const shop = [
    lines.prompt('Please fix the checkout'),
    kumquat,
    ...[1, 2, 3].map((turn) => lines.prompt(`Go on ${turn} ${EVIL}`)),
    lines.reply([{ type: 'text', text: 'The end.' }]),
  ]
  await writeTranscript(join(temp.path, 'claude'), toJsonl(shop), {
    id: SHOP,
    project: '-home-user-work-shop',
  })
  const blog = createLines({ sessionId: BLOG, cwd: '/home/user/work/blog' })
  const tea = [blog.prompt('Write about tea'), blog.reply([{ type: 'text', text: 'Tea is a leaf.' }])]
  await writeTranscript(join(temp.path, 'claude'), toJsonl(tea), {
    id: BLOG,
    project: '-home-user-work-blog',
  })
})
afterEach(async () => {
  await cli(['stop'])
})
afterAll(() => temp.remove())

interface Result {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

/** Runs the built command line the way a person does: as a process of its own. */
async function cli(args: readonly string[], env: Record<string, string> = {}): Promise<Result> {
  const child = spawn(process.execPath, [main, ...args], {
    cwd: temp.path,
    env: environment(env),
    stdio: 'pipe',
  })
  const [out, err] = [[], []] as [Buffer[], Buffer[]]
  child.stdout.on('data', (piece: Buffer) => out.push(piece))
  child.stderr.on('data', (piece: Buffer) => err.push(piece))
  const code = await new Promise<number | null>((done) => child.on('close', done))
  return { code, out: Buffer.concat(out).toString(), err: Buffer.concat(err).toString() }
}

function environment(env: Record<string, string>): Record<string, string> {
  return {
    PATH: process.env['PATH'] ?? '',
    HOME: temp.path,
    THROUGHLINE_HOME: home,
    CLAUDE_CONFIG_DIR: join(temp.path, 'claude'),
    COLUMNS: '100',
    ...env,
  }
}

async function json(args: readonly string[], env: Record<string, string> = {}): Promise<unknown> {
  const { out, err } = await cli([...args, '--json'], env)
  if (out === '') throw new Error(err)
  return parseJson(out)
}

/** Starts the daemon, and gives the number of its process. */
async function start(): Promise<number> {
  return number(await json(['--no-open']), 'pid') ?? 0
}

async function untilIndexed(): Promise<void> {
  const deadline = performance.now() + 20_000
  while (!(await cli(['status'])).out.includes('index     complete')) {
    if (performance.now() > deadline) throw new Error('the index never became complete')
    await sleep(50)
  }
}

describe('the daemon', () => {
  test('[CLI22] starts in the background; a second start names the first', async () => {
    const first = await cli(['--no-open'])
    expect(first).toMatchObject({ code: 0, err: '' })
    expect(first.out).toMatch(
      /^Throughline runs at http:\/\/throughline\.localhost:\d+ {2}pid \d+\n2 sessions · 0 live · index /,
    )
    const pid = /pid (\d+)/.exec(first.out)?.[1] ?? ''
    const second = await cli(['start', '--no-open'])
    expect(second.out).toContain(`Throughline runs already at`)
    expect(second.out).toContain(`pid ${pid}\n`)
    const third = await cli(['serve'])
    expect(third.code).toBe(1)
    expect(third.err).toMatch(
      new RegExp(`^error: process ${pid} already serves .* at http://127\\.0\\.0\\.1:\\d+\nnext: `),
    )
  })

  test('[CLI22] two that start at the same moment end up with one daemon', async () => {
    const started = await Promise.all([0, 1, 2].map(() => start()))
    expect(new Set(started).size).toBe(1)
  })

  test('[CLI23] status says how it is; exit 3 when none runs', async () => {
    const none = await cli(['status'])
    expect(none).toMatchObject({ code: 3, out: '', err: expect.stringContaining('next: ') })
    expect(await json(['status'])).toEqual({ running: false, claudeCode: 'absent', recorders: [] })
    const pid = await start()
    await untilIndexed()
    const { code, out } = await cli(['status'])
    expect(code).toBe(0)
    expect(out).toMatch(
      new RegExp(`^address {3}http://throughline\\.localhost:\\d+\nprocess {3}pid ${pid}, up `),
    )
    expect(out).toMatch(
      /\nsessions {2}2 sessions · 0 live\nindex {5}complete, .*\narchive {3}\d+ files, .*\ndevices {3}0 logged in\n/,
    )
    expect(await json(['status'])).toMatchObject({
      running: true,
      pid,
      sessions: { total: 2, waitingForYou: 0 },
    })
  })

  test('[CLI24] stop waits until it is gone; a restart keeps devices logged in', async () => {
    const pid = await start()
    const url = `http://127.0.0.1:${number(await json(['status']), 'port')}`
    const link = string(await json(['pair', '--url', 'https://desk.example']), 'link') ?? ''
    expect(link).toMatch(/^https:\/\/desk\.example\/#code=[\w-]{20,}$/)
    const token = await login({ url, code: link.split('=')[1] ?? '', label: 'phone' })
    expect(await cli(['stop'])).toMatchObject({ code: 0, err: `Stopped (pid ${pid}).\n` })
    expect(() => process.kill(pid, 0)).toThrow('ESRCH')
    expect((await cli(['stop'])).code).toBe(0)
    await start()
    const device = await connect({ url, token })
    expect((await device.health()).sessions.total).toBe(2)
    await device.close()
    const devices = list(await json(['devices']), 'devices')
    expect(devices).toEqual([expect.objectContaining({ label: 'phone' })])
    expect((await cli(['devices'])).out).toMatch(/^device .*\nphone /)
    const id = string(devices[0], 'id') ?? ''
    expect(await cli(['devices', '--revoke', id])).toMatchObject({ code: 0 })
    await expect(connect({ url, token })).rejects.toMatchObject({ code: 'not-allowed' })
    expect(await cli(['devices', '--revoke', 'nobody'])).toMatchObject({ code: 2 })
  })

  test('[CLI25] one that was killed is not in the way of the next', async () => {
    const pid = await start()
    process.kill(pid, 'SIGKILL')
    const began = performance.now()
    const next = await start()
    expect(next).not.toBe(pid)
    expect(performance.now() - began).toBeLessThan(10_000)
    const log = await readFile(join(home, 'logs/daemon.jsonl'), 'utf8')
    const times = log.split('\n').filter((line) => line.includes('daemon.started'))
    expect(times.length).toBeGreaterThan(1)
    process.kill(next, 'SIGKILL')
    expect((await cli(['ls'])).out).toContain('Please fix the checkout')
  })

  test('[CLI26] the browser is let in by a file that only its owner can read; no command line has the code', async () => {
    const bin = join(temp.path, 'bin')
    const seen = join(temp.path, 'seen')
    await mkdir(bin, { recursive: true })
    await mkdir(seen)
    // Looks at itself and at everybody else, as any user of the machine can.
    await writeFile(
      join(bin, 'xdg-open'),
      `#!/bin/sh\n{ stat -c 'mode %a' "$1"; cat "$1"; cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' '; } > '${seen}/'$$.tmp\nmv '${seen}/'$$.tmp '${seen}/'$$\n`,
    )
    await chmod(join(bin, 'xdg-open'), 0o755)
    const env = { PATH: `${bin}:${process.env['PATH'] ?? ''}`, DISPLAY: ':9' }
    expect((await cli([], env)).code).toBe(0)
    expect(await cli(['open'], env)).toMatchObject({
      code: 0,
      err: expect.stringContaining('Opened http://'),
    })
    const deadline = performance.now() + 10_000
    const opened = async (): Promise<readonly string[]> =>
      (await readdir(seen)).filter((name) => !name.endsWith('.tmp'))
    while ((await opened()).length < 2 && performance.now() < deadline) await sleep(10)
    const secret = await readFile(join(home, 'secret'))
    const log = await readFile(join(home, 'logs/daemon.jsonl'), 'utf8')
    for (const name of await opened()) {
      const [mode, page, ...argv] = (await readFile(join(seen, name), 'utf8')).split('\n')
      const code = /url=http:\/\/throughline\.localhost:\d+\/#code=([\w-]+)"/.exec(page ?? '')?.[1] ?? ''
      expect([mode, code.length > 20, argv.join().includes('serve')]).toEqual(['mode 600', true, true])
      for (const word of [code, secret.toString('base64url'), secret.toString('hex')]) {
        expect(argv.join()).not.toContain(word)
        expect(log).not.toContain(word)
      }
    }
    expect(await opened()).toHaveLength(2)
  })

  test('[CLI27] a stranger on the port is told nothing', async () => {
    const asked: string[] = []
    const stranger = createServer((request, response) => {
      asked.push(`${request.method} ${request.url} ${request.headers.authorization ?? ''}`)
      response.end(JSON.stringify({ proof: 'A'.repeat(43) }))
    })
    await new Promise<void>((done) => stranger.listen(0, '127.0.0.1', done))
    try {
      const address = stranger.address()
      const port = typeof address === 'object' && address !== null ? address.port : 0
      await start()
      await cli(['stop'])
      const facts = {
        pid: process.pid,
        address: `http://127.0.0.1:${port}`,
        port,
        startedAt: '',
        version: '',
      }
      await writeFile(join(home, 'daemon.json'), JSON.stringify(facts))
      expect((await cli(['status'])).code).toBe(3)
      expect((await cli(['open'], { DISPLAY: ':9' })).code).toBe(1)
      expect((await cli(['ls'])).out).toContain('Please fix the checkout')
      expect(number(await json(['--no-open']), 'port')).not.toBe(port)
      expect(new Set(asked)).toEqual(new Set(['POST /api/prove ']))
    } finally {
      stranger.close()
    }
  })

  test('[CLI28] logs shows the last lines, the newest last, and nothing in them acts', async () => {
    await start()
    await appendFile(
      join(home, 'logs/daemon.jsonl'),
      `${JSON.stringify({ at: 'x', level: 'info', event: EVIL })}\n${EVIL} crash\n`,
    )
    const { code, out } = await cli(['logs', '--lines', '3'])
    expect(code).toBe(0)
    expect(out.trimEnd().split('\n').at(-1)).toContain('crash')
    expect(out.match(/[^\n\t\u0020-\u007e\u00a0-\u200a\u2010-\u2027\u202f-\ufffe]/u)).toBeNull()
    expect(
      (await cli(['logs', '--lines', '2', '--json'])).out.trimEnd().split('\n').map(parseJson).at(-1),
    ).toEqual({
      line: `${EVIL} crash`,
    })
    const child = spawn(process.execPath, [main, 'logs', '--follow'], { env: environment({}), stdio: 'pipe' })
    let text = ''
    child.stdout.on('data', (piece: Buffer) => (text += piece.toString()))
    const deadline = performance.now() + 10_000
    while (!text.includes('crash') && performance.now() < deadline) await sleep(10)
    await appendFile(join(home, 'logs/daemon.jsonl'), '{"level":"warn","event":"something.new"}\n')
    while (!text.includes('something.new') && performance.now() < deadline) await sleep(10)
    child.kill()
    expect(text).toContain('something.new')
  })

  test('[CLI29] pair draws a code for an address with TLS, and refuses one without', async () => {
    await start()
    const { code, out } = await cli(['pair', '--url', 'https://desk.example:4700/ignored'])
    expect(code).toBe(0)
    expect(out).toMatch(/^█{20,}\n[^]*\n\nhttps:\/\/desk\.example:4700\/#code=[\w-]+\n$/)
    for (const url of ['http://desk.example', 'http://192.168.1.5:4700', 'ftp://x', 'nothing']) {
      expect(await cli(['pair', '--url', url])).toMatchObject({ code: 2, out: '' })
    }
    expect((await cli(['pair', '--url', 'http://127.0.0.1:4700'])).code).toBe(0)
    expect((await cli(['pair'])).err).toContain('`throughline pair --url https://…`')
    await writeFile(join(home, 'config.json'), '{"url":"https://tunnel.example"}')
    expect((await cli(['pair'])).out).toContain('https://tunnel.example/#code=')
  })
})

test('[CLI30] serve refuses an address that other machines reach, unless it has a certificate and names', async () => {
  for (const args of [
    ['--host', '0.0.0.0'],
    ['--host', '192.168.1.5', '--allow-host', 'desk.example'],
  ]) {
    const { code, err } = await cli(['serve', ...args])
    expect(code).toBe(1)
    expect(err).toMatch(/^error: .* can be reached from other machines\nnext: .*certificate/)
  }
  expect((await cli(['serve', '--tls-cert', 'c.pem'])).code).toBe(2)
})

describe('asking across sessions', () => {
  test('[CLI31] search shows where words stand, and show --at goes there', async () => {
    await start()
    await untilIndexed()
    const { code, out } = await cli(['search', 'kumquat'], { FORCE_COLOR: '1' })
    expect(code).toBe(0)
    expect(out).toContain('The \u001b[33m\u001b[1mkumquat\u001b[22m\u001b[39m is ripe.')
    const plain = await cli(['search', 'kumquat', 'ripe', '-zebra'])
    const line = /throughline (show .*)\n/.exec(plain.out)?.[1] ?? ''
    expect(line).toBe(`show aaaaaaaa --at ${kumquat.uuid}`)
    const shown = await cli(line.split(' '))
    expect(shown.out).toMatch(/▌ Please fix the checkout\n\n· .* ↓\n\nThe kumquat is ripe\.\n/)
    expect(
      (await cli([...line.split(' '), '--json'])).out.trimEnd().split('\n').map(parseJson).length,
    ).toBeGreaterThan(2)
    expect(await cli(['show', SHOP, '--at', 'nowhere'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('next: '),
    })
    expect(await json(['search', 'kumquat'])).toMatchObject({
      hits: [{ session: { id: SHOP } }],
      index: 'complete',
    })
    const first = await cli(['search', 'go', '--limit', '2'])
    expect(first.out).toContain('2 hits of 3\n')
    expect(
      (first.out + first.err).match(/[^\n\t\u0020-\u007e\u00a0-\u200a\u2010-\u2027\u202f-\ufffe]/u),
    ).toBeNull()
    const next = /next: throughline (search .*)\n/.exec(first.err)?.[1] ?? ''
    expect((await cli(next.split(' '))).out).toContain('1 hit\n')
    expect(await cli(['search', 'nosuchword'])).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringContaining('Nothing matches.'),
    })
    expect((await cli(['search', ' '])).err).toContain('search needs something to look for')
  })

  test('[CLI32] usage counts tokens by day, model, workdir and session', async () => {
    await start()
    await untilIndexed()
    const { code, out } = await cli(['usage', '--by', 'session', '--utc'])
    expect(code).toBe(0)
    expect(out).toMatch(/^session +in +out +cache read +cache write +tokens +messages +cost\n/)
    expect(out).toMatch(/\naaaaaaaa {2}Please fix the checkout .* 30 +2 /)
    expect(out).toMatch(/\ntotal .*\n\nPrices: .*, of \d{4}-\d\d-\d\d\. /)
    for (const by of ['day', 'model', 'workdir']) {
      expect(await json(['usage', '--by', by])).toMatchObject({ by, total: { messages: 3 } })
    }
    expect((await cli(['usage', '--until', '2001-01-01'])).err).toContain('Nothing was used.')
    expect((await cli(['usage', '--since', 'yesterday'])).code).toBe(2)
  })

  test.each(['with a daemon', 'without one'])('[CLI33] [C2.3] names and stars stay, %s', async (how) => {
    if (how === 'with a daemon') await start()
    expect(await cli(['rename', 'bbbb', 'All', 'about', 'tea'])).toMatchObject({
      code: 0,
      err: 'bbbbbbbb is now called All about tea\n',
    })
    expect((await cli(['star', 'All about tea'])).code).toBe(0)
    const starred = await cli(['ls', '--starred'])
    expect(starred.out).toContain('★ All about tea')
    expect(starred.out).not.toContain('checkout')
    expect((await cli(['star', BLOG, '--clear'])).code).toBe(0)
    expect(await json(['rename', BLOG, '--clear'])).toEqual({
      id: BLOG,
      name: 'Write about tea',
      nameFrom: 'prompt',
      starred: false,
    })
    expect((await cli(['rename', BLOG])).code).toBe(2)
    expect((await cli(['rename', BLOG, 'x', '--clear'])).code).toBe(2)
  })

  test('[CLI34] archive says what it keeps, and prunes what was asked for', async () => {
    await start()
    await untilIndexed()
    expect(await json(['archive'])).toMatchObject({ enabled: true, files: 2, goneSessions: 0 })
    expect(await cli(['archive', 'prune'])).toMatchObject({ code: 2, err: expect.stringContaining('next: ') })
    expect(
      await json(['archive', 'prune', '--older-than', '90d', '--larger-than', '5GB', '--dry-run']),
    ).toMatchObject({
      removed: [],
      dryRun: true,
    })
    expect((await cli(['archive', 'prune', '--older-than', 'soon'])).code).toBe(2)
    expect((await cli(['archive', 'prone'])).err).toContain('Did you mean `throughline archive prune`?')
  })
})

test('[CLI35] service writes a unit that systemd takes', async () => {
  const path = join(temp.path, '.config/systemd/user/throughline.service')
  const env = { ALLOWED_ROOTS: '/a b:/100%/"q"' }
  expect((await cli(['service', 'status'], env)).code).toBe(3)
  const { code, err } = await cli(['service', 'install'], env)
  expect(code).toBe(0)
  expect(err).toMatch(
    /^Wrote ~.*throughline\.service\nnext: systemctl --user daemon-reload\nnext: systemctl --user enable --now throughline\.service\n$/,
  )
  const unit = await readFile(path, 'utf8')
  expect(unit).toContain(`ExecStart="${process.execPath}" "--max-semi-space-size=2" "${main}" "serve"\n`)
  expect(unit).toContain('Environment="ALLOWED_ROOTS=/a b:/100%%/\\"q\\""\n')
  expect((await stat(path)).mode & 0o777).toBe(0o600)
  expect(await json(['service', 'status'], env)).toMatchObject({
    manager: 'systemd',
    installed: true,
    current: true,
  })
  const verified = await promisify(execFile)('systemd-analyze', ['--user', 'verify', path]).catch(
    (error: unknown) => error,
  )
  if (!(verified instanceof Error && 'code' in verified && verified.code === 'ENOENT')) {
    expect(String(string(verified, 'stderr'))).not.toContain('throughline.service:')
  }
})

test('[CLI35] the unit finds agents where the person does: it carries PATH, and another shell does not make it outdated', async () => {
  const path = join(temp.path, '.config/systemd/user/throughline.service')
  const PATH = `/home/some one/.local/bin:${process.env['PATH'] ?? ''}`
  expect((await cli(['service', 'install'], { PATH })).code).toBe(0)
  expect(await readFile(path, 'utf8')).toContain(`Environment="PATH=${PATH}"\n`)
  expect(await json(['service', 'status'])).toMatchObject({ installed: true, current: true })
})

test('[CLI35] uninstall takes the unit with its link, and names commands that work without the file', async () => {
  const folder = join(temp.path, '.config/systemd/user')
  await cli(['service', 'install'])
  const link = join(folder, 'default.target.wants/throughline.service')
  await mkdir(dirname(link), { recursive: true })
  await symlink(join(folder, 'throughline.service'), link)
  const { code, err } = await cli(['service', 'uninstall'])
  expect(code).toBe(0)
  expect(await readdir(folder)).toEqual(['default.target.wants'])
  expect(await readdir(dirname(link))).toEqual([])
  expect(err).toMatch(
    /^Removed ~.*throughline\.service\nnext: systemctl --user stop throughline\.service\nnext: systemctl --user daemon-reload\n$/,
  )
})

test('[CLI36] a reading command says the same with a daemon and without; one with other settings is not asked', async () => {
  const commands = [
    ['ls', '--json'],
    ['show', SHOP, '--full'],
    ['show', SHOP, '--json'],
    ['check', SHOP],
    ['export', SHOP, '--format', 'html'],
    ['show', SHOP, '--raw'],
  ]
  const without = await Promise.all(commands.map((args) => cli(args)))
  await start()
  const before = await requestsIn()
  const withDaemon = await Promise.all(commands.map((args) => cli(args)))
  expect(withDaemon.slice(1)).toEqual(without.slice(1))
  const ids = (result: Result | undefined): unknown =>
    list(parseJson(result?.out ?? ''), 'sessions').map((one) => string(one, 'id'))
  expect(ids(withDaemon[0])).toEqual(ids(without[0]))
  expect(await requestsIn()).toBeGreaterThan(before)
  expect((await cli(['ls'], { ALLOWED_ROOTS: '/home/user/work/blog' })).out).not.toContain('checkout')
  const other = join(root, 'test/fixtures/claude/tui/config')
  expect((await cli(['ls'], { CLAUDE_CONFIG_DIR: other })).out).toContain('Tui session')
  expect((await readdir(home)).toSorted()).toContain('secret')
})

async function requestsIn(): Promise<number> {
  const log = await readFile(join(home, 'logs/daemon.jsonl'), 'utf8')
  return log.split('\n').filter((line) => line.includes('"route":"sessions"')).length
}
