import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { exportSession, openThroughline, type LocalThroughline, type OpenOptions } from '#app'
import { field, list, parseJson, string } from '#base'
import { textOf, transcriptsOf, type SessionSummary } from '#model'
import {
  createRollout,
  eventually,
  listen,
  openTempDir,
  writeRollout,
  type SourcePlace,
  type TempDir,
} from '#testing'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { SOURCE_PLACES } from './source-places.ts'

const AGENTS = ['Claude Code', 'Codex', 'Gemini CLI', 'opencode'] as const
/** What a thread of Codex held before it was reverted: no session, and a part of one. */
const SEGMENTS = [
  'rollout-2026-11-16T11-58-26-01a1e439-0e1e-7680-a531-1c93fb6f6890.jsonl',
  'rollout-2026-11-16T11-58-27-01a1e439-0e1e-7680-a531-1c93fb6f6890_01a1e439-1058-78f0-871d-82c82709f84a.jsonl',
]
const main = join(import.meta.dirname, '../dist/bin/throughline.js')

let dir: TempDir
let folder: string
let places: readonly SourcePlace[]
let opened: LocalThroughline[]

beforeEach(async () => {
  dir = await openTempDir()
  folder = realpathSync(dir.path)
  opened = []
  const made = AGENTS.map(async (agent) => await SOURCE_PLACES[agent]?.(folder))
  places = (await Promise.all(made)).flatMap((place) => place ?? [])
})
afterEach(async () => {
  for (const throughline of opened) await throughline.close()
  await dir.remove()
})

const env = (): Record<string, string> => ({
  HOME: folder,
  THROUGHLINE_HOME: join(folder, 'home'),
  CLAUDE_CONFIG_DIR: join(folder, 'claude'),
  CODEX_HOME: join(folder, 'codex'),
  GEMINI_CLI_HOME: folder,
  XDG_DATA_HOME: folder,
})

async function open(options: OpenOptions = {}): Promise<LocalThroughline> {
  const throughline = await openThroughline({ env: env(), sweepMs: 600_000, ...options })
  opened.push(throughline)
  if (options.index === true)
    await eventually(async () => {
      await throughline.settled()
      expect((await throughline.health()).index.state).toBe('complete')
    })
  return throughline
}

async function sessionsOf(throughline: LocalThroughline): Promise<readonly SessionSummary[]> {
  return (await throughline.list()).sessions.toSorted((a, b) => (a.id < b.id ? -1 : 1))
}

/** What is said of all sessions, in words that do not depend on who was asked. */
async function tell(throughline: LocalThroughline): Promise<object> {
  const found: Record<string, readonly string[]> = {}
  for (const q of ['agent:claude', 'agent:codex', 'agent:gemini', 'agent:opencode', 'hi', 'tool:*']) {
    const { hits } = await throughline.search({ q, limit: 200 })
    found[q] = hits
      .map(({ session, entry, where }) => `${session.id} ${entry.place.offset} ${where}`)
      .toSorted()
  }
  const reports = [
    await throughline.usage({ by: 'session' }),
    await throughline.usage({ by: 'model' }),
    await throughline.usage({ by: 'day' }),
  ]
  const sessions = (await sessionsOf(throughline)).map(({ counts: _counts, ...session }) => session)
  return {
    sessions,
    found,
    usage: reports.map(({ rows, total, compactions }) => ({ rows, total, compactions })),
  }
}

test('[AGT1] sessions of four agents are listed, found and counted the same with an index, without one, and with a new one', async () => {
  const plain = await tell(await open())
  const indexed = await open({ index: true })
  expect(await tell(indexed)).toEqual(plain)
  const agents = (await sessionsOf(indexed)).map(({ agent }) => agent)
  expect(
    Object.fromEntries(
      [...new Set(agents)].toSorted().map((name) => [name, agents.filter((each) => each === name).length]),
    ),
  ).toEqual({ claude: 7, codex: 15, gemini: 4, opencode: 4 })
  for (const name of ['claude', 'codex', 'gemini', 'opencode']) {
    expect((await indexed.search({ q: `agent:${name}` })).hits.length).toBeGreaterThan(3)
    expect((await indexed.list({ agent: name })).sessions.every(({ agent }) => agent === name)).toBe(true)
  }
  const { rows } = await indexed.usage({ by: 'session' })
  const billed = new Set(
    (await sessionsOf(indexed)).flatMap(({ id, agent }) =>
      rows.some(({ key }) => key === id) ? [agent] : [],
    ),
  )
  expect([...billed].toSorted()).toEqual(['claude', 'codex', 'gemini', 'opencode'])
  // Closed and built from nothing, it says the same.
  await indexed.close()
  opened = opened.filter((each) => each !== indexed)
  for (const name of readdirSync(join(folder, 'home')))
    if (name.startsWith('index.')) rmSync(join(folder, 'home', name))
  expect(await tell(await open({ index: true }))).toEqual(plain)
})

test('[AGT1] every one of them is shown, paged, checked and exported', async () => {
  const throughline = await open()
  for (const session of await sessionsOf(throughline)) {
    const all = []
    for await (const reading of throughline.entries(session)) all.push(reading)
    const { readings, start } = await throughline.page(session, { limit: 3 })
    const before =
      start === '0' ? [] : (await throughline.page(session, { limit: 1000, before: start })).readings
    expect([...before, ...readings].map(nameOf)).toEqual(all.map(nameOf))
    const { facts } = await throughline.survey(session)
    expect(facts?.prompts).toBeGreaterThan(0)
    const { findings } = await throughline.check(session)
    expect(findings.filter(({ severity }) => severity === 'error')).toEqual([])
    expect((await throughline.digest(session)).outline.length).toBeGreaterThan(0)
    for (const format of ['md', 'html', 'jsonl'] as const) {
      let text = ''
      for await (const piece of exportSession(throughline, session, { format }))
        text += typeof piece === 'string' ? piece : Buffer.from(piece).toString()
      if (format === 'jsonl') expect(text.trimEnd().split('\n').length).toBeGreaterThanOrEqual(all.length)
      else
        expect(text).toContain(
          (session.firstPrompt ?? '').slice(0, 12).replaceAll('"', format === 'html' ? '&quot;' : '"'),
        )
    }
  }
})

test('[AGT1] the command line tells of all of them', () => {
  const run = (...args: readonly string[]): string =>
    execFileSync(process.execPath, [main, ...args], {
      cwd: folder,
      env: { PATH: process.env['PATH'], ...env() },
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    })
  const listed = list(parseJson(run('ls', '--json')), 'sessions')
  expect(new Set(listed.map((session) => string(session, 'agent')))).toEqual(
    new Set(['claude', 'codex', 'gemini', 'opencode']),
  )
  const usage = parseJson(run('usage', '--by', 'session', '--json'))
  expect(list(usage, 'rows').length).toBeGreaterThan(10)
  for (const { growing } of places) {
    expect(run('show', growing)).toMatch(/say hi/iu)
    expect(run('search', `session:${growing.slice(0, 12)} hi`)).toMatch(/hi/iu)
    expect(parseJson(run('check', growing, '--json'))).toBeDefined()
  }
})

test('[AGT2] who follows a session hears what is said in it, whoever writes it', async () => {
  const throughline = await open({ index: true })
  for (const { growing, say } of places) {
    const heard = listen(throughline, { kind: 'session', id: growing, last: 1 })
    await heard.until((events) => events.some(({ kind }) => kind === 'caught-up'))
    for (const write of say(`news for ${growing}`)) write()
    await eventually(async () => {
      const words = heard.events.flatMap((event) =>
        event.kind === 'entry.added'
          ? event.readings.flatMap((reading) =>
              reading.kind === 'entry' && reading.entry.kind === 'prompt'
                ? [textOf(reading.entry.blocks)]
                : [],
            )
          : [],
      )
      expect(words.filter((each) => each.includes('news for'))).toEqual([`news for ${growing}`])
    })
    heard.close()
    await eventually(async () => {
      await throughline.settled()
      const { hits } = await throughline.search({ q: `"news for" session:${growing}` })
      expect(hits.length).toBe(1)
    })
  }
})

test('[AGT3] [ARC11] what an agent deletes is listed and read from the archive as it was, forks and subagents too', async () => {
  const throughline = await open({ index: true })
  const before = await sessionsOf(throughline)
  const read = async (session: SessionSummary): Promise<readonly string[]> => {
    const all: string[] = []
    for await (const reading of throughline.entries(session)) all.push(nameOf(reading))
    for (const { id } of session.subagents) {
      const { readings } = await throughline.page(session, { limit: 1000, subagent: id })
      all.push(...readings.map(nameOf))
    }
    return all
  }
  const lines = new Map<string, readonly string[]>()
  for (const session of before) lines.set(session.id, await read(session))
  const all = before.flatMap(transcriptsOf).map((path) => basename(path))
  await eventually(async () => {
    const kept = readdirSync(join(folder, 'home', 'archive'), { recursive: true, encoding: 'utf8' })
    const names = new Set(kept.map((path) => basename(path)))
    expect([...all, ...SEGMENTS].filter((name) => !names.has(name))).toEqual([])
  })
  for (const { agentDir } of places) {
    rmSync(agentDir, { recursive: true })
    mkdirSync(agentDir)
  }
  await eventually(async () => {
    const after = await sessionsOf(throughline)
    expect(after.map(({ id, agent, sourceGone }) => [id, agent, sourceGone])).toEqual(
      before.map(({ id, agent }) => [id, agent, true]),
    )
  })
  for (const session of await sessionsOf(throughline)) {
    expect([session.id, await read(session)]).toEqual([session.id, lines.get(session.id)])
    const original = before.find(({ id }) => id === session.id)
    expect([session.createdAt, session.firstPrompt]).toEqual([original?.createdAt, original?.firstPrompt])
  }
  expect((await throughline.search({ q: 'agent:opencode' })).hits.length).toBeGreaterThan(3)
})

test('[AGT4] what a session of Codex learned and said reaches the wake-up of a session of Claude Code in its folder', async () => {
  const work = join(folder, 'work')
  mkdirSync(work)
  const make = createRollout({ cwd: work })
  const id = '01a1de18-0000-7000-8000-00000000000a'
  const learned = '[REMEMBER] {"content": "The harbour gate needs the blue key."}'
  writeRollout(
    join(folder, 'codex'),
    [
      make.meta({ id, session_id: id }),
      make.prompt('How does the gate open?'),
      make.reply(`With a key. ${learned}`),
    ].join(''),
    { name: id },
  )
  const throughline = await open({ index: true })
  await eventually(async () => {
    await throughline.settled()
    const { text } = await throughline.memory.wakeUp({ workdir: work, agent: 'claude' })
    expect(text).toContain('The harbour gate needs the blue key.')
    expect(text).toContain('How does the gate open?')
  })
})

type Told = { readonly kind: string } & object

function nameOf(reading: Told): string {
  return JSON.stringify([
    reading.kind,
    field(field(reading, 'entry'), 'id'),
    field(field(field(reading, 'entry'), 'place'), 'offset'),
  ])
}
