import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { field, parseJson, string } from '#base'
import { finishRecordings } from '#recorder'
import { checkWithEntire, findJq, mountSmallDisk, openTempDir, runs, type TempDir } from '#testing'

const root = join(import.meta.dirname, '..', '..')
const HANG = 900_000
const { numRuns: KILLS, seed: SEED = Math.floor(Math.random() * 2 ** 31) } = runs(30)
/** Every operation in turn takes a process each: everyday runs look at some of them, and not always the same. */
const STRIDE = process.env['RUNS'] === 'full' ? 1 : 8

let dir: TempDir
beforeAll(async () => {
  dir = await openTempDir()
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  // The children run what is in `dist`. Errors in rooms that they do not enter are of no concern here.
  await promisify(execFile)(process.execPath, [tsc, '-b', 'src/testing'], { cwd: root }).catch(() => {})
}, HANG)
afterAll(async () => await dir.remove())

function start(name: string, ...args: readonly string[]) {
  const child = spawn(process.execPath, [join(root, 'dist', 'testing', `${name}.js`), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  return {
    child,
    lines: createInterface({ input: child.stdout })[Symbol.asyncIterator](),
    exited: once(child, 'exit'),
  }
}

/** The lines of a transcript by uuid. Each must be whole, and hang from one before it. */
function readWhole(path: string): ReadonlyMap<string, unknown> {
  const text = readFileSync(path, 'utf8')
  expect(text === '' || text.endsWith('\n')).toBe(true)
  const found = new Map<string, unknown>()
  for (const line of text.split('\n').slice(0, -1)) {
    const value = parseJson(line)
    const parent = field(value, 'parentUuid')
    if (typeof parent === 'string') expect(found.has(parent)).toBe(true)
    else expect([found.size, parent]).toEqual([0, null])
    found.set(string(value, 'uuid') ?? '', value)
  }
  return found
}

async function expectSound(cwd: string, acknowledged: ReadonlyMap<string, readonly string[]>): Promise<void> {
  // The rules of Entire are slow on long transcripts.
  const isChecked = [...acknowledged.values()].flat().length < 60
  const finished = await finishRecordings(cwd)
  expect(finished.filter(({ outcome }) => outcome !== 'finished')).toEqual([])
  for (const [path, uuids] of acknowledged) {
    if (uuids.length === 0) continue
    const there = readWhole(path)
    expect(uuids.filter((uuid) => !there.has(uuid))).toEqual([])
    expect(readFileSync(join(dirname(path), 'prompt.txt'), 'utf8')).toMatch(/^begin /)
    expect(readFileSync(join(dirname(path), 'context.md'), 'utf8')).toContain('## Key Actions')
    if (isChecked && findJq() !== undefined) expect((await checkWithEntire(path)).errors).toEqual({})
  }
}

test(
  '[REC24] [D6.1] kill -9 at random moments loses no acknowledged turn, and what is missing is derived again',
  async () => {
    let acknowledgedInAll = 0
    let done = 0
    const killAll = async (lane: number): Promise<void> => {
      for (let run = lane; run < KILLS; run += 2) {
        const cwd = await mkdtemp(join(dir.path, 'kill-'))
        const { child, lines, exited } = start('recording-writer', cwd, String(SEED + run))
        const heard = new Map<string, string[]>()
        // Some die while they begin, the others while they write.
        const wanted = (SEED + run * 7) % 4 === 0 ? 1 : 2 + ((SEED + run * 31) % 40)
        let count = 0
        for (let next = await lines.next(); next.done !== true; next = await lines.next()) {
          const [first = '', second = ''] = next.value.split(' ')
          if (first === 'open') heard.set(second, [])
          else [...heard].find(([path]) => basename(dirname(path)) === first)?.[1].push(second)
          count++
          if (count === wanted) void sleep((SEED + run) % 13).then(() => child.kill('SIGKILL'))
        }
        await exited
        await expectSound(cwd, heard)
        acknowledgedInAll += [...heard.values()].flat().length
        done++
      }
    }
    try {
      await Promise.all([killAll(0), killAll(1)])
    } catch (cause) {
      throw new Error(`after ${done} kills; again with SEED=${SEED}`, { cause })
    }
    process.stdout.write(
      `recordings, kill -9: ${JSON.stringify({ kills: done, acknowledgedInAll, seed: SEED })}\n`,
    )
    expect(done).toBe(KILLS)
    expect(acknowledgedInAll).toBeGreaterThan(0)
  },
  HANG,
)

/** What a faulter said of one run. */
interface Told {
  readonly path: string
  readonly acknowledged: Map<string, string>
  readonly refused: string[]
}

async function hear(lines: AsyncIterator<string>): Promise<readonly Told[]> {
  const told: Told[] = []
  for (let next = await lines.next(); next.done !== true; next = await lines.next()) {
    const [first = '', second = '', third = ''] = next.value.split(' ')
    const now = told.at(-1)
    if (first === 'open') told.push({ path: third, acknowledged: new Map(), refused: [] })
    else if (first === 'refused') now?.refused.push(second)
    else if (first !== 'end') now?.acknowledged.set(first, second)
  }
  return told
}

async function expectTold({ path, acknowledged, refused }: Told, cwd: string): Promise<void> {
  const finished = await finishRecordings(cwd)
  expect(finished.filter(({ outcome }) => outcome !== 'finished')).toEqual([])
  if (acknowledged.size === 0) return
  const there = readWhole(path)
  expect([...acknowledged.keys()].filter((uuid) => !there.has(uuid))).toEqual([])
  const said = JSON.stringify([...there.values()].map((line) => field(field(line, 'message'), 'content')))
  expect(refused.filter((word) => said.includes(`"${word}`))).toEqual([])
  const prompt = [...acknowledged.values()].find((word) => word !== 'two')
  const file = join(dirname(path), 'prompt.txt')
  if (prompt !== undefined) expect(existsSync(file)).toBe(true)
  expect(existsSync(join(dirname(path), 'context.md'))).toBe(true)
}

test(
  '[REC24] killed in the n-th operation on a file, for every n, a recording keeps what was acknowledged',
  async () => {
    const folder = await mkdtemp(join(dir.path, 'every-'))
    let last = Number.POSITIVE_INFINITY
    const phase = SEED % STRIDE
    const lane = async (first: number): Promise<void> => {
      for (let n = first + phase; n < last; n += 2 * STRIDE) {
        const { lines, exited } = start('recording-faulter', folder, 'kill', String(n))
        const [told] = await hear(lines)
        const [, signal] = await exited
        if (told) await expectTold({ ...told, refused: [] }, join(folder, String(n)))
        if (signal === null) last = n
      }
    }
    await Promise.all([lane(1), lane(1 + STRIDE)])
    process.stdout.write(`recordings, killed in one of ${STRIDE} of ${last - 1} operations; SEED=${SEED}\n`)
    expect(last).toBeGreaterThan(60)
  },
  HANG,
)

// Between them they fail every operation; both fail all of them with `RUNS=full`.
test.each([
  ['EIO', 1],
  ['ENOSPC', 2],
] as const)(
  '[REC23] %s at the n-th operation, for every n, refuses at most that turn, and the recording goes on',
  async (code, first) => {
    const isFull = STRIDE === 1
    const [begin, step] = isFull ? [1, 1] : [first, 2]
    const folder = await mkdtemp(join(dir.path, `${code}-`))
    const { lines, exited } = start('recording-faulter', folder, code, String(begin), String(step))
    const told = await hear(lines)
    expect(await exited).toEqual([0, null])
    for (const [at, each] of told.entries()) {
      const n = begin + at * step
      const turns = each.refused.filter((word) => word !== 'end')
      expect([n, turns.length <= 1, each.acknowledged.size]).toEqual([n, true, 4 - turns.length])
      await expectTold(each, join(folder, String(n)))
    }
    expect(told.at(-1)?.refused).toEqual([])
    expect(told.some(({ refused }) => refused.includes('one'))).toBe(true)
    expect(told.length * step).toBeGreaterThan(60)
  },
  HANG,
)

test('[REC23] on a full disk a turn is refused, and taken again once there is room (root only)', async ({
  skip,
}) => {
  const cwd = join(dir.path, 'small')
  const disk = mountSmallDisk(cwd, 'size=400k')
  if (!disk) return skip()
  try {
    mkdirSync(join(cwd, 'work'))
    const { openRecording } = await import('#recorder')
    const recording = await openRecording({
      cwd: join(cwd, 'work'),
      agent: 'a',
      version: '1',
      register: false,
    })
    await recording.user('begin')
    await expect(recording.user('x'.repeat(500_000))).rejects.toMatchObject({ code: 'journal-unwritable' })
    await recording.user('small')
    disk.remount('size=4m')
    await recording.user('y'.repeat(500_000))
    await recording.end()
    expect(
      [...readWhole(recording.path).values()].map(
        (line) => String(field(field(line, 'message'), 'content'))[0],
      ),
    ).toEqual(['b', 's', 'y'])
  } finally {
    disk.remove()
  }
})
