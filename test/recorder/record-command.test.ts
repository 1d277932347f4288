import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { list, parseJson, string } from '#base'
import {
  mountSmallDisk,
  openModelApi,
  openTempDir,
  type ModelApi,
  type ModelStep,
  type TempDir,
} from '#testing'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { MAIN, runCommand, type Result } from '../mcp-process.ts'
import { freePort, readRecordings } from './proxy-place.ts'

const AGENT = join(import.meta.dirname, 'small-agent.mjs')
const NODE = process.execPath

let temp: TempDir
let api: ModelApi
let env: Record<string, string>
let workdir: string
let script: () => readonly ModelStep[] = () => [{ kind: 'text', text: 'Hello there.' }]

beforeAll(async () => {
  if (!existsSync(MAIN)) throw new Error('run `npm run build` first')
  temp = await openTempDir()
  api = await openModelApi(() => script())
})
afterAll(async () => {
  await api.close()
  await temp.remove()
})
let count = 0
beforeEach(() => {
  script = () => [{ kind: 'text', text: 'Hello there.' }]
  const root = join(temp.path, String(++count))
  workdir = join(root, 'work')
  mkdirSync(workdir, { recursive: true })
  env = {
    PATH: process.env['PATH'] ?? '',
    HOME: root,
    THROUGHLINE_HOME: join(root, 'home'),
    CLAUDE_CONFIG_DIR: join(root, 'claude'),
    ANTHROPIC_BASE_URL: api.url,
  }
})

const record = (...args: readonly string[]): Promise<Result> => runCommand(['record', ...args], env, workdir)

/** The command, running. It goes with the test. */
function start(
  args: readonly string[],
  more: Record<string, string> = {},
): ChildProcessWithoutNullStreams & {
  readonly said: () => string
  readonly lines: () => readonly unknown[]
} {
  const child = spawn(NODE, [MAIN, 'record', ...args], {
    cwd: workdir,
    env: { ...env, ...more },
    stdio: 'pipe',
    // A group of its own: the command that it runs goes with it.
    detached: true,
  })
  let [out, err] = ['', '']
  child.stdout.on('data', (piece: Buffer) => (out += piece.toString()))
  child.stderr.on('data', (piece: Buffer) => (err += piece.toString()))
  const ended = new Promise((resolve) => child.once('close', resolve))
  onTestFinished(async () => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
    } catch {
      // All of it is gone already.
    }
    await ended
  })
  return Object.assign(child, {
    said: () => out + err,
    lines: () =>
      out
        .split('\n')
        .filter((line) => line !== '')
        .map(parseJson),
  })
}

const endOf = (
  child: ChildProcessWithoutNullStreams,
): Promise<readonly [number | null, NodeJS.Signals | null]> =>
  new Promise((resolve) => child.once('close', (code, signal) => resolve([code, signal])))

const status = async (): Promise<readonly unknown[]> =>
  list(parseJson((await runCommand(['status', '--json'], env)).out), 'recorders')

describe('a command', () => {
  test('[PRX21] gets the addresses in its environment and its words as they are, and nothing is added to what it prints', async () => {
    const show =
      'process.stdout.write(JSON.stringify([process.argv.slice(1), process.env.ANTHROPIC_BASE_URL, process.env.OPENAI_BASE_URL, process.env.OPENAI_API_BASE, process.env.GOOGLE_GEMINI_BASE_URL, process.env.NO_PROXY, process.env.KEPT]))'
    env = { ...env, KEPT: 'yes', HTTPS_PROXY: 'http://127.0.0.1:9' }
    const { code, out, err } = await record(
      '--',
      NODE,
      '-e',
      show,
      '--',
      '-v',
      '--json',
      '--help',
      '-h',
      '--',
      'x y',
    )
    expect(code).toBe(0)
    const [args, anthropic, openai, older, gemini, direct, kept] = list({ out: parseJson(out) }, 'out')
    expect(args).toEqual(['-v', '--json', '--help', '-h', '--', 'x y'])
    expect(anthropic).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/[\w-]{32}\/anthropic$/u)
    expect([openai, older]).toEqual([String(anthropic).replace(/anthropic$/u, 'openai'), openai])
    expect([gemini, direct, kept]).toEqual([
      String(anthropic).replace(/anthropic$/u, 'gemini'),
      '127.0.0.1,localhost',
      'yes',
    ])
    expect(err).toContain('nothing was recorded: the command asked no model')
  })

  test('[PRX20] [PRX21] its exit code is the exit code, its death by a signal the death by that signal', async () => {
    expect((await record('--quiet', '--', NODE, '-e', 'process.exit(7)')).code).toBe(7)
    expect(await endOf(start(['--', NODE, '-e', 'process.kill(process.pid, "SIGTERM")']))).toEqual([
      null,
      'SIGTERM',
    ])
    expect((await record('--', join(workdir, 'nothing-there'))).code).toBe(127)
    writeFileSync(join(workdir, 'plain'), 'x')
    expect((await record('--', join(workdir, 'plain'))).code).toBe(126)
    const { code, err } = await record()
    expect([code, err]).toEqual([2, expect.stringContaining('throughline record -- claude')])
  })

  test('[PRX20] a signal for it is passed on, and what was said is recorded whole before the end', async () => {
    const child = start(['--', NODE, AGENT, 'one'], { HOLD: '1' })
    await expect.poll(() => child.said()).toContain('Hello there.')
    child.kill('SIGTERM')
    expect(await endOf(child)).toEqual([9, null])
    const [folder = ''] = readdirSync(join(workdir, '.entire', 'metadata'))
    expect(existsSync(join(workdir, '.entire', 'metadata', folder, 'context.md'))).toBe(true)
    expect(readRecordings(workdir)[0]).toHaveLength(2)
  })

  test('[PRX23] the end says what was recorded, where, and what it cost; as JSON; or nothing', async () => {
    const plain = await record('--', NODE, AGENT, 'one', 'two')
    const [folder = ''] = readdirSync(join(workdir, '.entire', 'metadata'))
    expect(plain.out).toBe('Hello there.\nHello there.\n')
    expect(plain.err).toContain(folder)
    expect(plain.err).toContain('small-agent · 4 turns · 424 in, 6 out, 2000 cached')
    const json = await record('--json', '--agent', 'mine', '--', NODE, AGENT, 'one')
    expect(parseJson(json.err)).toMatchObject({
      missing: 0,
      recorded: [{ turns: 2, tokens: { input: 12, output: 3 } }],
    })
    const quiet = await record('--quiet', '--dir', join(workdir), '--', NODE, AGENT, 'one')
    expect(quiet.err).toBe('')
    const all = readRecordings(workdir)
    expect(all.map((lines) => string(lines[0], 'agent') ?? '').toSorted()).toEqual([
      'mine',
      'small-agent',
      'small-agent',
    ])
    expect(string(all[0]?.[0], 'version')).toBe('1.2.3')
  })

  test('[PRX22] when nothing can be written the agent goes on, and one is told at once and at the end', async () => {
    writeFileSync(join(workdir, '.entire'), 'not a folder')
    const child = start(['--', NODE, AGENT, 'one', 'two'], { HOLD: '1' })
    await expect.poll(() => child.said()).toContain('Hello there.\nHello there.')
    await expect.poll(() => child.said()).toContain('error: not recording:')
    // What a status says is a moment old.
    await expect.poll(status).toMatchObject([{ alarms: [expect.stringContaining('Not recording: ')] }])
    child.kill('SIGTERM')
    expect(await endOf(child)).toEqual([9, null])
    expect(child.said()).toMatch(/\d turns could not be recorded/u)
    expect(readFileSync(join(workdir, '.entire'), 'utf8')).toBe('not a folder')
  })

  test('[PRX22] a disk that is full loses nothing for good while the agent goes on: it is written when there is room', async () => {
    const folder = join(temp.path, String(count), 'small')
    const disk = mountSmallDisk(folder, 'size=300k')
    if (disk === undefined) return
    onTestFinished(() => disk.remove())
    const filler = join(folder, 'filler')
    writeFileSync(filler, Buffer.alloc(260 * 1024))
    const gate = join(temp.path, String(count), 'gate')
    let asked = 0
    script = () => [{ kind: 'text', text: `Answer ${String(++asked)}.` }]
    const words = ['a'.repeat(60_000), 'two', 'three'] as const
    const child = start(['--dir', folder, '--json', '--', NODE, AGENT, ...words], { GATE: gate })
    await expect.poll(() => child.said()).toContain('error: not recording:')
    disk.remount('size=4m')
    writeFileSync(gate, '')
    expect(await endOf(child)).toEqual([0, null])
    const said = readRecordings(folder)[0]?.map((line) =>
      JSON.stringify(line['message']).replaceAll(/a{10,}/gu, 'aaa'),
    )
    expect(said).toHaveLength(6)
    for (const one of ['aaa', 'Answer 1.', 'Answer 2.', 'three', 'Answer 3.'])
      expect(said?.join('\n')).toContain(one)
    expect(child.said()).toContain('"missing":0')
  })
})

describe('a proxy that stays', () => {
  test('[PRX24] [PRX26] says its addresses, shows what it records, and ends what it began when it is stopped', async () => {
    const child = start(['--serve', '--port', await freePort(), '--json', '--dir', workdir])
    await expect.poll(() => child.lines().length).toBeGreaterThan(0)
    const [ready] = child.lines()
    const url = string(ready, 'ANTHROPIC_BASE_URL') ?? ''
    const agent = spawn(NODE, [AGENT, 'one', 'two'], { env: { ...env, ANTHROPIC_BASE_URL: url } })
    await new Promise((resolve) => agent.once('close', resolve))
    await expect.poll(() => child.lines().filter((line) => string(line, 'event') === 'turn').length).toBe(4)
    await expect.poll(async () => JSON.stringify(await status())).toContain('"turns":4')
    expect(await status()).toMatchObject([
      { mode: 'serve', answers: 2, alarms: [], conversations: [{ agent: 'small-agent', lost: 0 }] },
    ])
    const run = join(env['THROUGHLINE_HOME'] ?? '', 'run', 'recorders')
    const files = readdirSync(run).map((name) => join(run, name))
    for (const file of [...files, join(env['THROUGHLINE_HOME'] ?? '', 'record-secret')])
      expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(files.map((file) => readFileSync(file, 'utf8')).join('')).not.toContain(url.split('/')[3])
    child.kill('SIGTERM')
    expect(await endOf(child)).toEqual([0, null])
    expect(child.lines().at(-1)).toMatchObject({ event: 'stopped', missing: 0 })
    expect(await status()).toEqual([])
    const again = start(['--serve', '--port', url.split(':')[2]?.split('/')[0] ?? '', '--json'])
    await expect.poll(() => string(again.lines()[0], 'ANTHROPIC_BASE_URL')).toBe(url)
    again.kill('SIGINT')
    expect(await endOf(again)).toEqual([0, null])
  })

  test('[PRX25] records in the folder that a client names when it is there and may be shown, else in the home folder', async () => {
    const [inside, outside] = [join(workdir, 'inside'), join(temp.path, String(count), 'outside')]
    for (const folder of [inside, outside]) mkdirSync(folder)
    const child = start(['--serve', '--json', '--port', await freePort()], {
      ALLOWED_ROOTS: workdir,
    })
    await expect.poll(() => child.lines().length).toBeGreaterThan(0)
    const url = string(child.lines()[0], 'ANTHROPIC_BASE_URL') ?? ''
    for (const folder of [inside, outside, join(workdir, 'gone')]) {
      const agent = spawn(NODE, [AGENT, `in ${folder}`], {
        env: { ...env, ANTHROPIC_BASE_URL: url, SYSTEM: ` - Primary working directory: ${folder}\n` },
      })
      await new Promise((resolve) => agent.once('close', resolve))
    }
    await expect.poll(() => child.lines().filter((line) => string(line, 'event') === 'turn').length).toBe(6)
    expect(readRecordings(inside)).toHaveLength(1)
    expect(readRecordings(outside)).toEqual([])
    expect(readRecordings(join(env['THROUGHLINE_HOME'] ?? '', 'recorded', 'proxy'))).toHaveLength(2)
  })

  test('[PRX26] an agent that works below a proxy and does not ask it raises the alarm', async () => {
    const sessions = join(env['CLAUDE_CONFIG_DIR'] ?? '', 'sessions')
    mkdirSync(sessions, { recursive: true })
    const hold = 'console.log(process.pid); setInterval(() => {}, 1000)'
    const child = start(['--', NODE, '-e', hold])
    await expect.poll(() => child.said()).toMatch(/^\d+\n/u)
    const pid = Number(child.said().split('\n')[0])
    const sessionId = '11111111-2222-4333-8444-555555555555'
    writeFileSync(
      join(sessions, `${String(pid)}.json`),
      JSON.stringify({ pid, sessionId, cwd: workdir, startedAt: 1, status: 'busy' }),
    )
    expect(await status()).toMatchObject([{ mode: 'run', alarms: [expect.stringContaining(sessionId)] }])
    child.kill('SIGTERM')
    expect(await endOf(child)).toEqual([null, 'SIGTERM'])
  })
})
