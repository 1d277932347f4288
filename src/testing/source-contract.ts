import { cp, mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { placeOf, textOf, transcriptsOf, type Reading, type SessionSummary } from '#model'
import { createFollower, formatOf, openTranscript, type Source } from '#sources'
import type { Suite } from './contract-suite.ts'
import { readAll } from './readings.ts'
import { describeSourceLines } from './source-contract-lines.ts'
import { openTempDir } from './temp-dir.ts'
import { snapshotOf } from './tree-snapshot.ts'

/** Sessions of one agent, and what can happen to them. */
export interface SourcePlace {
  /** A source that knows nothing yet. */
  readonly open: () => Source
  /** The agent's own folder. */
  readonly agentDir: string
  /** The session in which more is said. */
  readonly growing: string
  /** Says something more in it, in as many writes as it takes: only after the last one it is said. */
  readonly say: (words: string) => readonly (() => void)[]
  /** Puts a link and a pipe where transcripts are, or whatever else of that kind there could be. */
  readonly plantLinks: (target: string) => void
  /** Removes a session other than the growing one, and gives its id. */
  readonly remove: () => string
  /** Ids of subagents, by the session that they worked for. */
  readonly subagents: Readonly<Record<string, readonly string[]>>
}

/** Makes a place in an empty folder. */
export type MakeSourcePlace = (folder: string) => Promise<SourcePlace> | SourcePlace

/** Gives a test a place of its own. */
export type WithPlace = (use: (place: SourcePlace, folder: string) => Promise<void>) => Promise<void>

/** What every source does, whoever writes what it reads. Each one runs this suite. */
export function describeSource(
  suite: Suite,
  options: { readonly name: string; readonly make: MakeSourcePlace },
): void {
  const withPlace: WithPlace = async (use) => {
    const dir = await openTempDir()
    try {
      await use(await options.make(dir.path), dir.path)
    } finally {
      await dir.remove()
    }
  }
  suite.describe(options.name, () => {
    describeFinding(suite, withPlace)
    describeSourceLines(suite, withPlace)
    describeGrowing(suite, withPlace)
    describeKeeping(suite, withPlace)
  })
}

function describeFinding({ expect, test }: Suite, withPlace: WithPlace): void {
  test('[SRC1] every session is listed once, with what a look at it tells, and by any process the same', () =>
    withPlace(async ({ open }) => {
      const source = open()
      const { sessions, problems } = await source.list()
      const { sessions: found } = await source.find()
      expect(found.map(({ id }) => id).toSorted()).toEqual(idsOf(sessions))
      expect(new Set(idsOf(sessions)).size).toBe(sessions.length)
      expect(sessions.length).toBeGreaterThan(1)
      for (const files of found) {
        const listed = sessions.find(({ id }) => id === files.id)
        expect({ ...source.look(files), live: listed?.live }).toEqual({ ...listed, live: listed?.live })
      }
      for (const session of sessions) expectPlausible(session)
      expect(problems).toEqual([])
      const again = await open().list()
      expect(again.sessions.toSorted(byId)).toEqual(sessions.toSorted(byId))
    }))

  test('[SRC2] subagents are with the sessions that they worked for, and are no sessions', () =>
    withPlace(async ({ open, subagents }) => {
      const { sessions } = await open().list()
      const found = sessions.filter((session) => session.subagents.length > 0)
      const delegated = Object.fromEntries(
        found.map((session) => [session.id, session.subagents.map(({ id }) => id).toSorted()]),
      )
      expect(delegated).toEqual(subagents)
      for (const { path, size } of found.flatMap((session) => session.subagents)) {
        expect((await readAll(path)).length).toBeGreaterThan(0)
        expect(size).toBeGreaterThan(0)
        expect(sessions.map((session) => session.path)).not.toContain(path)
      }
    }))

  test('[SRC3] links and pipes among the transcripts are neither followed nor waited for, and hide nothing', () =>
    withPlace(async ({ open, plantLinks }, folder) => {
      const before = await open().list()
      const elsewhere = join(folder, 'elsewhere')
      await mkdir(elsewhere)
      await cp(before.sessions[0]?.path ?? '', join(elsewhere, 'secret.jsonl'))
      plantLinks(elsewhere)
      const after = await open().list()
      const readable = after.sessions.filter(({ state }) => state !== 'unreadable')
      expect(idsOf(readable)).toEqual(idsOf(before.sessions))
      for (const path of after.sessions.flatMap(transcriptsOf)) expect(path).not.toContain('secret')
      for (const { message, hint } of after.problems) expect([message, hint]).not.toContain('')
    }))

  test('[SRC4] a folder that is not there is empty, and stays away', () =>
    withPlace(async ({ open }, folder) => {
      const nowhere = join(folder, 'nowhere')
      const source = open().at(nowhere)
      expect(await source.list()).toEqual({ sessions: [], problems: [] })
      expect([source.folders(), source.live(), source.findPlace(join(folder, 'x.jsonl'))]).toEqual([
        [],
        new Map(),
        undefined,
      ])
      expect(await snapshotOf(nowhere)).toEqual({})
    }))

  test('[SRC5] what comes and goes changes the stamp; what stays as it is does not', () =>
    withPlace(async ({ open, remove }) => {
      const source = open()
      const later = Date.now() + 3_600_000
      const { sessions } = await source.list()
      const stamp = source.stamp(later)
      expect([stamp === '', source.stamp(later) === stamp]).toEqual([false, true])
      const gone = remove()
      expect(source.stamp(later)).not.toBe(stamp)
      const rest = idsOf(sessions).filter((id) => id !== gone)
      expect(idsOf((await source.list()).sessions)).toEqual(rest)
      expect(idsOf((await open().list()).sessions)).toEqual(rest)
    }))

  test('[SRC13] nobody is said to hold a session that no process holds, whatever lies in the registry', () =>
    withPlace(async ({ open, growing }) => {
      const { registry } = open()
      if (registry !== undefined) {
        await mkdir(registry.dir, { recursive: true })
        for (const [name, text] of Object.entries({ ...GARBAGE, [growing]: '', [`${growing}.lock`]: '{}' }))
          await writeFile(join(registry.dir, name), text)
      }
      const source = open()
      expect(registry === undefined ? [] : source.registry?.read().holders).toEqual([])
      expect(source.live()).toEqual(new Map())
      for (const { live } of (await source.list()).sessions) expect(live).toBeUndefined()
    }))

  test('[SRC6] whatever is asked of it, nothing of the agent changes: no byte, no time, no name', () =>
    withPlace(async ({ open, agentDir }) => {
      const before = await snapshotOf(agentDir)
      const source = open()
      const { sessions } = await source.list()
      await source.find()
      source.live()
      source.registry?.read()
      source.stamp(Date.now())
      for (const dir of source.folders()) expect(source.folders(dir)).toContain(dir)
      for (const path of sessions.flatMap(transcriptsOf)) {
        await readAll(path)
        await source.findWorkdirs(path)
        const file = openTranscript(path)
        await source.createBillReader().read(file)
        file.close()
        await createFollower(path, source.format).poll()
      }
      expect(await snapshotOf(agentDir)).toEqual(before)
    }))
}

function describeGrowing({ expect, test }: Suite, withPlace: WithPlace): void {
  test('[SRC7] what is said is told once and when it is said, however it is written; a look then sees it', () =>
    withPlace(async ({ open, growing, say }) => {
      const source = open()
      const find = async (): Promise<SessionSummary> => {
        const files = (await source.find()).sessions.find(({ id }) => id === growing)
        if (files === undefined) throw new Error(`no session ${growing}`)
        return source.look(files)
      }
      const { path, lastActivityAt = '' } = await find()
      const follower = createFollower(path, source.format)
      const told: Reading[] = []
      const hear = async (): Promise<readonly string[]> => {
        await source.find()
        const events = await follower.poll()
        const fresh = events.flatMap((event) => (event.kind === 'readings' ? event.readings : []))
        expect(events.every(({ kind }) => kind === 'readings')).toBe(true)
        told.push(...fresh)
        return fresh.flatMap(wordsOf)
      }
      await hear()
      for (const words of ['the first of it', 'and the second']) {
        const writes = say(words)
        for (const [nth, write] of writes.entries()) {
          write()
          const isSaid = nth === writes.length - 1
          expect((await hear()).filter((each) => each.includes(words)).length).toBe(isSaid ? 1 : 0)
        }
      }
      expect(told.map(nameOf)).toEqual((await readAll(path)).map(nameOf))
      const seen = await find()
      expect((seen.lastActivityAt ?? '') > lastActivityAt).toBe(true)
      const fresh = (await open().list()).sessions.find(({ id }) => id === growing)
      expect({ ...fresh, live: undefined }).toEqual({ ...seen, live: undefined })
    }))
}

function describeKeeping({ expect, test }: Suite, withPlace: WithPlace): void {
  test('[SRC8] files that are kept elsewhere in the same places are the same sessions', () =>
    withPlace(async ({ open }, folder) => {
      const source = open()
      const { sessions } = await source.list()
      const archive = join(folder, 'archive')
      const before = (await source.find()).sessions.flatMap(({ history = [] }) => history)
      for (const path of new Set([...sessions.flatMap(transcriptsOf), ...before])) {
        const place = source.findPlace(path)
        expect(place).toBeDefined()
        const target = join(archive, place ?? '')
        await mkdir(dirname(target), { recursive: true })
        await cp(path, target)
        expect(formatOf(target)).toBe(source.format)
      }
      const kept = source.at(archive)
      expect(kept.agent).toBe(source.agent)
      const again = await kept.list()
      expect(again.sessions.map(said).toSorted()).toEqual(sessions.map(said).toSorted())
      for (const session of again.sessions) {
        const original = sessions.find(({ id }) => id === session.id)
        expect(await linesOf(session.path)).toEqual(await linesOf(original?.path ?? ''))
      }
    }))
}

/** What nobody writes into a registry. */
const GARBAGE = {
  '1.json': '{"pid":',
  '2.json': '[]',
  '3.json': '{"pid":2147483647,"sessionId":7}',
  'x.lock': '',
}

function expectPlausible({
  id,
  agent,
  path,
  size,
  workdirs,
  createdAt,
  lastActivityAt,
}: SessionSummary): void {
  const wrong = [
    id === '' && 'no id',
    agent === '' && 'no agent',
    size <= 0 && 'no size',
    workdirs.length === 0 && 'no workdir',
    (createdAt ?? '') === '' && 'no beginning',
    (createdAt ?? '') > (lastActivityAt ?? '') && 'it ends before it begins',
  ].filter((each) => each !== false)
  if (wrong.length > 0) throw new Error(`${path}: ${wrong.join(', ')}`)
}

function idsOf(sessions: readonly { readonly id: string }[]): readonly string[] {
  return sessions.map(({ id }) => id).toSorted()
}

function byId(a: SessionSummary, b: SessionSummary): number {
  return a.id < b.id ? -1 : 1
}

/** What a session is, whatever its files are called. */
function said({
  id,
  agent,
  firstPrompt,
  workdirs,
  createdAt,
  lastActivityAt,
  subagents,
}: SessionSummary): string {
  const delegated = subagents.map((subagent) => subagent.id).toSorted()
  return JSON.stringify([id, agent, firstPrompt, workdirs, createdAt, lastActivityAt, delegated])
}

async function linesOf(path: string): Promise<readonly string[]> {
  return (await readAll(path)).map((reading) =>
    reading.kind === 'entry' ? Buffer.from(reading.entry.raw).toString('latin1') : 'damage',
  )
}

function nameOf(reading: Reading): string {
  const { offset, length } = placeOf(reading)
  return `${offset} ${length} ${reading.kind === 'entry' ? reading.entry.id : 'damage'}`
}

function wordsOf(reading: Reading): readonly string[] {
  if (reading.kind === 'damage' || reading.entry.kind !== 'prompt') return []
  return [textOf(reading.entry.blocks)]
}
