import { appendFileSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import type { Meter } from '#sources'
import { INDEX_VERSION } from '#store'
import {
  createLines,
  idsOf,
  listen,
  openTempDir,
  seededRandom,
  SESSION,
  toJsonl,
  writeTranscript,
  type Listening,
  type TempDir,
} from '#testing'
import type { LiveEvent, Topic } from '#wire'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openThroughline } from './open-throughline.ts'
import type { LocalThroughline } from './throughline.ts'

let dir: TempDir
let throughline: LocalThroughline
let path = ''
let lines = createLines()
const SESSION_TOPIC: Topic = { kind: 'session', id: SESSION }

beforeEach(async () => {
  dir = await openTempDir()
  lines = createLines()
  path = await writeTranscript(join(dir.path, 'claude'), prompts(5))
  throughline = await open()
})
afterEach(async () => {
  await throughline.close()
  await dir.remove()
})

function open(
  options: {
    readonly index?: boolean
    readonly meter?: Meter
    readonly sweepMs?: number
    readonly allowedRoots?: readonly string[]
  } = {},
): Promise<LocalThroughline> {
  const { allowedRoots = [], ...rest } = options
  const env = {
    CLAUDE_CONFIG_DIR: join(dir.path, 'claude'),
    THROUGHLINE_HOME: join(dir.path, 'home'),
    THROUGHLINE_ARCHIVE: 'off',
  }
  return openThroughline({ sweepMs: 100, ...rest, env, config: { allowedRoots } })
}

function prompts(count: number, word = 'hello'): string {
  return toJsonl(Array.from({ length: count }, (_, n) => lines.prompt(`${word} ${n}`)))
}

const isCaughtUp = (events: readonly LiveEvent[]): boolean => events.at(-1)?.kind === 'caught-up'
const idsInFile = (of = path): readonly string[] =>
  [...readFileSync(of, 'utf8').matchAll(/"uuid":"([^"]+)"/g)].map(([, id]) => id ?? '')
const untilAll = (listening: Listening): Promise<void> =>
  listening.until((events) => JSON.stringify(idsOf(events)) === JSON.stringify(idsInFile()))

test('[LIV1] [C4.2] [FLT40] closed and taken up again at random, from its cursor, a listener hears each entry once', async () => {
  const heard: string[] = []
  let cursor: string | undefined
  let subscription = throughline.subscribe(SESSION_TOPIC, { onEvent: hear })
  function hear(event: LiveEvent): void {
    cursor = event.cursor
    if (event.kind === 'reset') heard.length = 0
    if (event.kind === 'entry.added')
      heard.push(...event.readings.flatMap((each) => (each.kind === 'entry' ? [each.entry.id] : [])))
  }
  const rounds = process.env['RUNS'] === 'full' ? 1000 : 150
  const random = seededRandom()
  for (let round = 0; round < rounds; round++) {
    appendFileSync(path, prompts(1 + (round % 3)))
    if (random.chance(0.7)) await sleep(random.next() * 4)
    subscription.close()
    subscription = throughline.subscribe(SESSION_TOPIC, {
      onEvent: hear,
      ...(cursor === undefined ? {} : { cursor }),
    })
    if (round % 50 === 49) {
      subscription.close()
      await throughline.close()
      throughline = await open()
      subscription = throughline.subscribe(SESSION_TOPIC, {
        onEvent: hear,
        ...(cursor === undefined ? {} : { cursor }),
      })
    }
  }
  const last = listen(throughline, SESSION_TOPIC)
  await untilAll(last)
  for (let wait = 0; heard.length < idsInFile().length && wait < 500; wait++) await sleep(20)
  expect(heard).toEqual(idsInFile())
})

test('[LIV2] [FLT13] [FLT14] deleted, it is told as void; back again, it is told from the beginning', async () => {
  const listening = listen(throughline, SESSION_TOPIC)
  await listening.until(isCaughtUp)
  const before = readFileSync(path)
  for (const content of [before, Buffer.from(prompts(3))]) {
    rmSync(path)
    const known = listening.events.length
    await listening.until((events) => events.slice(known).some(({ kind }) => kind === 'reset'))
    expect(listening.events.findLast(({ kind }) => kind === 'reset')).toMatchObject({
      reason: 'gone',
      cursor: '0',
    })
    writeFileSync(path, content)
    await untilAll(listening)
  }
  const beside = join(dir.path, 'beside')
  writeFileSync(beside, prompts(4))
  renameSync(beside, path)
  await untilAll(listening)
  expect(listening.errors).toEqual([])
  listening.close()
})

test('[LIV2] [FLT15] cut to nothing, cut in the middle or written anew, it is told from the beginning', async () => {
  const listening = listen(throughline, SESSION_TOPIC)
  await untilAll(listening)
  const texts = [
    '',
    prompts(8),
    prompts(2),
    prompts(2).replaceAll('hello', 'jello'),
    readFileSync(path, 'utf8'),
  ]
  for (const text of texts) {
    writeFileSync(path, text)
    await untilAll(listening)
    appendFileSync(path, prompts(1))
    await untilAll(listening)
  }
  listening.close()
})

test('[LIV3] the last few are told first when only they are asked for, and raw lines are left out on request', async () => {
  const listening = listen(throughline, { ...SESSION_TOPIC, last: 2, raw: false })
  await listening.until(isCaughtUp)
  expect(idsOf(listening.events)).toEqual(idsInFile().slice(-2))
  appendFileSync(path, prompts(1))
  await listening.until((events) => idsOf(events).length === 3)
  for (const event of listening.events) {
    if (event.kind !== 'entry.added') continue
    for (const reading of event.readings)
      if (reading.kind === 'entry') expect(reading.entry.raw.length).toBe(0)
  }
  listening.close()
})

test('[LIV4] a line that is not whole is told when it is', async () => {
  const listening = listen(throughline, SESSION_TOPIC)
  await untilAll(listening)
  const line = prompts(1)
  const known = listening.events.length
  appendFileSync(path, line.slice(0, 30))
  await sleep(150)
  expect(listening.events.slice(known).filter(({ kind }) => kind === 'entry.added')).toEqual([])
  appendFileSync(path, line.slice(30))
  await untilAll(listening)
  listening.close()
})

test('[LIV5] a subagent is listened to by itself, from its first line on', async () => {
  const own = join(path.slice(0, -'.jsonl'.length), 'subagents', 'agent-a1b2c3d4e5f6a7b8c.jsonl')
  mkdirSync(dirname(own), { recursive: true })
  writeFileSync(own, prompts(2, 'delegated'))
  const list = listen(throughline, { kind: 'sessions' })
  await list.until((events) =>
    events.some((event) => event.kind === 'session.changed' && event.session.subagents.length === 1),
  )
  const listening = listen(throughline, { ...SESSION_TOPIC, subagent: 'a1b2c3d4e5f6a7b8c' })
  await listening.until((events) => idsOf(events).length === 2)
  appendFileSync(own, prompts(3, 'delegated'))
  await listening.until((events) => JSON.stringify(idsOf(events)) === JSON.stringify(idsInFile(own)))
  expect(
    listening.events.every((event) => event.kind !== 'entry.added' || event.subagent === 'a1b2c3d4e5f6a7b8c'),
  ).toBe(true)
  listening.close()
  list.close()
})

test('[LIV6] the list from a cursor tells what changed since, also what went; from another run it begins anew', async () => {
  const other = await writeTranscript(join(dir.path, 'claude'), prompts(1, 'other'), {
    id: 'bbbbbbbb-0000-4000-8000-000000000002',
  })
  const first = listen(throughline, { kind: 'sessions' })
  await first.until(
    (events) =>
      new Set(events.flatMap((each) => (each.kind === 'session.changed' ? [each.session.id] : []))).size ===
      2,
  )
  const { cursor } = first
  rmSync(other)
  await first.until((events) => events.some(({ kind }) => kind === 'session.removed'))
  first.close()
  const second = listen(throughline, { kind: 'sessions' }, cursor)
  await second.until(isCaughtUp)
  expect(second.events.map(({ kind }) => kind)).toEqual(['session.removed', 'caught-up'])
  second.close()
  await throughline.close()
  throughline = await open()
  const third = listen(throughline, { kind: 'sessions' }, cursor)
  await third.until(isCaughtUp)
  expect(third.events.map(({ kind }) => kind)).toEqual(['reset', 'session.changed', 'caught-up'])
  third.close()
})

test('[LIV7] [FLT42] fifty listeners of one session are told the same object, each entry once', async () => {
  const all = Array.from({ length: 50 }, () => {
    const events: LiveEvent[] = []
    return {
      events,
      subscription: throughline.subscribe(SESSION_TOPIC, { onEvent: (event) => void events.push(event) }),
    }
  })
  const waiting = listen(throughline, SESSION_TOPIC)
  await waiting.until(isCaughtUp)
  await sleep(50)
  const known = all.map(({ events }) => events.length)
  for (let n = 0; n < 500; n++) {
    appendFileSync(path, prompts(2))
    if (n % 20 === 0) await sleep(1)
  }
  await untilAll(waiting)
  for (const { events } of all) expect(idsOf(events)).toEqual(idsInFile())
  const later = all.map(({ events }, n) => events.slice(known[n]))
  for (const events of later) expect(events.every((event, n) => event === later[0]?.[n])).toBe(true)
  for (const { subscription } of all) subscription.close()
  waiting.close()
})

test('[LIV8] a slow listener that catches up is waited for: what it is told is never held in memory whole', async () => {
  appendFileSync(path, prompts(3000))
  let told = 0
  let working = 0
  await new Promise<void>((resolve) => {
    throughline.subscribe(SESSION_TOPIC, {
      async onEvent(event) {
        expect(working).toBe(0)
        working++
        if (event.kind === 'entry.added') told += event.readings.length
        await sleep(1)
        working--
        if (event.kind === 'caught-up') resolve()
      },
    })
  })
  expect(told).toBe(idsInFile().length)
})

test('[LIV8] a slow listener to the list is waited for, and hears what changed meanwhile', async () => {
  const ids = Array.from({ length: 20 }, (_, n) => `cccccccc-0000-4000-8000-0000000000${10 + n}`)
  for (const id of ids) path = await writeTranscript(join(dir.path, 'claude'), prompts(1), { id })
  const known = new Set<string>()
  let working = 0
  await new Promise<void>((resolve) => {
    const subscription = throughline.subscribe(
      { kind: 'sessions' },
      {
        async onEvent(event) {
          expect(working).toBe(0)
          working++
          if (event.kind === 'session.changed') known.add(event.session.id)
          if (event.kind === 'session.removed') known.delete(event.id)
          // One goes while the others are told.
          if (known.size === 5) rmSync(path, { force: true })
          if (event.kind === 'caught-up') subscription.close()
          if (event.kind === 'caught-up') resolve()
          await sleep(25)
          working--
        },
      },
    )
  })
  expect([...known].toSorted()).toEqual([SESSION, ...ids.slice(0, -1)].toSorted())
})

test('[C2.2] a session that leaves the allowed roots is told as gone, and nothing of it after that', async () => {
  await throughline.close()
  throughline = await open({ allowedRoots: ['/home/user/work'] })
  const listening = listen(throughline, SESSION_TOPIC)
  await untilAll(listening)
  const before = idsInFile()
  appendFileSync(path, toJsonl([lines.prompt('elsewhere', { cwd: '/home/user/private' })]))
  await listening.until((events) => events.some((each) => each.kind === 'reset' && each.reason === 'gone'))
  // Not even the line that was written outside.
  expect(idsOf(listening.events.filter(({ kind }) => kind === 'entry.added'))).toEqual(before)
  const told = listening.events.length
  appendFileSync(path, prompts(3, 'secret'))
  await throughline.settled()
  await sleep(150)
  expect(listening.events.slice(told).filter(({ kind }) => kind === 'entry.added')).toEqual([])
  expect(before.length).toBe(5)
  listening.close()
})

test('[C2.2] [ING2] with allowed roots, too, one more line costs one line', async () => {
  await throughline.close()
  appendFileSync(path, prompts(20_000))
  const meter: Meter = { bytesRead: 0 }
  throughline = await open({ allowedRoots: ['/home/user/work'], meter, sweepMs: 60_000 })
  const listening = listen(throughline, { ...SESSION_TOPIC, last: 1 })
  await listening.until(isCaughtUp)
  appendFileSync(path, prompts(1, 'first'))
  await listening.until((events) => idsOf(events).length >= 2)
  await throughline.settled()
  const before = meter.bytesRead
  const line = prompts(1, 'second')
  appendFileSync(path, line)
  await listening.until((events) => idsOf(events).length >= 3)
  await throughline.settled()
  expect(meter.bytesRead - before).toBeLessThan(line.length + 64 * 1024)
  listening.close()
})

test('[ING5] an index that is about to begin is told as being built, and what is asked meanwhile is found', async () => {
  await throughline.close()
  const home = join(dir.path, 'home')
  mkdirSync(home, { recursive: true, mode: 0o700 })
  // Somebody else has it, so however long anything takes here, it cannot be built meanwhile.
  const holder = new Database(join(home, `index.v${INDEX_VERSION}.db`))
  holder.exec('BEGIN EXCLUSIVE')
  try {
    throughline = await open({ index: true })
    expect((await throughline.health()).index.state).toBe('building')
    const { hits, index } = await throughline.search({ q: 'hello' })
    expect({ hits: hits.length, index }).toEqual({ hits: 5, index: 'building' })
  } finally {
    holder.close()
  }
})

test('[ING3] a restart reads no transcript that did not change, and a subagent’s line does not read the parent', async () => {
  await throughline.close()
  appendFileSync(path, prompts(2000))
  throughline = await open({ index: true })
  const own = join(path.slice(0, -'.jsonl'.length), 'subagents', 'agent-a1b2c3d4e5f6a7b8c.jsonl')
  mkdirSync(dirname(own), { recursive: true })
  writeFileSync(own, prompts(2, 'delegated'))
  for (let wait = 0; wait < 200 && (await throughline.get(SESSION)).subagents.length === 0; wait++)
    await sleep(20)
  await sleep(150)
  await throughline.settled()
  await throughline.close()

  const meter: Meter = { bytesRead: 0 }
  throughline = await open({ index: true, meter })
  await sleep(200)
  await throughline.settled()
  expect((await throughline.list()).sessions).toHaveLength(1)
  expect(meter.bytesRead).toBe(0)
  expect((await throughline.health()).index.state).toBe('complete')

  const size = idsInFile(own).length
  appendFileSync(own, prompts(1, 'kumquat'))
  for (let wait = 0; wait < 200 && (await throughline.search({ q: 'kumquat' })).total.count === 0; wait++)
    await sleep(20)
  expect((await throughline.search({ q: 'kumquat' })).hits.map(({ subagent }) => subagent)).toEqual([
    'a1b2c3d4e5f6a7b8c',
  ])
  expect(idsInFile(own)).toHaveLength(size + 1)
  expect(meter.bytesRead).toBe(0)
})

test('[LIV9] [C4.2] a query that is taken up from its cursor after a restart tells what was written meanwhile, once', async () => {
  await throughline.close()
  throughline = await open({ index: true })
  await untilComplete()
  const topic: Topic = { kind: 'query', q: 'kumquat' }
  const first = listen(throughline, topic)
  await first.until(isCaughtUp)
  appendFileSync(path, prompts(1, 'kumquat'))
  await first.until((events) => hitsIn(events).length === 1)
  await first.until(isCaughtUp)
  const { cursor } = first
  first.close()
  await throughline.close()

  const known = idsInFile().length
  appendFileSync(path, prompts(2, 'kumquat'))
  await sleep(20)
  const other = await writeTranscript(join(dir.path, 'claude'), prompts(1, 'kumquat'), {
    id: 'bbbbbbbb-0000-4000-8000-000000000002',
  })
  throughline = await open({ index: true })
  await untilComplete()
  const second = listen(throughline, topic, cursor)
  await second.until((events) => hitsIn(events).length >= 3 && isCaughtUp(events))
  expect(hitsIn(second.events).toSorted()).toEqual(
    [...idsInFile().slice(known), ...idsInFile(other)].toSorted(),
  )
  expect(second.events.some(({ kind }) => kind === 'reset')).toBe(false)
  second.close()
})

async function untilComplete(): Promise<void> {
  for (let wait = 0; wait < 500 && (await throughline.health()).index.state !== 'complete'; wait++)
    await sleep(20)
  await throughline.settled()
}

function hitsIn(events: readonly LiveEvent[]): readonly string[] {
  return events.flatMap((event) => (event.kind === 'hit.found' ? [event.hit.entry.id] : []))
}

test('[LIV24] after it is closed nobody is told anything, also of what was gathered before', async () => {
  const told: LiveEvent[] = []
  throughline.subscribe({ kind: 'sessions' }, { onEvent: (event) => void told.push(event) })
  await expect.poll(() => told.at(-1)?.kind).toBe('caught-up')
  // The first change is told at once, the second is gathered with what follows.
  appendFileSync(path, prompts(1))
  await expect.poll(() => told.at(-1)?.kind).toBe('session.changed')
  appendFileSync(path, prompts(1))
  await throughline.settled()
  const before = told.length
  await throughline.close()
  const closed = told.length
  expect(closed).toBeGreaterThanOrEqual(before)
  await sleep(300)
  expect(told).toHaveLength(closed)
  throughline = await open()
})
