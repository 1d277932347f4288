import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { openDocuments } from '#memory'
import { openTempDir, type TempDir } from '#testing'

const root = join(import.meta.dirname, '..', '..')
const KILLS = process.env['RUNS'] === 'full' ? 60 : 5

let home: TempDir
const children: ChildProcess[] = []

beforeAll(async () => {
  // Errors in rooms that the children do not enter are of no concern here; a missing file shows soon enough.
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  await promisify(execFile)(process.execPath, [compiler, '-b', 'src/testing'], { cwd: root }).catch(() => {})
})
beforeEach(async () => {
  home = await openTempDir()
})
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
  await home.remove()
})

function start(name: string) {
  const program = join(root, 'dist/testing/document-writer.js')
  const child = spawn(process.execPath, [program, home.path, name], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  children.push(child)
  let said = ''
  child.stdout.setEncoding('utf8').on('data', (piece: string) => (said += piece))
  const opened = once(child.stdout, 'data')
  const closed = once(child, 'close')
  return {
    opened,
    /** What it said, once it is dead and the pipe is empty. */
    async kill(): Promise<readonly string[]> {
      child.kill('SIGKILL')
      await closed
      return said.split('\n').slice(0, -1)
    },
  }
}

test('[DOC14] kill -9 at any moment, of two that write at once, loses nothing that was acknowledged', async () => {
  const put = new Set<string>()
  const patched = new Set<string>()
  for (let kill = 0; kill < KILLS; kill++) {
    const writers = [start(`a${kill}`), start(`b${kill}`)]
    await Promise.all(writers.map(({ opened }) => opened))
    await sleep(20 + ((kill * 37) % 150))
    for (const writer of writers) {
      for (const line of await writer.kill()) {
        const [what, id = ''] = line.split(' ')
        if (what === 'put') put.add(id)
        if (what === 'patch') patched.add(id)
      }
    }
    const documents = await openDocuments({ home: home.path, now: () => 0, mintId: () => `last${kill}` })
    for (const id of put) expect(documents.find(id)).toBeDefined()
    for (const id of patched) expect(documents.find(id)?.content).toMatch(/^edited /)
    await documents.put({ type: 'marker', content: 'after' }, { by: 'me' })
    const versions = documents.query({}).flatMap(({ id }) => documents.versions(id))
    // A torn tail was set aside: every line parses, and no number was given twice.
    const lines = (await readFile(join(home.path, 'documents.jsonl'), 'utf8')).trimEnd().split('\n')
    expect(lines.map((line): unknown => JSON.parse(line))).toHaveLength(versions.length)
    await documents.close()
  }
  expect(put.size).toBeGreaterThan(KILLS)
})
