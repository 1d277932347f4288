import { execFile, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { field, number, parseJson, string } from '#base'
import { openJournal } from '#journal'
import { randomFrom } from '#testing'

const root = join(import.meta.dirname, '..', '..')
const run = promisify(execFile)

/** `RUNS=full` for the figures of the release; `SEED` repeats the random choices of a run. */
const KILLS = process.env['RUNS'] === 'full' ? 220 : 25
const SEED = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31))
const HANG = 900_000

let home: string

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'journal-'))
  await buildIfStale()
})
afterAll(async () => {
  await rm(home, { recursive: true, force: true })
})

/** The children run what is in `dist`; this keeps it from being older than what is tested. */
async function buildIfStale(): Promise<void> {
  const sources = await Promise.all(
    ['journal', 'testing', 'base'].map((room) => newest(join(root, 'src', room))),
  )
  const built = await stat(join(root, 'dist', 'testing', 'journal-self-killer.js')).catch(() => undefined)
  const writer = await stat(join(root, 'dist', 'journal', 'writer.js')).catch(() => undefined)
  if (built && writer && Math.max(...sources) < Math.min(built.mtimeMs, writer.mtimeMs)) return
  // Errors in rooms that these children do not enter are of no concern here; a missing script shows soon enough.
  await run(process.execPath, [join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '-b', 'src/testing'], {
    cwd: root,
  }).catch(() => {})
}

async function newest(folder: string): Promise<number> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
  return Math.max(...(await Promise.all(names.map(async (name) => (await stat(join(folder, name))).mtimeMs))))
}

function script(name: string): string {
  return join(root, 'dist', 'testing', `${name}.js`)
}

/** A child whose standard output is read line by line; `undefined` is its end. */
function start(name: string, ...args: readonly string[]) {
  const child: ChildProcess = spawn(process.execPath, [script(name), ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const { stdin, stdout } = child
  if (!stdin || !stdout) throw new Error('the child has no pipes')
  const lines = createInterface({ input: stdout })[Symbol.asyncIterator]()
  return {
    child,
    exited: once(child, 'exit'),
    tell: (order: string): boolean => stdin.write(`${order}\n`),
    hear: async (): Promise<string | undefined> => {
      const next = await lines.next()
      return next.done === true ? undefined : next.value
    },
  }
}

type Tally = Record<
  'kills' | 'killedWhileOpening' | 'acknowledged' | 'present' | 'lost' | 'unparseable' | 'torn',
  number
>

test(
  '[J1] [J2] [J3] [J4] [T12] kill -9 at random moments loses no acknowledged line and leaves none that does not parse',
  async () => {
    const tally = {
      kills: 0,
      killedWhileOpening: 0,
      acknowledged: 0,
      present: 0,
      lost: 0,
      unparseable: 0,
      torn: 0,
    }
    const random = randomFrom(SEED)
    try {
      while (tally.kills < KILLS) await killAFewTimes(random, tally)
    } catch (cause) {
      throw new Error(`after ${JSON.stringify(tally)}; again with SEED=${SEED}`, { cause })
    }
    process.stdout.write(`journal, kill -9: ${JSON.stringify({ ...tally, seed: SEED })}\n`)
    expect(tally).toMatchObject({ kills: KILLS, lost: 0, unparseable: 0 })
    expect(tally.acknowledged).toBeGreaterThan(0)
  },
  HANG,
)

/** One journal that several writers die on, each going on where the last one was killed. */
async function killAFewTimes(random: () => number, tally: Tally): Promise<void> {
  const folder = await mkdtemp(join(home, 'kill-'))
  const path = join(folder, 'j.jsonl')
  const sure = new Set<number>()
  let present: readonly number[] = []
  for (let round = 0; round < 5; round++) {
    const printed = await killedRun(path, (present.at(-1) ?? -1) + 1, random)
    if (printed.length === 0) tally.killedWhileOpening++
    const acknowledged = printed.filter((line) => line !== 'open').map(Number)
    for (const n of acknowledged) sure.add(n)

    // The lock is free at once, and opening mends the journal.
    await (await openJournal(path)).close()
    const found = await linesOf(path)
    present = found.numbers
    expect(present).toEqual([...new Set(present)].toSorted((a, b) => a - b))
    const there = new Set(present)
    tally.lost += [...sure].filter((n) => !there.has(n)).length
    tally.unparseable += found.unparseable
    expect(tally).toMatchObject({ lost: 0, unparseable: 0 })
    tally.kills++
    tally.acknowledged += acknowledged.length
  }
  const names = await readdir(folder)
  const aside = names.filter((name) => name.includes('.torn-'))
  expect(names.filter((name) => !aside.includes(name))).toEqual(['j.jsonl'])
  tally.present += present.length
  tally.torn += aside.length
  await rm(folder, { recursive: true })
}

/** Lets an appender work for a random while, kills it, and gives the lines it printed. */
async function killedRun(path: string, first: number, random: () => number): Promise<readonly string[]> {
  const seed = Math.floor(random() * 2 ** 31)
  // A large line takes long to write, and so is more often hit in the middle.
  const greatest = random() < 0.7 ? 1_000_000 : 8_000_000
  const { child, exited, hear } = start('journal-appender', path, ...[first, seed, greatest].map(String))
  const printed: string[] = []
  const listen = async (wanted: number): Promise<void> => {
    for (let line = await hear(); line !== undefined; line = await hear())
      if (printed.push(line) === wanted) return
  }
  // One in five dies around its start, when it takes the lock and mends the tail; the others while they write.
  const isEarly = random() < 0.2
  if (!isEarly) await listen(1)
  const killed = sleep(isEarly ? 30 + random() * 60 : random() * 120).then(() => child.kill('SIGKILL'))
  await listen(Number.POSITIVE_INFINITY)
  await Promise.all([killed, exited])
  return printed
}

test(
  '[J1] [J2] [J3] [T12] killed in the n-th operation for every n, a journal keeps what was acknowledged and takes more',
  async () => {
    const path = join(home, 'every-n', 'j.jsonl')
    await (await openJournal(path)).close()
    const sure: number[] = []
    let present: readonly number[] = []
    let signal: unknown = 'SIGKILL'
    let n = 0
    while (signal === 'SIGKILL') {
      n++
      const { exited, hear } = start(
        'journal-self-killer',
        path,
        String(n),
        String((present.at(-1) ?? -1) + 1),
      )
      for (let line = await hear(); line !== undefined; line = await hear()) sure.push(Number(line))
      ;[, signal] = await exited
      await (await openJournal(path)).close()
      const found = await linesOf(path)
      expect(found.unparseable).toBe(0)
      present = found.numbers
      expect(present).toEqual([...new Set(present)].toSorted((a, b) => a - b))
      const there = new Set(present)
      expect({ n, lost: sure.filter((line) => !there.has(line)) }).toEqual({ n, lost: [] })
    }
    expect({ signal, sure: sure.length > 7, n: n > 12 }).toEqual({ signal: null, sure: true, n: true })
  },
  HANG,
)

/** The numbers of all lines, with a reader of its own that also looks whether each is still what was appended. */
async function linesOf(path: string): Promise<{ numbers: readonly number[]; unparseable: number }> {
  const lines = (await readFile(path, 'utf8')).split('\n')
  const numbers: number[] = []
  // Behind the last newline there is nothing, or a torn line.
  let unparseable = lines.pop() === '' ? 0 : 1
  for (const line of lines) {
    const value = parseJson(line)
    const n = number(value, 'n')
    if (n !== undefined && string(value, 'text')?.length === number(value, 'size')) numbers.push(n)
    else unparseable++
  }
  return { numbers, unparseable }
}

describe('many processes, one journal', () => {
  test(
    '[J4] exactly one of them opens it, the others name it, and after its kill -9 the next one takes over',
    async () => {
      const path = join(home, 'contended', 'j.jsonl')
      let rivals = Array.from({ length: 10 }, () => start('journal-contender', path))
      expect(await Promise.all(rivals.map(async ({ hear }) => await hear()))).toEqual(
        rivals.map(() => 'ready'),
      )
      const milliseconds: number[] = []
      while (rivals.length > 0) {
        const began = performance.now()
        for (const { tell } of rivals) tell('open')
        const answers = await Promise.all(rivals.map(async ({ hear }) => await hear()))
        milliseconds.push(Math.round(performance.now() - began))

        const [winner, ...more] = rivals.filter((_, i) => answers[i] === 'open')
        expect(more).toEqual([])
        const refusal = `journal-locked ${path} is being written by process ${winner?.child.pid}`
        expect(answers.filter((answer) => answer !== 'open')).toEqual(rivals.slice(1).map(() => refusal))

        winner?.child.kill('SIGKILL')
        await winner?.exited
        rivals = rivals.filter((rival) => rival !== winner)
      }
      process.stdout.write(
        `journal, ms until all contenders had an answer: ${JSON.stringify(milliseconds)}\n`,
      )
    },
    HANG,
  )

  test(
    '[J4] a holder that is stopped still holds, and one that closes lets go',
    async () => {
      const path = join(home, 'stopped', 'j.jsonl')
      const { child, exited, tell, hear } = start('journal-contender', path)
      tell('open')
      expect([await hear(), await hear()]).toEqual(['ready', 'open'])
      child.kill('SIGSTOP')
      await expect(openJournal(path)).rejects.toMatchObject({
        code: 'journal-locked',
        message: expect.stringContaining(`process ${child.pid}`),
      })
      child.kill('SIGCONT')
      tell('close')
      expect(await hear()).toBe('closed')
      await (await openJournal(path)).close()
      child.kill('SIGKILL')
      await exited
    },
    HANG,
  )
})

function refused(code: string): string {
  return `journal-unwritable ${code}`
}

describe('a disk that is too small', () => {
  test('[J6] [J7] [T11] at the limit of the file size only what does not fit is refused', async () => {
    const path = join(await mkdtemp(join(home, 'limit-')), 'j.jsonl')
    const sizes = ['60000', '60000', '60000', '60000', '1000', '200000', '1000']
    const { stdout } = await run('bash', [
      '-c',
      // In units of 1024 bytes. Node ignores SIGXFSZ, so the write fails with EFBIG, after a short count.
      'ulimit -f 200; exec "$0" "$@"',
      process.execPath,
      script('journal-filler'),
      path,
      '0',
      ...sizes,
    ])
    expect(JSON.parse(stdout)).toEqual({
      outcomes: [
        'acknowledged',
        'acknowledged',
        'acknowledged',
        refused('EFBIG'),
        'acknowledged',
        refused('EFBIG'),
        'acknowledged',
      ],
      present: [0, 1, 2, 4, 6],
    })
    const journal = await openJournal(path)
    await journal.append({ n: 7 })
    await journal.close()
    expect(
      (await readFile(path, 'utf8'))
        .trimEnd()
        .split('\n')
        .map((line) => field(JSON.parse(line), 'n')),
    ).toEqual([0, 1, 2, 4, 6, 7])
    expect((await readdir(join(path, '..'))).toSorted()).toEqual(['j.jsonl', 'j.jsonl.ballast'])
  })

  const mayMount = process.platform === 'linux' && process.getuid?.() === 0
  test.skipIf(!mayMount)(
    '[J6] [T11] on a full disk nothing is claimed, and the writer resumes when there is space (root only)',
    async () => {
      const folder = await mkdtemp(join(home, 'full-'))
      const sizes = ['60000', '60000', '90000', '90000', 'free', '90000', '10']
      const { stdout } = await run('unshare', [
        '--mount',
        'bash',
        '-c',
        'mount -t tmpfs -o size=400k none "$1" && shift && exec "$0" "$@"',
        process.execPath,
        folder,
        script('journal-filler'),
        join(folder, 'j.jsonl'),
        '200000',
        ...sizes,
      ])
      expect(JSON.parse(stdout)).toEqual({
        outcomes: [
          'acknowledged',
          'acknowledged',
          refused('ENOSPC'),
          refused('ENOSPC'),
          'freed',
          'acknowledged',
          'acknowledged',
        ],
        present: [0, 1, 5, 6],
      })
    },
  )
})
