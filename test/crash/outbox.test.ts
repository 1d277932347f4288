import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openTeamLog } from '#store'
import {
  openPostgresServer,
  openTeamPlace,
  openTempDir,
  randomFrom,
  type PostgresServer,
  type TempDir,
} from '#testing'

const program = join(import.meta.dirname, '..', '..', 'dist', 'testing', 'outbox-shipper.js')
const KILLS = process.env['RUNS'] === 'full' ? 100 : 8
const SEED = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31))

let server: PostgresServer
let dir: TempDir

beforeAll(async () => {
  if (!existsSync(program)) throw new Error('run `npm run build` first')
  server = await openPostgresServer()
  dir = await openTempDir()
})
afterAll(async () => {
  await server?.close()
  await dir?.remove()
})

test(`[TEA15] an outbox that is killed again and again while lines are written ships each of them once (SEED=${SEED})`, async () => {
  const { admin } = await openTeamPlace(server)
  const random = randomFrom(SEED)
  const folder = join(dir.path, 'files')
  mkdirSync(folder)
  const names = ['a.jsonl', 'b.jsonl', 'c.jsonl']
  let written = 0
  const write = (): void => {
    for (const name of names) {
      let text = ''
      for (let n = 0; n < 40; n++) text += `${++written} ${'x'.repeat(Math.floor(random() * 2000))}\n`
      appendFileSync(join(folder, name), text)
    }
  }
  for (let kill = 0; kill <= KILLS; kill++) {
    write()
    const child = spawn(process.execPath, [program, admin.reveal(), folder, join(dir.path, 'outbox.json')], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const exited = once(child, 'exit')
    let isShipped = false
    child.stdout.on('data', () => (isShipped = true))
    if (kill === KILLS) {
      await expect.poll(() => isShipped, { timeout: 60_000 }).toBe(true)
    } else {
      for (let n = 0; n < 5; n++) {
        await sleep(random() * 150)
        write()
      }
    }
    child.kill('SIGKILL')
    await exited
  }
  const log = await openTeamLog({ address: admin })
  const files = await log.files({ kind: 'transcript', limit: 100 })
  expect(files.map(({ session = '' }) => session).toSorted()).toEqual(names)
  for (const { number, path } of files) {
    let text = ''
    for (let from: number | undefined = 0; from !== undefined;) {
      const page = await log.readPage({ file: number, from, bytes: 200_000 })
      text += page.lines.map(({ bytes }) => bytes?.toString()).join('')
      from = page.next
    }
    expect(text === readFileSync(path, 'utf8')).toBe(true)
  }
  let lines = 0
  for (let after = 0; ;) {
    const news = await log.readAfter(after)
    lines += news.lines.length
    if (!news.more) break
    after = news.next
  }
  expect(lines).toBe(written)
  await log.close()
})
