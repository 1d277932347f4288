import { randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { field, list, object, parseJson, string } from '#base'
import { findAgentProcesses, findProcess, isRunning } from '#drivers'
import type { ProcessId } from '#drivers'
import { openTempDir, refusalOf, runs, startRosterProcess } from '#testing'
import type { RosterProcess } from '#testing'
import { readAudit } from './audit-reader.ts'
import { hashOf } from './canonical-json.ts'
import { findRunFile } from './run-file.ts'
import { findSessionJournal, readSessionJournal } from './session-journal.ts'

const dist = join(import.meta.dirname, '..', '..', 'dist')
const RUNS = process.env['RUNS'] === 'full' ? 300 : 6
const HANG = 1_800_000
/** For one thing that has to happen, however busy the machine is. */
const HANG_MS = 90_000

type Step =
  | { readonly do: 'prompt'; readonly what: 'say' | 'tool' | 'slow' | 'die'; readonly twice: boolean }
  | { readonly do: 'answer'; readonly allow: boolean; readonly twice: boolean }
  | { readonly do: 'kill'; readonly who: 'daemon' | 'host' | 'both'; readonly midwayMs: number | null }
  | { readonly do: 'again' | 'end' | 'interrupt' }
  | { readonly do: 'wait'; readonly ms: number }

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constant('prompt' as const), what: what(), twice: fc.boolean() }),
  },
  {
    weight: 5,
    arbitrary: fc.record({ do: fc.constant('answer' as const), allow: fc.boolean(), twice: fc.boolean() }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('kill' as const),
      who: fc.constantFrom('daemon' as const, 'host' as const, 'both' as const),
      midwayMs: fc.option(fc.integer({ min: 0, max: 12 })),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constantFrom('again' as const, 'again' as const, 'end' as const, 'interrupt' as const),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 60 }) }),
  },
)

function what(): fc.Arbitrary<'say' | 'tool' | 'slow' | 'die'> {
  return fc.oneof(
    { weight: 6, arbitrary: fc.constant('tool' as const) },
    { weight: 3, arbitrary: fc.constantFrom('say' as const, 'slow' as const) },
    { weight: 1, arbitrary: fc.constant('die' as const) },
  )
}

test(
  '[LVS44] [AUD6] host and daemon are killed at any moment, and nothing is lost, doubled, run or left behind',
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 16 }), async (steps) => {
        const world = await openWorld()
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

/** A home with one session, a daemon, and everything that was said so far. */
async function openWorld() {
  const dir = await openTempDir()
  const home = join(dir.path, 'home')
  const workdir = join(dir.path, 'work')
  await mkdir(workdir)
  const sessionId = randomUUID()
  const transcripts = join(dir.path, 'transcripts')
  const acknowledged = new Set<string>()
  const sent = new Map<string, string>()
  /** Commands that somebody has allowed, or tried to. */
  const allowed = new Set<string>()
  const processes: ProcessId[] = []
  let daemon: RosterProcess = await startRosterProcess(dist, home)
  await start()

  /** Begins the session, or goes on with it. Somebody may have been faster. */
  async function start(): Promise<void> {
    const there = (await readdir(transcripts, { recursive: true }).catch(() => [])).some((name) =>
      name.endsWith('.jsonl'),
    )
    const order = { do: 'start', sessionId, workdir, settings: { transcripts } }
    await daemon.ask(there ? { ...order, resume: sessionId } : order)
    await note()
  }

  async function note(): Promise<number | undefined> {
    const host = (await findRunFile(home, sessionId))?.process
    if (host) processes.push(host)
    return host?.pid
  }

  async function prompt({ what: kind, twice }: Extract<Step, { readonly do: 'prompt' }>): Promise<void> {
    const id = randomUUID()
    const tool = `[[tool Bash ${JSON.stringify({ command: `echo ${id} >> ran.log; sleep 0.2` })}]]`
    const words = {
      say: 'hello',
      tool,
      slow: '[[slow 5]] [[say one two three four five six]]',
      die: '[[die]]',
    }
    sent.set(id, words[kind])
    await Promise.all([send(id), twice ? send(id) : undefined])
  }

  /** As a device does that has heard nothing: under the same id, and in a session that is live. */
  async function send(id: string): Promise<void> {
    const order = { do: 'prompt', sessionId, id, text: sent.get(id) }
    const first = await daemon.ask(order)
    if (refusalOf(first) === 'session-ended') await start()
    const answers = [first, refusalOf(first) === undefined ? undefined : await daemon.ask(order)]
    if (answers.some((one) => object(one, 'value') !== undefined)) acknowledged.add(id)
  }

  async function answer({ allow, twice }: Extract<Step, { readonly do: 'answer' }>): Promise<void> {
    let attention: unknown
    for (let tries = 0; tries < 20 && attention === undefined; tries++) {
      if (tries > 0) await sleep(5)
      ;[attention] = list(field(await daemon.ask({ do: 'list' }), 'value'), 'attentions')
    }
    if (attention === undefined) return
    const command = string(field(field(attention, 'ask'), 'input'), 'command') ?? ''
    const order = { do: 'answer', sessionId, id: string(attention, 'id'), hash: string(attention, 'hash') }
    if (allow) allowed.add(command)
    const both = await Promise.all([
      daemon.ask({ ...order, allow }),
      twice ? daemon.ask({ ...order, allow, by: 'other' }) : undefined,
    ])
    const won = both.filter((one) => string(field(one, 'value'), 'kind') === 'won')
    expect(won.length).toBeLessThanOrEqual(1)
  }

  async function kill({ who, midwayMs }: Extract<Step, { readonly do: 'kill' }>): Promise<void> {
    // In the middle of something, as far as that can be arranged from outside.
    const busy = midwayMs === null ? undefined : prompt({ do: 'prompt', what: 'tool', twice: false })
    if (midwayMs !== null) await sleep(midwayMs)
    const pid = await note()
    if (who !== 'daemon' && pid !== undefined && findProcess(pid)) process.kill(pid, 'SIGKILL')
    if (who !== 'host') {
      await daemon.kill()
      await busy
      daemon = await startRosterProcess(dist, home)
      return
    }
    await busy
  }

  async function act(one: Step): Promise<void> {
    switch (one.do) {
      case 'prompt':
        return await prompt(one)
      case 'answer':
        return await answer(one)
      case 'kill':
        return await kill(one)
      case 'again':
        for (const id of sent.keys()) await send(id)
        return
      case 'end':
      case 'interrupt':
        return void (await daemon.ask({ do: one.do, sessionId }))
      case 'wait':
        await sleep(one.ms)
    }
  }

  async function check(): Promise<void> {
    // Whoever was there last is found, ended, and cleaned up after: also a host whose daemon died while it started.
    for (const end = performance.now() + HANG_MS; performance.now() < end;) {
      const over = await daemon.ask({ do: 'end', sessionId })
      expect([undefined, 'session-ended', 'host-unreachable']).toContain(refusalOf(over))
      if ((await readdir(join(home, 'run'))).length === 0) break
      await sleep(50)
    }
    expect(await readdir(join(home, 'run'))).toEqual([])
    await daemon.close()

    const path = await findSessionJournal(home, sessionId)
    const journal = await readSessionJournal(path ?? '')
    const states = new Map(journal.prompts.map(({ id, state }) => [id, state]))
    // Beside prompts it writes down that it was interrupted.
    const told = (await promptsIn(transcripts)).filter((id) => sent.has(id))
    const ran = (await readFile(join(workdir, 'ran.log'), 'utf8').catch(() => '')).split('\n').filter(Boolean)

    expect([...acknowledged].filter((id) => !states.has(id))).toEqual([])
    expect([...states.keys()].filter((id) => !sent.has(id))).toEqual([])
    expect(told).toHaveLength(new Set(told).size)
    expect(told.filter((id) => states.get(id) === 'undelivered' || !states.has(id))).toEqual([])
    expect([...states].filter(([id, state]) => state === 'delivered' && !told.includes(id))).toEqual([])
    expect(ran).toHaveLength(new Set(ran).size)
    expect(ran.filter((id) => ![...allowed].some((command) => command.includes(id)))).toEqual([])

    const lines = (await readFile(path ?? '', 'utf8')).split('\n').flatMap((line) => parseJson(line) ?? [])
    const settled = lines
      .filter((line) => string(line, 'kind') === 'attention.settled')
      .map((line) => string(line, 'id'))
    expect(settled).toHaveLength(new Set(settled).size)
    expect(journal).toMatchObject({ open: [], ended: expect.anything() as unknown })
    const audit = await readAudit(home, sessionId)
    expect(audit.verdict).toMatchObject({ kind: 'whole' })
    const audited = audit.entries.flatMap((one) =>
      one.kind === 'attention.settled' && one.settled.end === 'allow' ? [one.asked?.inputHash] : [],
    )
    // What ran was allowed on disk.
    for (const id of ran) {
      const command = `echo ${id} >> ran.log; sleep 0.2`
      expect(audited).toContain(hashOf({ command }))
      const opened = lines.find((line) => JSON.stringify(object(line, 'attention') ?? {}).includes(id))
      const state = journal.settled.get(string(field(opened, 'attention'), 'id') ?? '')
      expect(state).toMatchObject({ state: 'resolved', resolution: { kind: 'allow' } })
    }

    expect(findAgentProcesses(sessionId)).toEqual([])
    const deadline = performance.now() + HANG_MS
    while (performance.now() < deadline && processes.some(isRunning)) await sleep(5)
    expect(processes.filter(isRunning)).toEqual([])
  }

  return {
    act,
    check,
    async close() {
      await daemon.ask({ do: 'end', sessionId })
      await daemon.close()
      await dir.remove()
    },
  }
}

/** The prompts that the agent has taken up, as it wrote them down itself. */
async function promptsIn(transcripts: string): Promise<readonly string[]> {
  const names = await readdir(transcripts, { recursive: true }).catch(() => [])
  const files = names.filter((name) => name.endsWith('.jsonl'))
  const texts = await Promise.all(files.map((name) => readFile(join(transcripts, name), 'utf8')))
  return texts
    .flatMap((text) => text.split('\n').flatMap((line) => parseJson(line) ?? []))
    .filter((line) => string(line, 'type') === 'user' && !isResult(line))
    .flatMap((line) => string(line, 'uuid') ?? [])
}

function isResult(line: unknown): boolean {
  const content = field(object(line, 'message'), 'content')
  return Array.isArray(content) && content.some((block) => string(block, 'type') !== 'text')
}
