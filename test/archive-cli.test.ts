import { number, parseJson } from '#base'
import { createLines, openTempDir, toJsonl, writeTranscript, type TempDir } from '#testing'
import { spawn } from 'node:child_process'
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, statSync, utimesSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openScreen, TMUX } from './tmux-screen.ts'

const main = join(import.meta.dirname, '../dist/bin/throughline.js')
const ID = 'aaaaaaaa-1111-4000-8000-000000000001'
const DAY_MS = 86_400_000

let temp: TempDir
let original: string
let kept: string

beforeEach(async () => {
  temp = await openTempDir()
  const day = new Date(Date.now() - DAY_MS).toISOString()
  const line = { ...createLines({ sessionId: ID }).prompt('Fix the checkout'), timestamp: day }
  const path = await writeTranscript(join(temp.path, '.claude'), toJsonl([line]), { id: ID, project: '-w' })
  original = path
  kept = join(temp.path, '.throughline/archive/claude/projects/-w', `${ID}.jsonl`)
  mkdirSync(dirname(kept), { recursive: true, mode: 0o700 })
  linkSync(path, kept)
})
afterEach(() => temp.remove())

const environment = (): Record<string, string> => ({
  PATH: process.env['PATH'] ?? '',
  HOME: temp.path,
  TERM: 'xterm',
})

async function prune(
  ...args: readonly string[]
): Promise<{ readonly code: number | null; readonly out: string; readonly err: string }> {
  const child = spawn(process.execPath, [main, 'archive', ...args], {
    env: { ...environment(), COLUMNS: '100' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let [out, err] = ['', '']
  child.stdout.on('data', (piece: Buffer) => (out += piece.toString()))
  child.stderr.on('data', (piece: Buffer) => (err += piece.toString()))
  const code = await new Promise<number | null>((done) => child.on('close', done))
  return { code, out, err }
}

describe('archive prune', () => {
  test('[CLI45] a size without a unit is refused: it was read as bytes, and emptied the archive', async () => {
    rmSync(original)
    for (const size of ['5', '0', '1.5', 'much', 'GB'])
      expect(await prune('prune', '--yes', '--larger-than', size)).toMatchObject({
        code: 2,
        err: expect.stringMatching(
          /^error: --larger-than .*\nnext: Write it with B, kB, MB, GB or TB: .*GB\n$/,
        ),
      })
    expect((await prune('prune', '--yes', '--larger-than', '5')).err).toContain(
      '--larger-than 5 has no unit\nnext: Write it with B, kB, MB, GB or TB: --larger-than 5GB',
    )
    expect(existsSync(kept)).toBe(true)
  })

  test('[CLI45] 4m is refused, because it is printed for four minutes; 4mo is four months', async () => {
    rmSync(original)
    expect(await prune('prune', '--older-than', '4m', '--dry-run')).toMatchObject({
      code: 2,
      err: 'error: --older-than is not an age: "4m"\nnext: m means minutes. For months write mo: --older-than 4mo\n',
    })
    expect(await prune('prune', '--older-than', '4mo', '--dry-run')).toMatchObject({
      code: 0,
      out: '',
      err: expect.stringMatching(/^0 files would be deleted, 0 B; \d+ B left\n$/),
    })
  })

  test('[CLI45] the only copy of a session is not deleted without a yes, and what would be lost is said', async () => {
    const { size } = statSync(original)
    rmSync(original)
    const loss = `The archive has the only copy of 1 session (1 file, ${size} B). Deleted, it is lost for good.`
    for (const how of [[], ['--json']]) {
      const { code, err } = await prune('prune', '--larger-than', '1B', ...how)
      expect([code, err.includes(loss), err.includes('--yes')]).toEqual([2, true, true])
      expect(existsSync(kept)).toBe(true)
    }
    const dry = await prune('prune', '--larger-than', '1B', '--dry-run')
    expect(dry.out).toMatch(/^ +\d+ B +1d {2}~\/\.throughline\/archive\/claude\/projects\/-w\/aaaa/)
    expect(dry.err).toContain(`note: ${loss}\nnext: the same without --dry-run\n`)
    expect(existsSync(kept)).toBe(true)
    const done = await prune('prune', '--larger-than', '1B', '--yes', '--json')
    expect(parseJson(done.out)).toMatchObject({ sessions: 1, bytes: size, bytesLeft: 0, dryRun: false })
    expect(existsSync(kept)).toBe(false)
  })

  test('[CLI45] [ARC8] what has its original is neither asked about nor deleted', async () => {
    utimesSync(original, 1, 1)
    expect(await prune('prune', '--larger-than', '1B', '--older-than', '1h')).toMatchObject({
      code: 0,
      out: '',
      err: '0 files deleted, 0 B; 0 B left\n',
    })
    expect(readFileSync(kept, 'utf8')).toBe(readFileSync(original, 'utf8'))
  })

  test('[CLI34] archive says what is kept where no daemon runs', async () => {
    const { size } = statSync(original)
    rmSync(original)
    expect(await prune()).toEqual({
      code: 0,
      out: `1 transcript kept\n1 session only in the archive, ${size} B\n`,
      err: '',
    })
    const { out } = await prune('--json')
    expect([number(parseJson(out), 'files'), parseJson(out)]).toMatchObject([
      1,
      { goneSessions: 1, bytes: size },
    ])
  })

  test.skipIf(TMUX === undefined)('[CLI45] in a terminal it asks, and only yes deletes', async () => {
    rmSync(original)
    for (const [answer, left] of [
      ['no', true],
      ['', true],
      ['yes', false],
    ] as const) {
      const screen = await openScreen({
        folder: temp.path,
        workdir: temp.path,
        env: environment(),
        command: [process.execPath, main, 'archive', 'prune', '--larger-than', '1B'],
      })
      try {
        await screen.until(/only copy of 1 session[^]*\(yes\/no\):\s*$/)
        await screen.type(answer)
        expect(await screen.ended()).toBe(left ? 2 : 0)
        expect(existsSync(kept)).toBe(left)
      } finally {
        await screen.close()
      }
    }
  })
})
