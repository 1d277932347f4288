import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { appendFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { connect } from '#client'
import type { LiveState } from '#model'
import { openDaemon, readSecret, toLocalToken, type RunningDaemon } from '#server'
import { createLines, openTempDir, toJsonl, type TempDir } from '#testing'
import type { LiveEvent, Throughline } from '#wire'

const ID = 'bbbbbbbb-0000-4000-8000-000000000001'

let dir: TempDir
let home: string
let claudeDir: string
let transcript: string
let daemon: RunningDaemon
let agent: ChildProcess
const devices: Throughline[] = []
const lines = createLines({ sessionId: ID })

beforeEach(async () => {
  dir = await openTempDir()
  home = join(dir.path, 'home')
  claudeDir = join(dir.path, 'claude')
  const project = join(claudeDir, 'projects', '-home-user-work')
  await mkdir(project, { recursive: true })
  await mkdir(join(claudeDir, 'sessions'))
  transcript = join(project, `${ID}.jsonl`)
  await writeFile(transcript, toJsonl([lines.prompt('Find out why it fails')]))
  agent = spawn(process.execPath, ['-e', 'process.stdout.write("up"); setTimeout(() => {}, 120_000)'])
  if (agent.stdout !== null) await once(agent.stdout, 'data')
  daemon = await start()
})

afterEach(async () => {
  agent.kill('SIGKILL')
  for (const device of devices.splice(0)) await device.close()
  await daemon.close()
  await dir.remove()
})

async function start(port?: number): Promise<RunningDaemon> {
  return await openDaemon({
    home,
    open: { env: {}, config: { claudeDir } },
    now: Date.now,
    version: 'test',
    port: port ?? 0,
  })
}

async function openDevice(): Promise<Throughline> {
  const token = toLocalToken(await readSecret(home))
  const device = await connect({ url: `http://127.0.0.1:${daemon.port}`, token, WebSocket, firstPauseMs: 20 })
  devices.push(device)
  return device
}

/** What the agent says of itself, as it says it: the file is written over in place. */
async function say(status: string, waitingFor?: string): Promise<void> {
  const pid = agent.pid ?? 0
  const stat = await readFile(`/proc/${pid}/stat`, 'latin1')
  const procStart = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
  const now = Date.now()
  const entry = { pid, sessionId: ID, procStart, status, waitingFor, updatedAt: now, statusUpdatedAt: now }
  await writeFile(join(claudeDir, 'sessions', `${pid}.json`), JSON.stringify(entry))
}

/** Follows the list of one device; resolves when it shows the session in a state. */
function follow(device: Throughline): (met: (live: LiveState | undefined) => boolean) => Promise<void> {
  let live: LiveState | undefined
  device.subscribe(
    { kind: 'sessions' },
    {
      onEvent(event) {
        if (event.kind === 'session.changed' && event.session.id === ID) ({ live } = event.session)
      },
    },
  )
  return async (met) => {
    const begun = performance.now()
    while (!met(live)) {
      // A second is promised; ten are a hang.
      if (performance.now() - begun > 10_000) throw new Error(`still ${JSON.stringify(live)}`)
      await sleep(5)
    }
  }
}

test('[A2.1] [LIV20] every device sees the id of a running session and what it does; who waits for a person is counted', async () => {
  const [laptop, phone] = [await openDevice(), await openDevice()]
  const shown = [follow(laptop), follow(phone)]
  const all = (met: (live: LiveState | undefined) => boolean): Promise<unknown> =>
    Promise.all(shown.map((see) => see(met)))

  await say('busy')
  await all((live) => live?.status === 'busy')
  for (const device of [laptop, phone]) {
    const { sessions } = await device.health()
    expect(sessions.live.map(({ id, live }) => [id, live.status, live.pid])).toEqual([
      [ID, 'busy', agent.pid],
    ])
    expect(sessions.waitingForYou).toBe(0)
  }
  for (const waitingFor of ['permission prompt', 'input needed']) {
    await say('waiting', waitingFor)
    await all((live) => live?.status === 'waiting' && live.waitingFor === waitingFor)
    expect((await phone.health()).sessions.waitingForYou).toBe(1)
  }
  await say('idle')
  await all((live) => live?.status === 'idle')
  expect((await phone.health()).sessions.waitingForYou).toBe(0)
})

test('[A2.2] [LIV21] a process that ends or is killed is told to everybody', async () => {
  const [laptop, phone] = [await openDevice(), await openDevice()]
  const shown = [follow(laptop), follow(phone)]
  await say('busy')
  await Promise.all(shown.map((see) => see((live) => live?.status === 'busy')))
  agent.kill('SIGKILL')
  await Promise.all(shown.map((see) => see((live) => live?.status === 'gone')))
  expect((await laptop.health()).sessions.live).toEqual([])
  await rm(join(claudeDir, 'sessions', `${agent.pid}.json`))
  await Promise.all(shown.map((see) => see((live) => live === undefined)))
  expect((await phone.health()).sessions.live).toEqual([])
})

test('[C4.1] [C4.2] [LIV22] entries reach every device as they are written, once, also over restarts of the daemon', async () => {
  const [laptop, phone] = [await openDevice(), await openDevice()]
  const seen = [laptop, phone].map((device) => {
    const ids: string[] = []
    const take = (event: LiveEvent): void => {
      if (event.kind === 'reset') ids.push('reset')
      if (event.kind !== 'entry.added') return
      expect(event.session).toBe(ID)
      for (const reading of event.readings) if (reading.kind === 'entry') ids.push(reading.entry.id)
    }
    device.subscribe({ kind: 'session', id: ID }, { onEvent: take })
    return ids
  })
  const written = (await readFile(transcript, 'utf8')).trimEnd().split('\n').map(idOf)
  for (let round = 0; round < 3; round++) {
    for (let n = 0; n < 20; n++) {
      const text = toJsonl([
        n % 2 === 0 ? lines.prompt(`${round} ${n}`) : lines.reply([{ type: 'text', text: 'ok' }]),
      ])
      for (const line of text.trimEnd().split('\n')) written.push(idOf(line))
      await appendFile(transcript, text)
      if (n === 10) {
        const { port } = daemon
        await daemon.close()
        daemon = await start(port)
      }
    }
  }
  const begun = performance.now()
  while (seen.some((ids) => ids.length < written.length) && performance.now() - begun < 20_000)
    await sleep(10)
  for (const ids of seen) expect(ids).toEqual(written)
})

function idOf(line: string): string {
  return String(JSON.parse(line).uuid)
}
