import { randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { field, list, parseJson, string } from '#base'
import { findProcess } from '#drivers'
import { openTempDir, startRosterProcess } from '#testing'
import type { RosterProcess, TempDir } from '#testing'
import { readAudit } from './audit-reader.ts'
import { hashOf } from './canonical-json.ts'
import { createClock } from './clock.ts'
import { openRoster } from './roster.ts'
import type { Roster } from './roster.ts'
import { findRunFile } from './run-file.ts'

const dist = join(import.meta.dirname, '..', '..', 'dist')
const KILLS = process.env['RUNS'] === 'full' ? 250 : 10

let dir: TempDir
let home: string
let workdir: string
let roster: Roster | undefined
let daemon: RosterProcess | undefined

beforeEach(async () => {
  dir = await openTempDir()
  home = join(dir.path, 'home')
  workdir = join(dir.path, 'work')
  await mkdir(workdir)
})
afterEach(async () => {
  const last = roster ?? (await openRosterHere())
  for (const { sessionId } of last.list()) await last.command(sessionId, { do: 'end' }).catch(() => {})
  await until(() => last.list().length === 0)
  await last.close()
  await daemon?.close()
  roster = undefined
  daemon = undefined
  await dir.remove()
})

async function openRosterHere(): Promise<Roster> {
  return await openRoster({
    home,
    clock: createClock(() => Date.now()),
    program: { command: process.execPath, args: [join(dist, 'live', 'host-main.js')], env: {} },
    findOwner: () => Promise.resolve(undefined),
    lookMs: 100,
  })
}

/** Waits for something that takes as long as it takes; only a hang makes it fail. */
async function until<T>(look: () => T | Promise<T>): Promise<NonNullable<T>> {
  const end = Date.now() + 30_000
  for (;;) {
    const found = await look()
    if (found) return found
    if (Date.now() > end) throw new Error('it never came')
    await sleep(3)
  }
}

/** The calls that an agent has made, as its own transcripts have them. */
async function callsIn(transcripts: string): Promise<readonly string[]> {
  const names = await readdir(transcripts, { recursive: true })
  const files = names.filter((name) => name.endsWith('.jsonl'))
  const texts = await Promise.all(files.map((name) => readFile(join(transcripts, name), 'utf8')))
  return texts
    .flatMap((text) => text.split('\n').map(parseJson))
    .flatMap((line) => list(field(line, 'message'), 'content'))
    .filter((block) => string(block, 'type') === 'tool_use')
    .flatMap((block) => string(block, 'id') ?? [])
}

test('[AUD5] [ATT41] every call of a session is in its log, also those that no one was asked about', async () => {
  roster = await openRosterHere()
  const sessionId = randomUUID()
  const transcripts = join(dir.path, 'transcripts')
  await roster.start({
    sessionId,
    agent: 'scripted',
    workdir,
    trusted: true,
    folderHash: 'what was trusted',
    env: { PATH: process.env['PATH'] ?? '' },
    settings: { transcripts },
  })
  const echo = (cue: string): string => `[[${cue} Bash {"command":"echo one >> ran.log"}]]`
  const read = '[[tool Read {"file_path":"ran.log"}]]'
  const words = `${echo('tool')} ${echo('tool')} ${read} ${echo('tool')} ${echo('with')} ${echo('with')} [[tool Nothing {}]] [[ask Which? | A | B]]`
  await roster.prompt(sessionId, { id: randomUUID(), blocks: [{ kind: 'text', text: words }], by: 'me' })
  const answerNext = async (resolution: Parameters<Roster['resolve']>[1]['resolution']): Promise<void> => {
    const { id, hash } = await until(() => roster?.attentions()[0])
    await roster?.resolve(sessionId, { id, hash, resolution, by: 'phone' })
    await until(() => roster?.attentions()[0]?.id !== id)
  }
  await answerNext({ kind: 'allow', rules: ['rule-1'] })
  await answerNext({ kind: 'deny', words: 'no' })
  await answerNext({ kind: 'answer', answers: [['A']] })
  await until(() => roster?.find(sessionId)?.turn?.outcome)
  await roster.command(sessionId, { do: 'end' })
  await until(() => roster?.list().length === 0)

  const { entries, verdict } = await readAudit(home, sessionId)
  expect(verdict).toMatchObject({ kind: 'whole', lines: entries.length })
  const made = await callsIn(transcripts)
  expect(made).toHaveLength(8)
  const called = entries.flatMap((one) => (one.kind === 'tool.called' ? [one.toolUseId] : []))
  expect(called).toEqual(made)
  const returned = entries.flatMap((one) => (one.kind === 'tool.returned' ? [one.toolUseId] : []))
  expect(returned.toSorted()).toEqual(made.toSorted())
  expect(entries[0]).toMatchObject({
    kind: 'session.started',
    agent: 'scripted',
    trusted: true,
    folderHash: 'what was trusted',
    mode: 'default',
  })
  expect(entries.at(-1)).toMatchObject({ kind: 'session.ended', reason: 'ended' })
  const settled = entries.flatMap((one) => (one.kind === 'attention.settled' ? [one] : []))
  expect(settled.map(({ settled: end }) => end)).toMatchObject([
    { end: 'allow', by: 'phone', rules: [{ id: 'rule-1', scope: 'session' }] },
    { end: 'deny', by: 'phone', words: 'no' },
    { end: 'answer', by: 'phone' },
  ])
  expect(settled[0]?.asked?.toolUseId).toBe(made[0])
})

test('[AUD6] [FLT36] a host is killed around a decision, and nothing ran whose permission is not in the log', async () => {
  daemon = await startRosterProcess(dist, home)
  const sessionId = randomUUID()
  const settings = { transcripts: join(dir.path, 'transcripts') }
  const commands = new Map<string, string>()
  for (let kill = 0; kill < KILLS; kill++) {
    const there = (await readdir(settings.transcripts, { recursive: true }).catch(() => [])).some((name) =>
      name.endsWith('.jsonl'),
    )
    const order = { do: 'start', sessionId, workdir, settings, ...(there ? { resume: sessionId } : {}) }
    await until(async () => field(await daemon?.ask(order), 'value') !== undefined)
    const id = `ran-${kill}`
    const command = `echo ${id} >> ran.log`
    commands.set(id, hashOf({ command }))
    const text = `[[tool Bash ${JSON.stringify({ command })}]]`
    await daemon.ask({ do: 'prompt', sessionId, id: randomUUID(), text })
    const attention = await until(
      async () => list(field(await daemon?.ask({ do: 'list' }), 'value'), 'attentions')[0],
    )
    const pid = (await findRunFile(home, sessionId))?.process.pid ?? 0
    const answer = { id: string(attention, 'id'), hash: string(attention, 'hash'), allow: true }
    const answered = daemon.ask({ do: 'answer', sessionId, ...answer })
    await sleep((kill * 17) % 97)
    process.kill(pid, 'SIGKILL')
    await answered
    await until(() => findProcess(pid) === undefined)
    await until(async () => list(field(await daemon?.ask({ do: 'list' }), 'value'), 'sessions').length === 0)
  }
  const { entries, verdict } = await readAudit(home, sessionId)
  expect(verdict).toMatchObject({ kind: 'whole' })
  const allowed = new Set(
    entries.flatMap((one) =>
      one.kind === 'attention.settled' && one.settled.end === 'allow' ? [one.asked?.inputHash] : [],
    ),
  )
  const ran = (await readFile(join(workdir, 'ran.log'), 'utf8').catch(() => '')).split('\n').filter(Boolean)
  expect(ran.filter((id) => !allowed.has(commands.get(id)))).toEqual([])
  expect(ran).toHaveLength(new Set(ran).size)
  const starts = entries.filter(({ kind }) => kind === 'session.started')
  const ends = entries.filter(({ kind }) => kind === 'session.ended')
  expect(starts).toHaveLength(KILLS)
  expect(ends).toHaveLength(KILLS)
  // Else this would show nothing.
  expect(ran.length).toBeGreaterThan(0)
  expect(ran.length).toBeLessThan(KILLS)
}, 1_200_000)
