import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseJson } from '#base'
import { openSqliteStore } from '#store'
import { createLines, openTempDir, seededRandom, toJsonl, type TempDir } from '#testing'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { indexPath, readRows } from '../index-rows.ts'

const KILLS = process.env['RUNS'] === 'full' ? 60 : 8
const SESSIONS = 6
const BUILDER = join(import.meta.dirname, '../../dist/testing/index-builder.js')

let dir: TempDir
const children: ChildProcess[] = []
beforeEach(async () => {
  dir = await openTempDir()
})
afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
  await dir.remove()
})

const configDir = (): string => join(dir.path, 'claude')
const pathOf = (n: number): string =>
  join(configDir(), 'projects', '-work', `aaaaaaaa-0000-4000-8000-00000000000${n}.jsonl`)

function write(): void {
  mkdirSync(join(configDir(), 'projects', '-work'), { recursive: true })
  for (let n = 0; n < SESSIONS; n++) writeFileSync(pathOf(n), linesOf(n, 1500))
}

function linesOf(n: number, count: number): string {
  const lines = createLines({ sessionId: `aaaaaaaa-0000-4000-8000-00000000000${n}` })
  const all = Array.from({ length: count }, (_, at) =>
    at % 2 === 0
      ? lines.prompt(`common word${at} of ${n}`)
      : lines.reply([{ type: 'text', text: `reply${at} ${'lorem ipsum '.repeat(40)}` }]),
  )
  return toJsonl(all)
}

/** A process that builds the index of a home. */
function start(home: string) {
  const child = spawn(process.execPath, [BUILDER, join(dir.path, home), configDir(), 'common'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  children.push(child)
  const exited = once(child, 'exit')
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return {
    child,
    exited,
    async hear(): Promise<unknown> {
      const { value, done } = await lines.next()
      return done === true ? undefined : (parseJson(value) ?? value)
    },
  }
}

async function buildWhole(home: string): Promise<unknown> {
  const builder = start(home)
  await builder.hear()
  const told = await builder.hear()
  await builder.exited
  return told
}

test('[ING16] [D10] [FLT1] killed at any moment, a build goes on, and the index becomes what one that was never disturbed is', async () => {
  write()
  const random = seededRandom()
  for (let kill = 0; kill < KILLS; kill++) {
    const builder = start('home')
    await builder.hear()
    await sleep(random.next() * 500)
    builder.child.kill('SIGKILL')
    await builder.exited
    if (kill % 3 === 2) appendFileSync(pathOf(kill % SESSIONS), linesOf(kill % SESSIONS, 20))
    if (kill % 4 === 3) rmSync(pathOf(0), { force: true })
  }
  writeFileSync(pathOf(0), linesOf(0, 100))
  const told = await buildWhole('home')
  expect(await buildWhole('fresh')).toMatchObject({
    sessions: SESSIONS,
    hits: Reflect.get(Object(told), 'hits'),
  })
  expect(readRows(indexPath(join(dir.path, 'home')))).toEqual(readRows(indexPath(join(dir.path, 'fresh'))))
  const store = openSqliteStore({ path: indexPath(join(dir.path, 'home')) })
  expect(await store.verify()).toEqual([])
  await store.close()
})

test('[ING16] [FLT50] a process that is stopped for a while goes on where it was', async () => {
  write()
  const builder = start('home')
  await builder.hear()
  for (let round = 0; round < 3; round++) {
    await sleep(60)
    builder.child.kill('SIGSTOP')
    await sleep(process.env['RUNS'] === 'full' ? 10_000 : 400)
    builder.child.kill('SIGCONT')
  }
  expect(await builder.hear()).toMatchObject({ sessions: SESSIONS, hits: SESSIONS * 750 })
  await builder.exited
})
