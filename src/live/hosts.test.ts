import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, readdir, readFile, stat } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { findAgentProcesses, findProcess } from '#drivers'
import { openTempDir, startRosterProcess } from '#testing'
import type { RosterProcess, TempDir } from '#testing'
import type { SessionView } from '#model'
import { createClock } from './clock.ts'
import { openRoster } from './roster.ts'
import type { Owner, Roster } from './roster.ts'
import { findRunFile, runPaths } from './run-file.ts'
import { findSessionJournal, readSessionJournal } from './session-journal.ts'

const dist = join(import.meta.dirname, '..', '..', 'dist')
let dir: TempDir
let home: string
let workdir: string
const open = new Set<Roster | RosterProcess>()

beforeEach(async () => {
  dir = await openTempDir()
  home = join(dir.path, 'home')
  workdir = join(dir.path, 'work')
  await mkdir(workdir)
})
afterEach(async () => {
  const roster = await openRosterHere()
  for (const { sessionId } of roster.list()) await roster.command(sessionId, { do: 'end' }).catch(() => {})
  await until(() => roster.list().length === 0)
  for (const one of open) await one.close()
  open.clear()
  await dir.remove()
})

const owners = new Map<string, Owner>()

async function openRosterHere(): Promise<Roster> {
  const roster = await openRoster({
    home,
    clock: createClock(() => Date.now()),
    program: { command: process.execPath, args: [join(dist, 'live', 'host-main.js')], env: {} },
    findOwner: (sessionId) => Promise.resolve(owners.get(sessionId)),
    lookMs: 100,
  })
  open.add(roster)
  return roster
}

async function openDaemon(): Promise<RosterProcess> {
  const daemon = await startRosterProcess(dist, home)
  open.add(daemon)
  return daemon
}

function orderOf(sessionId: string) {
  return { sessionId, agent: 'scripted', workdir, trusted: false, env: { PATH: process.env['PATH'] ?? '' } }
}

const text = (words: string) => [{ kind: 'text' as const, text: words }]
const run = (command: string): string => `[[tool Bash ${JSON.stringify({ command })}]]`

/** Waits for something that takes as long as it takes; only a hang makes it fail. */
async function until<T>(look: () => T | Promise<T>): Promise<NonNullable<T>> {
  const end = Date.now() + 30_000
  for (;;) {
    const found = await look()
    if (found) return found
    if (Date.now() > end) throw new Error('it never came')
    await sleep(5)
  }
}

async function waiting(roster: Roster): Promise<NonNullable<SessionView['attentions'][number]>> {
  return await until(() => roster.attentions()[0])
}

const fileText = (name: string): Promise<string> => readFile(join(workdir, name), 'utf8').catch(() => '')

async function hostPid(sessionId: string): Promise<number> {
  return (await findRunFile(home, sessionId))?.process.pid ?? 0
}

test('[LVS40] a killed daemon leaves the agent waiting, and the next one answers under the same id', async () => {
  const sessionId = randomUUID()
  const first = await openDaemon()
  await first.ask({ do: 'start', sessionId, workdir })
  await first.ask({ do: 'prompt', sessionId, id: randomUUID(), text: run('echo ran >> ran.log') })
  await first.ask({ do: 'prompt', sessionId, id: randomUUID(), text: '[[say second]]' })
  const asked = await until(() =>
    first.news.find((news) => JSON.stringify(news).includes('attention.opened')),
  )
  const pid = await hostPid(sessionId)
  await first.kill()
  const begun = performance.now()
  const roster = await openRosterHere()
  const attention = await waiting(roster)
  expect(performance.now() - begun).toBeLessThan(2_000)
  expect(JSON.stringify(asked)).toContain(attention.id)
  expect(await hostPid(sessionId)).toBe(pid)
  expect(await fileText('ran.log')).toBe('')
  const answer = { id: attention.id, hash: attention.hash, resolution: { kind: 'allow', rules: [] } as const }
  expect(await roster.resolve(sessionId, { ...answer, by: 'phone' })).toMatchObject({ kind: 'won' })
  await until(() => fileText('ran.log'))
  expect(await roster.resolve(sessionId, { ...answer, by: 'laptop' })).toMatchObject({ kind: 'late' })
  // Between the two turns it is idle for a moment.
  const states = (): readonly string[] => roster.find(sessionId)?.prompts.map(({ state }) => state) ?? []
  await until(() => states().every((state) => state === 'delivered'))
  await until(() => roster.find(sessionId)?.state.state === 'idle')
  expect(states()).toEqual(['delivered', 'delivered'])
})

test('[LVS40] whoever begins to listen while a host is connected to misses nothing: what is told can be found', async () => {
  const sessionId = randomUUID()
  await (await openRosterHere()).start(orderOf(sessionId))
  const found: (number | undefined)[] = []
  const roster = await openRosterHere()
  await roster.command(sessionId, { do: 'end' })
  await until(() => roster.find(sessionId) === undefined)
  roster.listen((id) => found.push(roster.find(id)?.seq))
  await roster.start(orderOf(sessionId))
  await until(() => found.length > 0)
  expect(found).not.toContain(undefined)
})

describe('[LVS41] a session has one host', () => {
  test('the second is refused with who holds it, however many try at once', async () => {
    const sessionId = randomUUID()
    const rosters = await Promise.all([openRosterHere(), openRosterHere(), openRosterHere()])
    const starts = await Promise.allSettled(rosters.map((roster) => roster.start(orderOf(sessionId))))
    const refused = starts.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []))
    expect(refused).toHaveLength(2)
    const pid = await hostPid(sessionId)
    for (const error of refused) expect(error).toMatchObject({ code: 'session-held' })
    await expect(rosters[0].start(orderOf(sessionId))).rejects.toMatchObject({ code: 'session-held' })
    expect(await hostPid(sessionId)).toBe(pid)
    await until(() => rosters.every((roster) => roster.list().length === 1))
  })

  test('what another program holds is refused with its words, and may be forked', async () => {
    const roster = await openRosterHere()
    const theirs = randomUUID()
    owners.set(theirs, { pid: 4711, words: 'Claude Code in a terminal' })
    const refusal = { code: 'session-held', message: expect.stringContaining('terminal (process 4711)') }
    await expect(roster.start({ ...orderOf(theirs), resume: { sessionId: theirs } })).rejects.toMatchObject(
      refusal,
    )
    const fork = { ...orderOf(randomUUID()), resume: { sessionId: theirs, fork: {} } }
    const refused = await roster.start(fork).then(
      () => undefined,
      (error: unknown) => error,
    )
    expect(refused).not.toMatchObject({ code: 'session-held' })
  })

  test('one that has ended can be gone on with at once, under the same id and in its mode', async () => {
    const roster = await openRosterHere()
    const sessionId = randomUUID()
    await roster.start({ ...orderOf(sessionId), mode: 'plan' })
    const id = randomUUID()
    await roster.prompt(sessionId, { id, blocks: text('[[say one]]'), by: 'me' })
    await until(() => roster.find(sessionId)?.turn?.outcome)
    const first = roster.find(sessionId)?.run
    await roster.command(sessionId, { do: 'end' })
    const view = await roster.start({ ...orderOf(sessionId), resume: { sessionId } })
    expect(view).toMatchObject({ sessionId, mode: 'plan' })
    expect(view.run).not.toBe(first)
    expect(await roster.prompt(sessionId, { id, blocks: text('[[say one]]'), by: 'me' })).toEqual({
      id,
      state: 'delivered',
    })
  })
})

test('[LVS42] a host to which nobody comes ends its session cleanly', async () => {
  const sessionId = randomUUID()
  const roster = await openRosterHere()
  await roster.start({ ...orderOf(sessionId), orphanMs: 300 })
  await roster.prompt(sessionId, { id: randomUUID(), blocks: text(run('echo no >> ran.log')), by: 'me' })
  await waiting(roster)
  await sleep(500)
  expect(roster.find(sessionId)?.state.state).toBe('waiting')
  const host = findProcess(await hostPid(sessionId))
  await roster.close()
  open.delete(roster)
  await until(() => host && findProcess(host.pid)?.start !== host.start)
  const journal = await readSessionJournal((await findSessionJournal(home, sessionId)) ?? '')
  expect(journal).toMatchObject({ open: [], ended: { reason: 'orphaned' } })
  expect([...journal.settled.values()]).toMatchObject([{ state: 'lapsed', reason: 'session-ended' }])
  expect(await readdir(join(home, 'run'))).toEqual([])
  expect(await fileText('ran.log')).toBe('')
})

describe('[LVS43] a host that was killed', () => {
  test('leaves no tool and nothing open, and everybody is told within two seconds', async () => {
    const sessionId = randomUUID()
    const roster = await openRosterHere()
    const ended: unknown[] = []
    roster.listen((_session, news) => {
      if ('event' in news) ended.push(news.event)
    })
    await roster.start(orderOf(sessionId))
    const prompt = run('echo one >> ran.log; sleep 300')
    await roster.prompt(sessionId, { id: randomUUID(), blocks: text(prompt), by: 'me' })
    const { id, hash } = await waiting(roster)
    await roster.resolve(sessionId, { id, hash, resolution: { kind: 'allow', rules: [] }, by: 'me' })
    await until(() => fileText('ran.log'))
    expect(findAgentProcesses(sessionId)).not.toEqual([])
    process.kill(await hostPid(sessionId), 'SIGKILL')
    const killed = performance.now()
    await until(() => roster.list().length === 0)
    expect(performance.now() - killed).toBeLessThan(2_000)
    expect(ended.at(-1)).toMatchObject({
      kind: 'state.changed',
      state: { state: 'ended', reason: 'host-gone' },
    })
    expect(findAgentProcesses(sessionId)).toEqual([])
    await expect(roster.command(sessionId, { do: 'end' })).rejects.toMatchObject({ code: 'session-ended' })
  })

  test('while no daemon was there is cleaned up by the next one', async () => {
    const sessionId = randomUUID()
    const first = await openDaemon()
    await first.ask({ do: 'start', sessionId, workdir })
    await first.ask({ do: 'prompt', sessionId, id: randomUUID(), text: run('echo no >> ran.log') })
    await until(() => first.news.find((news) => JSON.stringify(news).includes('attention.opened')))
    const pid = await hostPid(sessionId)
    await first.kill()
    process.kill(pid, 'SIGKILL')
    await until(() => findProcess(pid) === undefined)
    const roster = await openRosterHere()
    expect(roster.list()).toEqual([])
    const journal = await readSessionJournal((await findSessionJournal(home, sessionId)) ?? '')
    expect(journal).toMatchObject({ open: [], ended: { reason: 'host-gone' }, isCut: true })
    expect([...journal.settled.values()]).toMatchObject([{ state: 'lapsed', reason: 'agent-gone' }])
    expect(await readdir(join(home, 'run'))).toEqual([])
  })
})

test('[LVS45] the socket is for its owner, and what is no command does no harm', async () => {
  const sessionId = randomUUID()
  const roster = await openRosterHere()
  await roster.start(orderOf(sessionId))
  const { socket: path } = runPaths(home, sessionId)
  expect((await stat(path)).mode & 0o777).toBe(0o600)
  expect((await stat(join(home, 'run'))).mode & 0o777).toBe(0o700)
  const garbage = [
    'no json\n',
    '\0'.repeat(100_000),
    '{"id":1}\n[]\n1\nnull\n',
    '{"id":1,"do":"mode","mode":"bypass"}\n{"id":2,"do":"prompt","prompt":{"id":"x","blocks":[{"kind":"tool-use"}]}}\n',
    '{"id":{"toString":1},"do":"__proto__"}\n',
    `{"id":1,"do":"resolve","answer":{"id":"x","hash":"y","resolution":{"kind":"allow"}}}\n`,
  ]
  for (const bytes of garbage) {
    const socket = connect(path)
    socket.on('error', () => {})
    await once(socket, 'connect')
    socket.end(bytes)
    socket.resume()
    await once(socket, 'close')
  }
  expect(roster.find(sessionId)).toMatchObject({ mode: 'default', prompts: [] })
  const receipt = await roster.prompt(sessionId, { id: randomUUID(), blocks: text('[[say hi]]'), by: 'me' })
  expect(receipt).toMatchObject({ state: 'queued' })
})

test('[LVS46] a host that is stopped holds up neither a daemon nor another session', async () => {
  const [stopped, lively] = [randomUUID(), randomUUID()]
  const first = await openRosterHere()
  await first.start(orderOf(stopped))
  const pid = await hostPid(stopped)
  process.kill(pid, 'SIGSTOP')
  try {
    const begun = performance.now()
    const second = await openRosterHere()
    await second.start(orderOf(lively))
    expect(performance.now() - begun).toBeLessThan(5_000)
    expect(second.list().map(({ sessionId }) => sessionId)).toEqual([lively])
    process.kill(pid, 'SIGCONT')
    await until(() => second.list().length === 2)
  } finally {
    process.kill(pid, 'SIGCONT')
  }
})
