import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { connect, type RemoteThroughline } from '#client'
import { readSecret, toLocalToken } from '#server'
import {
  openPostgresServer,
  openTeamPlace,
  openTempDir,
  randomFrom,
  type PostgresServer,
  type TeamPlace,
  type TempDir,
} from '#testing'
import { buildDaemon, spawnDaemon, started, type DaemonProcess } from './attack/daemon-process.ts'
import { makeMachine, type Machine } from './team-machines.ts'

const KILLS = process.env['RUNS'] === 'full' ? 40 : 3
const SEED = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31))
const patience = { timeout: 90_000, interval: 100 }

let server: PostgresServer
let dir: TempDir
let team: TeamPlace

beforeAll(async () => {
  await buildDaemon()
  server = await openPostgresServer()
  dir = await openTempDir()
  team = await openTeamPlace(server)
})
afterAll(async () => {
  await server?.close()
  await dir?.remove()
})

async function addMachine(name: string): Promise<Machine> {
  const store = await team.addMachine({ person: 'kai', machine: name })
  const machine = makeMachine(join(dir.path, name), store)
  mkdirSync(machine.claudeDir, { recursive: true })
  const settings = JSON.stringify({ store: store.reveal(), wakeUp: { on: false } })
  writeFileSync(join(machine.home, 'config.json'), settings, { mode: 0o600 })
  return machine
}

interface Daemon {
  readonly process: DaemonProcess
  readonly throughline: RemoteThroughline
}

async function start({ home, claudeDir, folder }: Machine): Promise<Daemon> {
  const process = spawnDaemon([home, claudeDir], {
    env: { HOME: folder, DAEMON_ENV: JSON.stringify({ HOME: folder }) },
  })
  const { port } = await started(process)
  const token = toLocalToken(await readSecret(home))
  return { process, throughline: await connect({ url: `http://127.0.0.1:${port}`, token }) }
}

async function textOf(throughline: RemoteThroughline, id: string): Promise<string> {
  const pieces: Uint8Array[] = []
  for await (const piece of throughline.bytes(await throughline.get(id))) pieces.push(piece)
  return Buffer.concat(pieces).toString()
}

test(
  `[TEA49] three daemons on one database, one of them killed again and again, show what was written byte for byte (SEED=${SEED})`,
  async () => {
    const random = randomFrom(SEED)
    const desk = await addMachine('desk')
    const laptop = await addMachine('laptop')
    const third = await addMachine('third')
    const path = desk.write(
      'aaaa',
      Array.from({ length: 300 }, (_, n) => `beginning ${n} ${'x'.repeat(1000)}`),
    )
    const other = third.write('bbbb', ['from the third'])
    const there = await start(desk)
    const beside = await start(third)
    for (let kill = 0; kill < KILLS; kill++) {
      const here = await start(laptop)
      for (let n = 0; n < 20; n++) {
        desk.say('aaaa', `while ${kill} ${n} ${'y'.repeat(Math.floor(random() * 3000))}`)
        third.say('bbbb', `too ${kill} ${n}`)
        await sleep(random() * 60)
      }
      here.process.child.kill('SIGKILL')
      await here.process.exited
    }
    const here = await start(laptop)
    await expect
      .poll(
        async () => (await textOf(here.throughline, 'aaaa').catch(() => '')) === readFileSync(path, 'utf8'),
        patience,
      )
      .toBe(true)
    await expect
      .poll(
        async () => (await textOf(here.throughline, 'bbbb').catch(() => '')) === readFileSync(other, 'utf8'),
        patience,
      )
      .toBe(true)
    expect((await here.throughline.get('aaaa')).origin).toMatchObject({ machine: 'desk', mine: true })
    const lists = await Promise.all(
      [there, beside, here].map(async ({ throughline }) => await throughline.list()),
    )
    for (const { sessions } of lists)
      expect(sessions.map(({ id }) => id).toSorted()).toEqual(['aaaa', 'bbbb'])
    for (const { process } of [there, beside, here]) {
      process.child.kill('SIGTERM')
      await process.exited
    }
  },
  120_000 + KILLS * 20_000,
)
