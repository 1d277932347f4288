import { mkdirSync, rmSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import * as fc from 'fast-check'
import { openThroughline, type LocalThroughline } from '#app'
import { placeOf, type Reading, type SessionSummary } from '#model'
import { eventually, openTempDir, readAll, runs } from '#testing'
import type { LiveEvent, Subscription } from '#wire'
import { expect, test } from 'vitest'
import { indexPath, readRows } from './index-rows.ts'
import { createWorld, SESSIONS, type Happening } from './ingest-world.ts'

type Step =
  | Happening
  | { readonly kind: 'pause'; readonly ms: number }
  | { readonly kind: 'delete-index' }
  | { readonly kind: 'restart' }

const WORDS = ['amber', 'azure', 'indigo', 'parse_line', 'tool:bash', 'kind:prompt']

function steps(): fc.Arbitrary<readonly Step[]> {
  const of = fc.nat(SESSIONS.length - 1)
  const lines = fc.integer({ min: 1, max: 6 })
  const part = fc.double({ min: 0, max: 0.95, noNaN: true })
  const word = fc.constantFrom('amber', 'azure')
  const step: fc.Arbitrary<Step> = fc.oneof(
    { weight: 6, arbitrary: fc.record({ kind: fc.constant('append' as const), of, lines, word }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('tear' as const), of, part }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('queue' as const, 'deliver' as const), of }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('leave-open' as const), of }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('mend' as const), of }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('truncate' as const), of, part }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('rewrite' as const), of }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('replace' as const), of, lines }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('delete' as const), of }) },
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('create' as const), of, lines }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('rename-project' as const), project: fc.nat(1) }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('delegate' as const), of, lines }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('damage' as const), of }) },
    { weight: 6, arbitrary: fc.record({ kind: fc.constant('pause' as const), ms: fc.nat(40) }) },
    { weight: 1, arbitrary: fc.constant({ kind: 'delete-index' as const }) },
    { weight: 1, arbitrary: fc.constant({ kind: 'restart' as const }) },
  )
  return fc.array(step, { minLength: 5, maxLength: 30 })
}

/** What somebody who listens to one session has heard, over restarts. */
interface Listener {
  readonly told: string[]
  cursor: string | undefined
  subscription: Subscription | undefined
}

test('[ING1] [LIV1] [LIV2] [FLT13] [FLT14] [FLT15] whatever happens to files, the index becomes what a fresh one is, and listeners hear each entry once', async () => {
  await fc.assert(
    fc.asyncProperty(steps(), fc.boolean(), async (all, archive) => {
      const dir = await openTempDir()
      try {
        await play(dir.path, all, archive ? 'on' : 'off')
      } finally {
        await dir.remove()
      }
    }),
    // One run takes about a second: shrinking would take minutes, and a failed run prints its steps.
    { ...runs(12), endOnFailure: true },
  )
}, 900_000)

async function play(root: string, all: readonly Step[], archive: string): Promise<void> {
  const world = createWorld(join(root, 'claude'))
  mkdirSync(join(root, 'claude', 'projects'), { recursive: true })
  const home = join(root, 'home')
  const env = { HOME: root, CLAUDE_CONFIG_DIR: world.claudeDir, THROUGHLINE_HOME: home }
  const listeners = new Map<string, Listener>(
    SESSIONS.map((id) => [id, { told: [], cursor: undefined, subscription: undefined }]),
  )
  const list = new Map<string, SessionSummary>()
  const open = (): Promise<LocalThroughline> =>
    openThroughline({ index: true, sweepMs: 60, restMs: 30, env: { ...env, THROUGHLINE_ARCHIVE: archive } })
  world.happen({ kind: 'create', of: 0, lines: 3 })
  world.happen({ kind: 'create', of: 1, lines: 5 })
  let throughline = await open()
  try {
    listenToList(throughline, list)
    for (const step of all) {
      listenToAll(throughline, listeners)
      if (step.kind === 'pause') await sleep(step.ms)
      else if (step.kind === 'delete-index') rmSync(indexPath(home), { force: true })
      else if (step.kind === 'restart') {
        stopListening(listeners)
        await throughline.close()
        throughline = await open()
        listenToList(throughline, list)
      } else world.happen(step)
    }
    const fresh = await buildFresh(join(root, 'fresh'), { ...env, THROUGHLINE_ARCHIVE: 'off' })
    await eventually(async () => {
      listenToAll(throughline, listeners)
      await throughline.settled()
      expect(await stateOf(throughline, indexPath(home), world.claudeDir)).toEqual(fresh)
      const { sessions } = await throughline.list()
      expect([...list.values()].toSorted(byId)).toEqual([...sessions].toSorted(byId))
      for (const session of sessions) {
        if (session.state === 'damaged') expect(await hasDamage(session.path)).toBe(true)
        expect({ id: session.id, told: listeners.get(session.id)?.told }).toEqual({
          id: session.id,
          told: (await wholeLines(session.path)).map(nameOf),
        })
      }
    })
    // With what the archive keeps: the index of this process is that of a process that begins with none.
    const before = readRows(indexPath(home))
    stopListening(listeners)
    await throughline.close()
    for (const name of ['', '-wal', '-shm']) rmSync(`${indexPath(home)}${name}`, { force: true })
    throughline = await open()
    await eventually(async () => {
      await throughline.settled()
      expect(readRows(indexPath(home))).toEqual(before)
    })
  } finally {
    stopListening(listeners)
    await throughline.close()
  }
}

async function buildFresh(home: string, env: Readonly<Record<string, string>>): Promise<object> {
  const fresh = await openThroughline({ index: true, restMs: 30, env: { ...env, THROUGHLINE_HOME: home } })
  try {
    await eventually(async () => {
      await fresh.settled()
      const { index } = await fresh.health()
      expect(index.state).toBe('complete')
    })
    return await stateOf(fresh, indexPath(home), env['CLAUDE_CONFIG_DIR'] ?? '')
  } finally {
    await fresh.close()
  }
}

/** What the index and the list say of the agent's own files. */
async function stateOf(throughline: LocalThroughline, index: string, claudeDir: string): Promise<object> {
  const { sessions } = await throughline.list()
  const own = sessions.filter(({ path }) => path.startsWith(claudeDir))
  const isOwn = new Set(own.map(({ id }) => id))
  const found: Record<string, readonly string[]> = {}
  for (const q of WORDS) {
    const { hits } = await throughline.search({ q, limit: 200 })
    found[q] = hits
      .filter(({ session }) => isOwn.has(session.id))
      .map(
        ({ session, subagent, entry, where }) => `${session.id} ${subagent} ${entry.place.offset} ${where}`,
      )
      .toSorted()
  }
  const usage = await throughline.usage({ by: 'session' })
  return {
    rows: readRows(index).filter((row) => row.includes(claudeDir)),
    // Who followed a file knows of damage in its middle that a glance at its ends does not see.
    sessions: own
      .toSorted(byId)
      .map((session) => ({ ...session, state: session.state === 'damaged' ? 'ok' : session.state })),
    found,
    usage: usage.rows.filter(({ key }) => isOwn.has(key)).map(({ key, usage: spent }) => [key, spent]),
  }
}

function listenToList(throughline: LocalThroughline, list: Map<string, SessionSummary>): void {
  list.clear()
  throughline.subscribe(
    { kind: 'sessions' },
    {
      onEvent(event) {
        if (event.kind === 'reset') list.clear()
        if (event.kind === 'session.changed') list.set(event.session.id, event.session)
        if (event.kind === 'session.removed') list.delete(event.id)
      },
    },
  )
}

/** Those whose session is not there yet are refused, and try again. */
function listenToAll(throughline: LocalThroughline, listeners: ReadonlyMap<string, Listener>): void {
  for (const [id, listener] of listeners) {
    if (listener.subscription !== undefined) continue
    listener.subscription = throughline.subscribe(
      { kind: 'session', id },
      {
        ...(listener.cursor === undefined ? {} : { cursor: listener.cursor }),
        onEvent: (event) => hear(listener, event),
        onError() {
          listener.subscription = undefined
        },
      },
    )
  }
}

function hear(listener: Listener, event: LiveEvent): void {
  listener.cursor = event.cursor
  if (event.kind === 'reset') listener.told.length = 0
  if (event.kind === 'entry.added') listener.told.push(...event.readings.map(nameOf))
}

function stopListening(listeners: ReadonlyMap<string, Listener>): void {
  for (const listener of listeners.values()) {
    listener.subscription?.close()
    listener.subscription = undefined
  }
}

/** What stands on whole lines. A last one without its newline is told when it can be read, and a torn one never. */
async function wholeLines(path: string): Promise<readonly Reading[]> {
  const bytes = await readFile(path)
  const end = bytes.lastIndexOf(0x0a) + 1
  const all = await readAll(path)
  const last = all.filter((reading) => placeOf(reading).offset >= end)
  return last.some(({ kind }) => kind === 'entry') ? all : all.slice(0, all.length - last.length)
}

async function hasDamage(path: string): Promise<boolean> {
  return (await readAll(path)).some(({ kind }) => kind === 'damage')
}

function nameOf(reading: Reading): string {
  const { offset } = placeOf(reading)
  return reading.kind === 'entry' ? `${offset} ${reading.entry.id}` : `${offset} damage`
}

function byId(a: SessionSummary, b: SessionSummary): number {
  return a.id < b.id ? -1 : 1
}
