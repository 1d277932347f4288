import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { openTempDir, runs, type TempDir } from '#testing'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { claudeFormat } from './claude/read-line.ts'
import { createFollower } from './follower.ts'
import { createGeminiSource } from './gemini/source.ts'
import { toTranscribedLine } from './transcribed-line.ts'
import { createTranscribedSource, type Original, type TranscribedReader } from './transcribed.ts'

let temp: TempDir
beforeEach(async () => {
  temp = await openTempDir()
})
afterEach(() => temp.remove())

function toPrompt(sessionId: string, index: number): string {
  const message = { role: 'user', content: `said ${String(index)}` }
  const timestamp = '2026-11-15T07:00:00.000Z'
  const uuid = `${sessionId}-${String(index)}`
  return toTranscribedLine({ type: 'user', uuid, parentUuid: null, message, timestamp, cwd: '/w', sessionId })
}

/** An agent that is a map: how many prompts each session has. Counts how often one is transcribed. */
function createHandReader(sessions: Map<string, number>): TranscribedReader<never> & { transcribed: number } {
  const reader = {
    agent: 'hand',
    transcribed: 0,
    folders: () => [],
    stamp: () => JSON.stringify([...sessions]),
    open: () => ({
      originals: [...sessions].map(([id, count]): Original => ({
        id,
        stamp: String(count),
        workdir: '/w',
        title: `${id}!`,
      })),
      problems: [],
      isComplete: true,
      transcribe({ id }: Original) {
        reader.transcribed += 1
        const count = sessions.get(id) ?? 0
        if (count < 0) throw new Error('its pages are torn')
        return { lines: Array.from({ length: count }, (_, index) => toPrompt(id, index)), isWhole: true }
      },
      close: () => undefined,
    }),
  }
  return reader
}

test('[TRS1] sessions are listed as those of their agent, in files that only their owner may read', async () => {
  const dir = join(temp.path, 'hand')
  const source = createTranscribedSource(
    createHandReader(
      new Map([
        ['a', 2],
        ['b', 1],
      ]),
    ),
    dir,
  )
  const { sessions, problems } = await source.list()
  expect(problems).toEqual([])
  expect(
    sessions.map(({ id, agent, name, nameFrom, firstPrompt, workdirs, state }) => [
      id,
      agent,
      name,
      nameFrom,
      firstPrompt,
      workdirs,
      state,
    ]),
  ).toEqual([
    ['a', 'hand', 'a!', 'agent', 'said 0', ['/w'], 'ok'],
    ['b', 'hand', 'b!', 'agent', 'said 0', ['/w'], 'ok'],
  ])
  const all = readdirSync(dir, { recursive: true, withFileTypes: true })
  for (const each of all)
    expect(statSync(join(each.parentPath, each.name)).mode & 0o777).toBe(each.isDirectory() ? 0o700 : 0o600)
  expect(source.findPlace(sessions[0]?.path ?? '')).toBe('projects/-w/a.jsonl')
  const kept = await source.at(dir).list()
  expect(kept.sessions.map(({ id, agent }) => [id, agent])).toEqual([
    ['a', 'hand'],
    ['b', 'hand'],
  ])
})

test('[TRS2] what did not change is not transcribed again, in this process or the next', async () => {
  const sessions = new Map(
    Array.from({ length: 500 }, (_, index): [string, number] => [`s${String(index)}`, 1]),
  )
  const reader = createHandReader(sessions)
  const dir = join(temp.path, 'hand')
  const source = createTranscribedSource(reader, dir)
  expect((await source.find()).sessions).toHaveLength(500)
  expect(reader.transcribed).toBe(500)
  await source.find()
  const next = createTranscribedSource(reader, dir)
  await next.list()
  expect(reader.transcribed).toBe(500)
  sessions.set('s7', 2)
  await next.find()
  expect(reader.transcribed).toBe(501)
})

test('[TRS6] a session that cannot be transcribed is listed with its reason, and hides no other', async () => {
  const sessions = new Map([
    ['bad', -1],
    ['good', 1],
  ])
  const source = createTranscribedSource(createHandReader(sessions), join(temp.path, 'hand'))
  const states = async (): Promise<readonly unknown[]> =>
    (await source.list()).sessions.map(({ id, state, problem }) => [id, state, problem])
  expect(await states()).toEqual([
    ['bad', 'unreadable', 'could not be transcribed: its pages are torn'],
    ['good', 'ok', undefined],
  ])
  sessions.set('bad', 3)
  sessions.set('good', -1)
  // What was there before is still there.
  expect(await states()).toEqual([
    ['bad', 'ok', undefined],
    ['good', 'damaged', 'could not be transcribed: its pages are torn'],
  ])
})

test('[TRS7] transcriptions may be deleted at any time; one whose original is gone is set aside, not destroyed', async () => {
  const sessions = new Map([
    ['a', 2],
    ['b', 1],
  ])
  const dir = join(temp.path, 'hand')
  const source = createTranscribedSource(createHandReader(sessions), dir)
  const [first] = (await source.find()).sessions
  const before = readFileSync(first?.path ?? '')
  rmSync(join(dir, 'projects'), { recursive: true })
  await source.find()
  expect(readFileSync(first?.path ?? '').equals(before)).toBe(true)
  sessions.delete('a')
  expect((await source.find()).sessions.map(({ id }) => id)).toEqual(['b'])
  expect(readFileSync(join(dir, 'gone/projects/-w/a.jsonl')).equals(before)).toBe(true)
})

test('[TRS8] a subagent lies beside the session that began it', async () => {
  const originals: readonly Original[] = [
    { id: 'root', stamp: '1', workdir: '/w' },
    { id: 'inner', stamp: '1', workdir: '/elsewhere', parentId: 'root', agentType: 'explore' },
    { id: 'innermost', stamp: '1', parentId: 'inner' },
    { id: 'lost', stamp: '1', workdir: '/w', parentId: 'nobody' },
  ]
  const reader = {
    ...createHandReader(new Map()),
    open: () => ({ ...createHandReader(new Map([['x', 1]])).open(), originals }),
  }
  const { sessions } = await createTranscribedSource(reader, join(temp.path, 'hand')).list()
  expect(
    sessions.map(({ id, subagents }) => [
      id,
      subagents.map((each) => [each.id, each.agentType, each.parentAgentId]),
    ]),
  ).toEqual([
    ['lost', []],
    [
      'root',
      [
        ['inner', 'explore', undefined],
        ['innermost', undefined, 'inner'],
      ],
    ],
  ])
})

/** A log with everything in it that happens to one, and a line that is none. */
function toLog(count: number): Buffer {
  const lines = [JSON.stringify({ sessionId: 'abcdefgh-1', projectHash: 'h', startTime: 't' })]
  for (let index = 0; index < count; index++) {
    const id = `m${String(index)}`
    if (index % 7 === 3) lines.push('{"torn')
    if (index % 5 === 4) lines.push(JSON.stringify({ $rewindTo: `m${String(index - 2)}` }))
    lines.push(JSON.stringify({ id, type: index % 2 === 0 ? 'user' : 'gemini', content: `wörds ${id}` }))
  }
  return Buffer.from(`${lines.join('\n')}\n`)
}

test('[TRS3] a session that grows, at whatever byte it is looked at, gets the bytes that it gets anew', async () => {
  const log = toLog(30)
  const first = log.indexOf('\n', log.indexOf('\n') + 1) + 1
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(log.length), { maxLength: 6 }), fc.boolean(), async (cuts, restarts) => {
      const place = await openTempDir()
      try {
        const chats = join(place.path, 'gemini/tmp/w/chats')
        mkdirSync(chats, { recursive: true })
        const original = join(chats, 'session-2026-11-15T07-00-abcdefgh.jsonl')
        const dir = join(place.path, 'transcribed')
        let source = createGeminiSource(join(place.path, 'gemini'), dir)
        let before = Buffer.alloc(0)
        let at = 0
        const told: string[] = []
        let follower: ReturnType<typeof createFollower> | undefined
        // The first thing that is said at least: before it a file is no session.
        for (const cut of [...cuts, first, log.length]
          .toSorted((a, b) => a - b)
          .filter((each) => each >= first)) {
          appendFileSync(original, log.subarray(at, cut))
          at = cut
          if (restarts) source = createGeminiSource(join(place.path, 'gemini'), dir)
          const [files] = (await source.find()).sessions
          const path = files?.path ?? ''
          const bytes = readFileSync(path)
          expect(bytes.subarray(0, before.length).equals(before)).toBe(true)
          before = bytes
          follower ??= createFollower(path, claudeFormat)
          told.push(...(await follower.poll()).map(({ kind }) => kind))
        }
        expect(told).not.toContain('reset')
        const anew = createGeminiSource(join(place.path, 'gemini'), join(place.path, 'anew'))
        const [files] = (await anew.find()).sessions
        expect(readFileSync(files?.path ?? '').equals(before)).toBe(true)
      } finally {
        await place.remove()
      }
    }),
    runs(15),
  )
})

test('[D14] [TRS9] an id is the one that stands in the file, and nothing of an agent is ever touched', async () => {
  const gemini = join(temp.path, 'gemini')
  const chats = join(gemini, 'tmp/w/chats')
  mkdirSync(chats, { recursive: true })
  const write = (name: string, sessionId: string): void => {
    const header = JSON.stringify({ sessionId, projectHash: 'h', startTime: 't' })
    const said = JSON.stringify({ id: '1', type: 'user', content: 'hello' })
    writeFileSync(join(chats, name), `${header}\n${said}\n`)
  }
  write('session-2026-11-15T07-00-aaaaaaaa.jsonl', 'aaaaaaaa-1')
  write('session-2026-11-15T07-01-bbbbbbbb.jsonl', 'quite-another')
  writeFileSync(join(chats, 'session-2026-11-15T07-02-cccccccc.jsonl'), '')
  const before = picture(gemini)
  const source = createGeminiSource(gemini, join(temp.path, 'transcribed'))
  const { sessions } = await source.list()
  expect(sessions.map(({ id, state }) => [id, state])).toEqual([
    ['aaaaaaaa-1', 'ok'],
    ['quite-another', 'ok'],
  ])
  source.stamp(0)
  source.folders()
  expect(picture(gemini)).toEqual(before)
})

/** Every file and folder, with its bytes and times. */
function picture(dir: string): readonly unknown[] {
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .map((each) => {
      const path = join(each.parentPath, each.name)
      const { mtimeMs, size, mode, ino } = statSync(path)
      return [path, mtimeMs, size, mode, ino, each.isFile() ? readFileSync(path, 'utf8') : '']
    })
    .toSorted((a, b) => (String(a[0]) < String(b[0]) ? -1 : 1))
}
