import { number, parseJson } from '#base'
import { createLines, openTempDir, SESSION, toJsonl, writeTranscript, type TempDir } from '#testing'
import { execFileSync, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'

const main = join(import.meta.dirname, '..', 'dist/bin/throughline.js')

let temp: TempDir
let home: string
beforeEach(async () => {
  if (!existsSync(main)) throw new Error('run `npm run build` first')
  temp = await openTempDir()
  home = join(temp.path, 'home')
  const lines = toJsonl([createLines().prompt('Where does the kumquat grow?')])
  await writeTranscript(join(temp.path, 'claude'), lines)
})
afterEach(() => temp.remove())

interface Result {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

async function cli(...args: readonly string[]): Promise<Result> {
  const env = {
    PATH: process.env['PATH'] ?? '',
    HOME: temp.path,
    THROUGHLINE_HOME: home,
    CLAUDE_CONFIG_DIR: join(temp.path, 'claude'),
  }
  const child = spawn(process.execPath, [main, ...args], { cwd: temp.path, env, stdio: 'pipe' })
  let [out, err] = ['', '']
  child.stdout.on('data', (piece) => (out += String(piece)))
  child.stderr.on('data', (piece) => (err += String(piece)))
  const code = await new Promise<number | null>((done) => child.on('close', done))
  return { code, out, err }
}

/** What can be done without a daemon is done. */
async function expectReading(): Promise<void> {
  const reading = [['ls'], ['show', SESSION], ['search', 'kumquat']]
  const results = await Promise.all(reading.map((args) => cli(...args)))
  const found = { code: 0, out: expect.stringContaining('kumquat') }
  expect(results).toEqual(reading.map(() => expect.objectContaining(found)))
}

test('[CLI37] a daemon that does not answer is told from none, and is not in the way of reading', async () => {
  const pid = number(parseJson((await cli('start', '--no-open', '--json')).out), 'pid') ?? 0
  try {
    process.kill(pid, 'SIGSTOP')
    const asking = [['status'], ['stop'], ['start', '--no-open'], ['devices']]
    const results = await Promise.all(asking.map((args) => cli(...args)))
    const said = new RegExp(`^error: the daemon \\(pid ${pid}\\) .*does not answer .*\nnext: .*${pid}.*\n$`)
    expect(results).toEqual(asking.map(() => ({ code: 1, out: '', err: expect.stringMatching(said) })))
    await expectReading()
    process.kill(pid, 'SIGCONT')
    expect((await cli('status')).code).toBe(0)
    expect(await cli('stop')).toMatchObject({ code: 0, err: `Stopped (pid ${pid}).\n` })
  } finally {
    if (isThere(pid)) process.kill(pid, 'SIGKILL')
  }
})

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** A file system that was used, full or empty, and takes no change from now on; `undefined` where none can be made. */
function mountReadOnly(): (() => void) | undefined {
  try {
    execFileSync('mount', ['--bind', home, home], { stdio: 'ignore' })
  } catch {
    return undefined
  }
  execFileSync('mount', ['-o', 'remount,ro,bind', home], { stdio: 'ignore' })
  return () => execFileSync('umount', ['-l', home])
}

const canMount = process.platform === 'linux' && process.getuid?.() === 0

describe.skipIf(!canMount)('a home that takes no change', () => {
  test.for(['new', 'used'])(
    '[FLT11] %s: no daemon starts, that is said, and reading goes on',
    async (how, { skip }) => {
      await mkdir(home, { mode: 0o700 })
      if (how === 'used') {
        expect((await cli('start', '--no-open')).code).toBe(0)
        expect((await cli('stop')).code).toBe(0)
      }
      const unmount = mountReadOnly()
      if (unmount === undefined) return skip()
      try {
        for (const args of [['serve'], ['start', '--no-open'], ['start', '--no-open', '--json']]) {
          const { code, out, err } = await cli(...args)
          expect([args, code, out]).toEqual([args, 1, ''])
          expect(err).toMatch(/(?:is on a file system that takes no change|no folder can be made in)/)
          expect(err).toContain(home)
          expect(err).toMatch(/THROUGHLINE_HOME/)
          expect(err).not.toMatch(/EROFS|unexpected|\n\s+at /)
        }
        await expectReading()
      } finally {
        unmount()
      }
    },
  )
})

test('[FLT11] a home that is no folder is said to be none', async () => {
  await writeFile(home, '')
  for (const args of [['serve'], ['start', '--no-open']]) {
    const { code, err } = await cli(...args)
    expect([args, code, err]).toEqual([
      args,
      1,
      expect.stringMatching(/^error: .* is no folder, .*\nnext: .*THROUGHLINE_HOME/),
    ])
  }
})
