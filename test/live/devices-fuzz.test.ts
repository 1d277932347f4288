import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { ThroughlineError } from '#base'
import { connect, type RemoteThroughline } from '#client'
import { findProcess } from '#drivers'
import { createView, type GrowingView } from '#model'
import { idsOf, listen, runs, type Listening } from '#testing'
import { openLivePlace, say, shell, waitFor, type LivePlace } from './live-place.ts'

const RUNS = process.env['RUNS'] === 'full' ? 150 : 4
const HANG = 3_600_000

type Step =
  | { readonly do: 'prompt'; readonly who: 0 | 1; readonly what: 'say' | 'slow' | 'tool' | 'die' }
  | { readonly do: 'answer'; readonly who: 0 | 1; readonly allow: boolean }
  | { readonly do: 'tear'; readonly who: 0 | 1 }
  | { readonly do: 'reload'; readonly who: 0 | 1 }
  | { readonly do: 'kill'; readonly who: 'daemon' | 'host' }
  | { readonly do: 'wait'; readonly ms: number }

const who = fc.constantFrom(0 as const, 1 as const)
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('prompt' as const),
      who,
      what: fc.constantFrom(
        'say' as const,
        'slow' as const,
        'tool' as const,
        'tool' as const,
        'die' as const,
      ),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('answer' as const), who, allow: fc.boolean() }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('tear' as const, 'reload' as const), who }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('kill' as const),
      who: fc.constantFrom('daemon' as const, 'host' as const),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 80 }) }),
  },
)

let place: LivePlace
beforeAll(async () => {
  place = await openLivePlace()
})
afterAll(async () => await place?.close())

test(
  '[RUN40] devices are torn off and reloaded, daemon, host and agent are killed: no gap, no duplicate, no lost prompt, nothing that nobody allowed',
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 6, maxLength: 14 }), async (steps) => {
        const world = await openWorld(place)
        try {
          for (const one of steps) await world.act(one)
          await world.check()
        } finally {
          await world.close()
        }
      }),
      { ...runs(RUNS), numRuns: RUNS, endOnFailure: true, verbose: 1 },
    )
  },
  HANG,
)

/** A device that looks at one session, and whose connection can be torn. */
interface DeviceAt {
  readonly throughline: RemoteThroughline
  readonly live: Listening
  readonly disk: Listening
  tear(): void
  close(): Promise<void>
}

async function openDevice(at: LivePlace, sessionId: string): Promise<DeviceAt> {
  const sockets = new Set<WebSocket>()
  class Tearable extends WebSocket {
    constructor(url: string, protocols: string[]) {
      super(url, protocols)
      sockets.add(this)
    }
  }
  const throughline = await connect({
    url: at.address(),
    token: await at.token(),
    WebSocket: Tearable,
    firstPauseMs: 20,
  })
  return {
    throughline,
    live: listen(throughline, { kind: 'live', id: sessionId }),
    disk: listen(throughline, { kind: 'session', id: sessionId }),
    tear() {
      for (const socket of sockets) socket.terminate()
      sockets.clear()
    },
    close: () => throughline.close(),
  }
}

async function openWorld(at: LivePlace) {
  const workdir = join(at.workdir, `run-${performance.now()}`)
  mkdirSync(workdir)
  const first = await at.connect()
  // Something was said, so that the session can be gone on with whatever happens.
  const view = await first.live.start({ agent: 'scripted', workdir, prompt: say('[[say begun]]') })
  const { sessionId } = view
  await waitFor('it is in the list', async () => ((await first.get(sessionId)).size > 0 ? true : undefined))
  const devices: [DeviceAt, DeviceAt] = [await openDevice(at, sessionId), await openDevice(at, sessionId)]
  const acknowledged = new Set<string>()
  const allowed = new Set<string>()
  let tools = 0

  /** As a device does: again, until somebody has answered, and in a session that is live. */
  async function insist<T>(call: () => Promise<T>): Promise<T | undefined> {
    for (let tries = 0; tries < 1_000; tries++) {
      try {
        return await call()
      } catch (error) {
        const code = error instanceof ThroughlineError ? error.code : undefined
        if (code === 'session-ended') await first.live.resume(sessionId).catch(() => {})
        else if (code === 'attention-not-found' || code === 'attention-mismatch') return undefined
        await sleep(25)
      }
    }
    throw new Error('nobody answered')
  }

  async function prompt({ who: index, what }: Extract<Step, { do: 'prompt' }>): Promise<void> {
    const made = say(
      {
        say: '[[say a word]]',
        slow: '[[slow 5]] [[say one two three four five six seven]]',
        tool: shell(`echo ${tools++} >> ran.log`),
        die: '[[say last words]] [[die]]',
      }[what],
    )
    await insist(() => devices[index].throughline.live.prompt(sessionId, made))
    acknowledged.add(made.id)
  }

  async function answer({ who: index, allow }: Extract<Step, { do: 'answer' }>): Promise<void> {
    const { live } = devices[index].throughline
    const open = (await insist(() => live.attentions()))?.find((each) => each.sessionId === sessionId)
    if (open === undefined || open.ask.kind !== 'permission') return
    const [, number] = /echo (\d+)/.exec(JSON.stringify(open.ask.input)) ?? []
    if (allow && number !== undefined) allowed.add(number)
    const resolution = allow ? ({ kind: 'allow', rules: [] } as const) : ({ kind: 'deny' } as const)
    await insist(() => live.resolve({ id: open.id, hash: open.hash, resolution }))
  }

  async function act(one: Step): Promise<void> {
    switch (one.do) {
      case 'prompt':
        return await prompt(one)
      case 'answer':
        return await answer(one)
      case 'tear':
        return devices[one.who].tear()
      case 'reload':
        await devices[one.who].close()
        devices[one.who] = await openDevice(at, sessionId)
        return
      case 'kill': {
        if (one.who === 'daemon') {
          await at.killDaemon()
          await at.startDaemon()
          return
        }
        const host = (await insist(() => first.live.board()))?.find((card) => card.sessionId === sessionId)
        const pid = host && (await first.live.view(sessionId).catch(() => undefined))?.pid
        if (pid !== undefined && findProcess(pid) !== undefined) process.kill(pid, 'SIGKILL')
        return
      }
      case 'wait':
        await sleep(one.ms)
    }
  }

  async function check(): Promise<void> {
    // Everything that is asked is denied, until nothing happens any more.
    await waitFor('it comes to rest', async () => {
      const now = await insist(() => first.live.view(sessionId))
      for (const { id, hash } of now?.attentions ?? []) {
        await first.live.resolve({ id, hash, resolution: { kind: 'deny' } }).catch(() => {})
      }
      // That a host is dead is known a moment later.
      const isHeld = now !== undefined && findProcess(now.pid) !== undefined
      const isQuiet = now?.state.state === 'idle' && !now.prompts.some(({ state }) => isMoving(state))
      return isHeld && isQuiet ? true : undefined
    })
    // What a device put together from what it was told is what there is. Its agent may still say what it offers.
    const now = await waitFor('all devices know how it stands', async () => {
      const known = await first.live.view(sessionId)
      const seqs = devices.map(({ live }) => viewOf(live.events)?.read().seq)
      return seqs.every((seq) => seq === known.seq) ? known : undefined
    })
    for (const { live } of devices) expect(viewOf(live.events)?.read()).toEqual(now)
    const page = await first.page(await first.get(sessionId), { limit: 5000 })
    const onDisk = page.readings.flatMap((each) => (each.kind === 'entry' ? [each.entry.id ?? ''] : []))
    for (const device of devices) {
      await device.disk.until((events) => idsOf(events).length >= onDisk.length)
      expect(idsOf(device.disk.events)).toEqual(onDisk)
    }
    const shown = new Set([...onDisk, ...now.prompts.map(({ id }) => id)])
    expect([...acknowledged].filter((id) => !shown.has(id))).toEqual([])
    expect(new Set(onDisk).size).toBe(onDisk.length)
    const ran = readRan(workdir)
    expect(ran).toHaveLength(new Set(ran).size)
    expect(ran.filter((number) => !allowed.has(number))).toEqual([])
  }

  return {
    act,
    check,
    async close() {
      for (const device of devices) await device.close()
      await first.live.end(sessionId).catch(() => {})
      await first.close()
    },
  }
}

function isMoving(state: string): boolean {
  return state === 'queued' || state === 'sent'
}

/** The live session as a device has it, from the last time that it was told all of it. */
function viewOf(events: Listening['events']): GrowingView | undefined {
  const at = events.findLastIndex(({ kind }) => kind === 'live.view')
  const begun = events[at]
  if (begun?.kind !== 'live.view') return undefined
  const view = createView(begun.view)
  let { seq } = begun.view
  for (const event of events.slice(at + 1)) {
    if (event.kind !== 'live.event') continue
    expect(event.event.seq).toBe(++seq)
    view.add(event.event)
  }
  return view
}

function readRan(workdir: string): readonly string[] {
  try {
    return readFileSync(join(workdir, 'ran.log'), 'utf8').split('\n').filter(Boolean)
  } catch {
    return []
  }
}
