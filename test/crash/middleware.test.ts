import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { field, list, parseJson, string } from '#base'
import {
  checkWithEntire,
  openModelApi,
  openTempDir,
  runs,
  seededRandom,
  type ModelApi,
  type TempDir,
} from '#testing'

const root = join(import.meta.dirname, '..', '..')
const HANG = 600_000
const { numRuns: KILLS } = runs(4)

let dir: TempDir
let api: ModelApi
beforeAll(async () => {
  dir = await openTempDir()
  let answers = 0
  api = await openModelApi(() => [{ kind: 'text', text: `answer ${++answers}` }])
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  // The children run what is in `dist`. Errors in rooms that they do not enter are of no concern here.
  await promisify(execFile)(process.execPath, [tsc, '-b', 'src/testing'], { cwd: root }).catch(() => {})
}, HANG)
afterAll(async () => {
  await api.close()
  await dir.remove()
})

test(
  '[ADP10] an answer that a program with the AI SDK was given survives kill -9',
  async () => {
    const random = seededRandom()
    for (let run = 0; run < KILLS; run++) {
      const cwd = await mkdtemp(join(dir.path, 'kill-'))
      const way = run % 2 === 0 ? 'generate' : 'stream'
      const child = spawn(
        process.execPath,
        [join(root, 'dist', 'testing', 'middleware-talker.js'), cwd, api.url, way],
        { stdio: ['ignore', 'pipe', 'inherit'] },
      )
      const exited = once(child, 'exit')
      const given: string[] = []
      for await (const line of createInterface({ input: child.stdout })) {
        given.push(line)
        if (given.length !== 2) continue
        // In the middle of whatever comes next.
        await sleep(random.next() * 60)
        child.kill('SIGKILL')
      }
      await exited
      expect(given.length).toBeGreaterThanOrEqual(2)
      const metadata = join(cwd, '.entire', 'metadata')
      const [name = ''] = readdirSync(metadata)
      const path = join(metadata, name, 'full.jsonl')
      const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1).map(parseJson)
      const said = lines.flatMap((line) =>
        string(line, 'type') === 'assistant'
          ? list(field(line, 'message'), 'content').map((block) => string(block, 'text'))
          : [],
      )
      expect(said.slice(0, given.length)).toEqual(given)
      expect((await checkWithEntire(path)).errors).toEqual({})
    }
  },
  HANG,
)
