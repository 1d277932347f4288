import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { openTempDir, seededRandom, type TempDir } from '#testing'

const root = join(import.meta.dirname, '..', '..')
const KILLS = process.env['RUNS'] === 'full' ? 100 : 8

let home: TempDir
const children: ChildProcess[] = []

beforeAll(async () => {
  // Errors in rooms that the children do not enter are of no concern here; a missing file shows soon enough.
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  await promisify(execFile)(process.execPath, [compiler, '-b', 'src/app'], { cwd: root }).catch(() => {})
})
beforeEach(async () => {
  home = await openTempDir()
})
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
  await home.remove()
})

/** A process of its own that has the preferences open as `preferences`, and says things line by line. */
function start(path: string, code: string) {
  const script = `
    import { writeSync } from 'node:fs'
    import { openPreferences } from ${JSON.stringify(join(root, 'dist/app/preferences.js'))}
    const say = (text) => writeSync(1, text + '\\n')
    const preferences = await openPreferences(${JSON.stringify(path)})
    ${code}`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  children.push(child)
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const exited = once(child, 'exit')
  return {
    async hear(): Promise<string | undefined> {
      const next = await lines.next()
      return next.done === true ? undefined : next.value
    },
    async kill(): Promise<void> {
      child.kill('SIGKILL')
      await exited
    },
  }
}

const READ = `say(JSON.stringify(preferences.get('a'))); await preferences.star('a', true); say('starred')`

test('[PREF2] [C2.3] kill -9 at any moment loses no name that was acknowledged', async () => {
  const path = join(home.path, 'preferences.jsonl')
  const random = seededRandom()
  let last = -1
  for (let round = 0; round < KILLS; round++) {
    const writer = start(
      path,
      `for (let n = ${last + 1}; ; n++) { await preferences.rename('a', 'name ' + n); say(String(n)) }`,
    )
    last = Number(await writer.hear())
    const killed = sleep(random.next() * 60).then(() => writer.kill())
    for (let line = await writer.hear(); line !== undefined; line = await writer.hear()) last = Number(line)
    await killed
    const reader = start(path, READ)
    const seen = /"name":"name (\d+)"/.exec((await reader.hear()) ?? '')?.[1]
    // The one under way may or may not have made it.
    expect([last, last + 1]).toContain(Number(seen))
    expect(await reader.hear()).toBe('starred')
    await reader.kill()
    last = Number(seen)
  }
})

test('[PREF4] two processes: one writes, the other is refused, and takes over when the first is killed', async () => {
  const path = join(home.path, 'preferences.jsonl')
  const first = start(
    path,
    `await preferences.rename('a', 'first'); say('named'); setInterval(() => {}, 60000)`,
  )
  expect(await first.hear()).toBe('named')
  const second = start(
    path,
    `for (;;) {
      const said = await preferences.star('a', true).then(() => 'starred', (error) => error.code)
      say(said)
      if (said === 'starred') break
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    say(JSON.stringify(preferences.get('a')))`,
  )
  expect(await second.hear()).toBe('journal-locked')
  await first.kill()
  let said = await second.hear()
  while (said === 'journal-locked') said = await second.hear()
  expect(said).toBe('starred')
  expect(await second.hear()).toBe('{"name":"first","starred":true}')
})
