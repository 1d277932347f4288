import { appendFileSync, mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  createLines,
  createRollout,
  openTempDir,
  SESSION,
  toJsonl,
  writeRollout,
  writeTranscript,
} from '#testing'
import { expectError, listen, ROLLOUT, type TempDir } from '#testing'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openThroughline, type OpenOptions } from './open-throughline.ts'
import type { LocalThroughline } from './throughline.ts'

let dir: TempDir
let root: string
let work: string
let path: string
let opened: LocalThroughline[]

beforeEach(async () => {
  dir = await openTempDir()
  root = realpathSync(dir.path)
  work = join(root, 'work')
  mkdirSync(work)
  opened = []
  const make = createLines({ cwd: work })
  const call = { type: 'tool_use', id: 'toolu_1', name: 'Bash', input: { command: 'ls' } }
  path = await writeTranscript(
    join(root, 'claude'),
    toJsonl([
      make.prompt('where is the heliotrope'),
      make.reply([call]),
      make.result('toolu_1', 'garden'),
      make.reply([{ type: 'text', text: 'In the garden.' }]),
    ]),
  )
})
afterEach(async () => {
  for (const throughline of opened) await throughline.close()
  await dir.remove()
})

async function open(options: OpenOptions = {}): Promise<LocalThroughline> {
  const throughline = await openThroughline({
    env: {
      THROUGHLINE_HOME: join(root, 'home'),
      CLAUDE_CONFIG_DIR: join(root, 'claude'),
      CODEX_HOME: join(root, 'codex'),
      GEMINI_CLI_HOME: root,
      XDG_DATA_HOME: root,
      THROUGHLINE_ARCHIVE: 'off',
    },
    sweepMs: 600_000,
    ...options,
  })
  opened.push(throughline)
  return throughline
}

/** What is listed, found and counted, once all that is on disk is known. */
async function look(
  throughline: LocalThroughline,
): Promise<{ listed: readonly string[]; found: readonly string[]; messages: number }> {
  await throughline.settled()
  const { sessions } = await throughline.list()
  const { hits } = await throughline.search({ q: 'heliotrope' })
  const { total } = await throughline.usage({ by: 'session' })
  const listed = sessions.map(({ id }) => id).toSorted()
  return { listed, found: hits.map(({ session }) => session.id), messages: total.messages }
}

/** What Codex adds when somebody goes on, a day later. */
function goOn(rollout: string, words: string): void {
  const at = (line: string): string =>
    line.replace(/"timestamp":"[^"]*"/u, '"timestamp":"2026-11-16T08:00:00.000Z"')
  const make = createRollout({ cwd: work, ordinal: 100 })
  const usage = { input_tokens: 10, output_tokens: 5 }
  const lines = [make.prompt(words), make.reply('Gladly.'), make.bill('resp_1', usage)]
  appendFileSync(rollout, lines.map(at).join(''))
}

const ALONE = { listed: [SESSION], found: [SESSION], messages: 2 }

/** The same, whether every call looks at the files or something knows them all. */
const WAYS = [
  ['a look at the files', {}],
  ['an index', { index: true }],
] as const

describe.each(WAYS)('with %s', (way, how) => {
  test('[CPY1] a copy in which nothing was said is reached by its id, and is neither listed nor found nor counted', async () => {
    const throughline = await open(how)
    expect(await look(throughline)).toEqual(ALONE)
    const news = way === 'an index' ? listen(throughline, { kind: 'sessions' }) : undefined
    for (const to of ['codex', 'gemini', 'claude'] as const) {
      const { sessionId } = await throughline.restoring.convert(SESSION, { to })
      expect(await look(throughline)).toEqual(ALONE)
      const copy = await throughline.get(sessionId.slice(0, 13))
      expect(copy).toMatchObject({
        id: sessionId,
        agent: to,
        copiedFrom: { id: SESSION, kind: 'converted', here: true },
      })
      expect((await throughline.page(copy, { limit: 20 })).readings.length).toBeGreaterThan(3)
    }
    const told = news?.events.flatMap((event) => (event.kind === 'session.changed' ? [event.session.id] : []))
    expect(new Set(told)).toEqual(new Set(news === undefined ? undefined : [SESSION]))
    news?.close()
    // A name is that of the original.
    const { name = '' } = await throughline.get(SESSION)
    expect(name).toContain('heliotrope')
    expect((await throughline.get(name)).id).toBe(SESSION)
  })

  test('[CPY2] [CPY3] a copy that has gone on is a session of its own, and what it copied is found and paid for once', async () => {
    const throughline = await open(how)
    const { sessionId } = await throughline.restoring.convert(SESSION, { to: 'codex' })
    goOn((await throughline.get(sessionId)).path, 'and the peony')
    const both = { listed: [SESSION, sessionId].toSorted(), found: [SESSION], messages: 3 }
    await expect.poll(() => look(throughline)).toEqual(both)
    const { sessions } = await throughline.list()
    expect(sessions.find(({ id }) => id === sessionId)?.copiedFrom).toMatchObject({
      agent: 'claude',
      id: SESSION,
    })
    expect((await throughline.search({ q: 'peony' })).hits.map(({ session }) => session.id)).toEqual([
      sessionId,
    ])
    // Another process sees the same.
    expect(await look(await open())).toEqual(both)
    // Without the original, all that is left of it is the copy.
    rmSync(path)
    await expect
      .poll(() => look(throughline))
      .toEqual({ listed: [sessionId], found: [sessionId], messages: 1 })
  })

  test('[CPY1] a copy is listed when what it was made of is gone', async () => {
    const throughline = await open(how)
    const { sessionId } = await throughline.restoring.convert(SESSION, { to: 'gemini' })
    const again = await throughline.restoring.convert(sessionId, { to: 'codex' })
    expect(await look(throughline)).toEqual(ALONE)
    rmSync(path)
    await expect
      .poll(() => look(throughline))
      .toEqual({ listed: [sessionId], found: [sessionId], messages: 0 })
    expect((await throughline.get(again.sessionId)).agent).toBe('codex')
  })

  test('[CPY3] what was mended is paid for where it was said, whatever the ids are', async () => {
    const make = createLines({ cwd: work })
    const pending = { type: 'tool_use', id: 'toolu_9', name: 'Bash', input: {} }
    writeFileSync(path, toJsonl([make.prompt('where is the heliotrope'), make.reply([pending])]))
    const throughline = await open(how)
    const { sessionId = '' } = await throughline.restoring.repair(SESSION)
    const both = { listed: [SESSION, sessionId].toSorted(), found: [SESSION], messages: 1 }
    expect(await look(throughline)).toEqual(both)
    expect((await throughline.get(sessionId)).name).toBe('Repaired copy of where is the heliotrope')
    const copy = await throughline.get(sessionId)
    const later = createLines({ cwd: work, sessionId }).prompt('go on', {
      timestamp: '2026-11-17T08:00:00.000Z',
    })
    appendFileSync(copy.path, toJsonl([later]))
    await expect.poll(() => look(throughline)).toEqual(both)
    const { rows } = await throughline.usage({ by: 'session' })
    expect(rows.map(({ key }) => key)).toEqual([SESSION])
    const { usage } = await throughline.list({ full: true })
    expect(usage).toEqual(rows[0]?.usage)
  })

  test('[CPY5] a fork is listed at once, named after its origin, with what was said up to there and nothing paid twice', async () => {
    const throughline = await open(how)
    const origin = await throughline.get(SESSION)
    const said = await throughline.conversation(origin)
    const at = said.findIndex(({ kind }) => kind === 'reply')
    const before = readFileSync(path, 'utf8')
    const { sessionId } = await throughline.restoring.copy(SESSION, { at: said[at]?.id })
    expect(readFileSync(path, 'utf8')).toBe(before)
    expect(await look(throughline)).toEqual({
      listed: [SESSION, sessionId].toSorted(),
      found: [SESSION],
      messages: 2,
    })
    const fork = await throughline.get(sessionId)
    expect(fork).toMatchObject({
      name: 'Fork of where is the heliotrope',
      copiedFrom: {
        id: SESSION,
        kind: 'forked',
        here: true,
        name: 'where is the heliotrope',
        until: said[at]?.at,
      },
    })
    expect((await throughline.conversation(fork)).map(({ id }) => id)).toEqual(
      said.slice(0, at + 1).map(({ id }) => id),
    )
    // A fork of the fork is named after what both were made of, and a person's name wins.
    const again = await throughline.restoring.copy(sessionId)
    expect((await throughline.get(again.sessionId)).name).toBe('Fork of where is the heliotrope')
    expect((await throughline.rename(fork, 'The other way')).name).toBe('The other way')
    await expectError(throughline.restoring.copy(SESSION, { at: 'no-such-entry' }), 'entry-not-found')
    await expectError(
      throughline.restoring.copy(SESSION, { workdir: join(root, 'gone') }),
      'folder-not-found',
    )
    expect((await throughline.list()).sessions).toHaveLength(3)
  })

  test.each(['codex', 'gemini'] as const)(
    '[CPY5] a session of %s is forked in its own format',
    async (to) => {
      const throughline = await open(how)
      const made = await throughline.restoring.convert(SESSION, { to })
      const origin = await throughline.get(made.sessionId)
      const [first] = (await throughline.conversation(origin)).filter(({ kind }) => kind === 'reply')
      const { sessionId } = await throughline.restoring.copy(origin.id, { at: first?.id })
      const fork = await throughline.get(sessionId)
      expect(fork).toMatchObject({ agent: to, copiedFrom: { id: origin.id, kind: 'forked' } })
      const kinds = (await throughline.conversation(fork)).map(({ kind }) => kind)
      expect(kinds.filter((kind) => kind === 'prompt' || kind === 'reply')).toEqual(['prompt', 'reply'])
    },
  )

  test('[CPY1] a copy is listed while somebody has it open', async () => {
    const registry = join(root, 'claude', 'sessions')
    mkdirSync(registry)
    const throughline = await open(how)
    const { sessionId } = await throughline.restoring.convert(SESSION, { to: 'claude' })
    expect(await look(throughline)).toEqual(ALONE)
    const procStart = readFileSync('/proc/self/stat', 'utf8').split(' ')[21]
    const holder = { pid: process.pid, sessionId, procStart, status: 'idle' }
    writeFileSync(join(registry, `${process.pid}.json`), JSON.stringify(holder))
    const both = { ...ALONE, listed: [SESSION, sessionId].toSorted() }
    await expect.poll(() => look(throughline)).toEqual(both)
    rmSync(join(registry, `${process.pid}.json`))
    await expect.poll(() => look(throughline)).toEqual(ALONE)
  })

  test('[CPY1] [CPY2] what was brought from another machine is listed, for what it was made of is not here', async () => {
    const there = await open()
    const bundle = join(root, 'bundle')
    for await (const piece of there.pack(await there.get(SESSION))) appendFileSync(bundle, piece)
    rmSync(path)
    const throughline = await open(how)
    const { sessionId } = await throughline.takeIn(bundle, { workdir: work })
    await throughline.settled()
    const { sessions } = await throughline.list()
    expect(sessions).toMatchObject([{ id: sessionId, copiedFrom: { id: SESSION, kind: 'handed-over' } }])
    expect(sessions[0]?.copiedFrom?.here).toBeUndefined()
    expect((await look(throughline)).found).toEqual([sessionId])
  })

  test('[CPY4] what Codex took over from Claude Code is a copy, until it has gone on', async () => {
    const make = createRollout({ cwd: work })
    const rollout = writeRollout(join(root, 'codex'), make.meta() + make.prompt('where is the heliotrope'))
    const imported_at = Date.parse('2026-11-15T00:00:01Z') / 1000
    const records = [{ source_path: path, imported_thread_id: ROLLOUT, imported_at }]
    writeFileSync(join(root, 'codex/external_agent_session_imports.json'), JSON.stringify({ records }))
    const throughline = await open(how)
    expect(await look(throughline)).toEqual(ALONE)
    expect((await throughline.get(ROLLOUT)).copiedFrom).toMatchObject({ kind: 'imported', here: true })
    goOn(rollout, 'and the peony')
    await expect
      .poll(() => look(throughline))
      .toEqual({ listed: [ROLLOUT, SESSION].toSorted(), found: [SESSION], messages: 3 })
  })
})

test('[CPY1] a copy that another process makes goes from the list as soon as that is known', async () => {
  const throughline = await open({ index: true })
  const other = await open()
  await other.restoring.convert(SESSION, { to: 'codex' })
  await expect.poll(() => look(throughline)).toEqual(ALONE)
})

test('[CPY3] what was asked to be remembered is not remembered again from a copy', async () => {
  const make = createLines({ cwd: work })
  const text = 'Noted. [REMEMBER] {"content": "The heliotrope is in the garden."}'
  writeFileSync(path, toJsonl([make.prompt('where is the heliotrope'), make.reply([{ type: 'text', text }])]))
  const throughline = await open({ index: true })
  const documents = async (): Promise<number> => {
    await throughline.settled()
    return (await throughline.memory.export()).split('\n').filter((line) => line.includes('garden')).length
  }
  await expect.poll(documents).toBe(1)
  const { sessionId } = await throughline.restoring.convert(SESSION, { to: 'codex' })
  goOn((await throughline.get(sessionId)).path, 'and the peony')
  await expect.poll(async () => (await look(throughline)).listed.length).toBe(2)
  expect(await documents()).toBe(1)
})
