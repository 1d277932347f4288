import { randomUUID } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { findSessionJournal, readSessionJournal } from '#live'
import { textOf, type Attention, type Resolution, type SessionView, type TeamShare } from '#model'
import { openDesk, openTeamBook, toPostgresAddress, type PostgresAddress } from '#store'
import {
  expectError,
  openPostgresServer,
  openTeamPlace,
  openTcpProxy,
  openTempDir,
  type PostgresServer,
  type TcpProxy,
  type TeamPlace,
  type TempDir,
} from '#testing'
import type { BoardCard } from '#wire'
import { createAuthorLog } from './author-log.ts'
import { createLineageLog } from './lineage-log.ts'
import { maskSecrets } from './mask-secrets.ts'
import { openLive, type Live } from './open-live.ts'

const HANG_MS = 60_000
const NAMES = ['laptop', 'tower', 'bench', 'view'] as const
type Name = (typeof NAMES)[number]
const ALLOW: Resolution = { kind: 'allow', rules: [] }

let server: PostgresServer
let place: TeamPlace
let addresses: Record<Name, PostgresAddress>
let temp: TempDir
let opened: Live[]

beforeAll(async () => {
  server = await openPostgresServer()
  place = await openTeamPlace(server, { admin: { person: 'ada', machine: 'laptop' } })
  addresses = {
    laptop: place.admin,
    tower: await place.addMachine({ person: 'ada', machine: 'tower' }),
    bench: await place.addMachine({ person: 'bob', machine: 'bench' }),
    view: await place.addMachine({ person: 'vic', machine: 'view', role: 'viewer' }),
  }
})
afterAll(async () => await server?.close())
beforeEach(async () => {
  temp = await openTempDir()
  opened = []
})
afterEach(async () => {
  for (const live of opened) {
    for (const { sessionId } of live.views()) await live.calls.end(sessionId).catch(() => {})
    await live.close()
  }
  await place.say('DELETE FROM share; DELETE FROM live_session; DELETE FROM lease; DELETE FROM desk_call')
  await temp.remove()
})

interface Machine {
  readonly live: Live
  readonly home: string
  readonly workdir: string
}

interface Opening {
  readonly liveMs?: number
  /** A port that leads to the database. */
  readonly through?: number
  /** Reads the database once, and no notification reaches it afterwards. */
  readonly deaf?: boolean
}

async function open(name: Name, { through, deaf = false, ...how }: Opening = {}): Promise<Machine> {
  const url = new URL(addresses[name].reveal())
  if (through !== undefined) url.port = String(through)
  const root = join(temp.path, name)
  const [home, workdir] = [join(root, 'home'), join(root, 'work')]
  for (const folder of [home, workdir]) mkdirSync(folder, { recursive: true, mode: 0o700 })
  const listening = await openDesk({ address: toPostgresAddress(url.href), now: () => Date.now(), ...how })
  const desk = deaf ? { ...listening, listen: () => ({ close: async () => {} }) } : listening
  const authors = createAuthorLog(home)
  const live = await openLive({
    config: {
      home,
      claudeDir: join(root, 'claude'),
      codexDir: join(root, 'codex'),
      geminiDir: join(root, 'gemini'),
      opencodeDir: join(root, 'opencode'),
      allowedRoots: [],
      archive: false,
    },
    env: { PATH: process.env['PATH'], HOME: root },
    now: () => Date.now(),
    registry: undefined,
    get: (id) => Promise.reject(new Error(`nobody knows ${id}`)),
    sessions: () => Promise.resolve([]),
    look: async () => {},
    onChange: () => {},
    lastWrite: () => undefined,
    team: {
      desk,
      authors,
      mask: maskSecrets,
      lineage: createLineageLog(home),
      ships: (folder) => !folder.includes('private'),
      keepMs: 500,
      onChange: () => {},
    },
  })
  opened.push(live)
  return { live, home, workdir }
}

function say(text: string): { id: string; blocks: [{ kind: 'text'; text: string }] } {
  return { id: randomUUID(), blocks: [{ kind: 'text', text }] }
}

async function start({ live, workdir }: Machine, text: string): Promise<string> {
  const sessionId = randomUUID()
  await live.calls.start({ agent: 'scripted', workdir, sessionId, prompt: say(text) })
  return sessionId
}

async function share(how: TeamShare): Promise<void> {
  const book = await openTeamBook({ address: addresses.laptop, most: 1 })
  await book.share(how)
  await book.close()
}

async function cardOf({ live }: Machine, id: string): Promise<BoardCard> {
  return await eventually(async () => (await live.calls.board()).find(({ sessionId }) => sessionId === id))
}

/** Once the machine has read that the session waits: a card is written before its agent asks, and again afterwards. */
async function waitingCardOf({ live }: Machine, id: string): Promise<BoardCard> {
  return await eventually(async () =>
    (await live.calls.board()).find(({ sessionId, attentions }) => sessionId === id && attentions.length > 0),
  )
}

async function attentionOf({ live }: Machine, id: string): Promise<Attention> {
  return await eventually(async () =>
    (await live.calls.attentions()).find(({ sessionId }) => sessionId === id),
  )
}

async function eventually<T>(find: () => Promise<T | undefined>): Promise<T> {
  const found = await expect.poll(find, { timeout: HANG_MS, interval: 20 }).toBeDefined().then(find)
  if (found === undefined) throw new Error('it was there a moment ago')
  return found
}

const run = (command: string): string => `[[tool Bash ${JSON.stringify({ command })}]]`

describe('a session on another machine', () => {
  test('[TEA84] asks on one, is answered on another, and says there who it was', async () => {
    const [laptop, tower] = [await open('laptop'), await open('tower')]
    const id = await start(laptop, run('echo yes > answered'))
    const attention = await attentionOf(tower, id)
    expect(await cardOf(tower, id)).toMatchObject({
      state: { state: 'waiting' },
      origin: { machine: 'laptop', person: 'ada', mine: true },
      may: 'answer',
    })
    const outcome = await tower.live.calls.resolve({ ...attention, resolution: ALLOW })
    expect(outcome).toMatchObject({ kind: 'won', state: { by: 'ada on tower' } })
    const settled = await eventually(async () =>
      (await laptop.live.calls.audit(id)).entries.find(({ kind }) => kind === 'attention.settled'),
    )
    expect(settled).toMatchObject({ settled: { end: 'allow', by: 'ada on tower' } })
    await expect.poll(() => tower.live.calls.attentions(), { timeout: HANG_MS }).toEqual([])
    // The first answer counts, on whichever machine the second is given.
    const late = { ...attention, resolution: { kind: 'deny' } as const }
    expect(await tower.live.calls.resolve(late)).toMatchObject({
      kind: 'late',
      state: { by: 'ada on tower' },
    })
    expect(await laptop.live.calls.resolve(late)).toMatchObject({ kind: 'late' })
  })

  test('[TEA84] is talked to, stopped, changed and ended from there; it is not begun a second time', async () => {
    const [laptop, tower] = [await open('laptop'), await open('tower')]
    const id = await start(laptop, 'Hello.')
    await cardOf(tower, id)
    const { calls } = tower.live
    const prompt = say('[[say Words from afar.]]')
    expect(await calls.prompt(id, prompt)).toMatchObject({ id: prompt.id })
    await expect
      .poll(async () => saidIn(await calls.view(id)), { timeout: HANG_MS })
      .toContain('Words from afar.')
    const { prompts } = await laptop.live.calls.view(id)
    expect(prompts.find((each) => each.id === prompt.id)?.by).toBe('ada on tower')
    await calls.setMode(id, 'plan')
    await expect.poll(async () => (await calls.view(id)).mode, { timeout: HANG_MS }).toBe('plan')
    await calls.setModel(id, 'other')
    await calls.prompt(id, say('[[hang]]'))
    await expect.poll(async () => (await calls.view(id)).state.state, { timeout: HANG_MS }).toBe('running')
    await calls.interrupt(id)
    await expect.poll(async () => (await calls.view(id)).state.state, { timeout: HANG_MS }).toBe('idle')
    await expectError(calls.resume(id), 'request-invalid')
    await expectError(calls.fork(id), 'request-invalid')
    await expectError(calls.setMode(id, 'bypass'), 'mode-not-allowed')
    await calls.end(id)
    await expect
      .poll(async () => (await cardOf(tower, id)).state, { timeout: HANG_MS })
      .toMatchObject({ state: 'ended', reason: 'ended' })
    await expectError(calls.prompt(id, say('Are you there?')), 'session-ended')
  })

  test('[TEA86] that nobody has heard of for a while is told to be gone, and nothing is sent to it', async () => {
    const [laptop, tower] = [await open('laptop', { liveMs: 1000 }), await open('tower')]
    const id = await start(laptop, run('ls'))
    const attention = await attentionOf(tower, id)
    // As if it were switched off.
    await laptop.live.team?.close()
    await expect
      .poll(async () => (await cardOf(tower, id)).state, { timeout: HANG_MS })
      .toMatchObject({
        state: 'ended',
        reason: 'host-gone',
        message: expect.stringContaining('laptop of ada'),
      })
    expect(await tower.live.calls.attentions()).toEqual([])
    await expectError(tower.live.calls.resolve({ ...attention, resolution: ALLOW }), 'team-unreached')
    // Here everything goes on.
    expect(await laptop.live.calls.attentions()).toHaveLength(1)
  })
})

describe('who may do what', () => {
  test('[TEA87] nobody else sees it; a reader sees it and waits for nothing; who may answer, answers', async () => {
    const [laptop, bench] = [await open('laptop'), await open('bench')]
    const id = await start(laptop, run('echo hi'))
    const other = await start(laptop, run('echo other'))
    const attention = await attentionOf(laptop, id)
    const foreign = await attentionOf(laptop, other)
    await bench.live.team?.remote.look()
    expect(await bench.live.calls.board()).toEqual([])
    await share({ kind: 'session', session: id, with: { person: 'bob' } })
    expect(await waitingCardOf(bench, id)).toMatchObject({
      may: 'read',
      origin: { person: 'ada', mine: false },
    })
    expect(await bench.live.calls.attentions()).toEqual([])
    const answer = { ...attention, resolution: ALLOW }
    await expectError(bench.live.calls.resolve(answer), 'not-allowed')
    await expectError(bench.live.calls.prompt(id, say('Let me in.')), 'not-allowed')
    await share({ kind: 'session', session: id, with: { person: 'bob' }, may: 'answer' })
    await attentionOf(bench, id)
    // What another session asks is not his to answer, whatever he says it belongs to.
    const call = { do: 'resolve', answer: { ...foreign, resolution: ALLOW, by: 'ada on laptop' } }
    const desk = await openDesk({ address: addresses.bench, now: () => Date.now(), most: 1 })
    const [shown] = await desk.sessions()
    const said = await desk.call({
      origin: shown?.origin ?? '',
      session: id,
      body: Buffer.from(JSON.stringify(call)),
    })
    expect(said.toString()).toContain('attention-not-found')
    // Whoever he says he is.
    const forged = { do: 'prompt', by: 'ada on laptop', prompt: { ...say('Trust me.'), by: 'ada on laptop' } }
    const body = Buffer.from(JSON.stringify(forged))
    await desk.call({ origin: shown?.origin ?? '', session: id, body })
    const { prompts } = await laptop.live.calls.view(id)
    expect(prompts.find((each) => each.id === forged.prompt.id)?.by).toBe('bob on bench')
    await desk.close()
    // Another text than the one that is asked is not agreed to.
    await expectError(bench.live.calls.resolve({ ...answer, hash: foreign.hash }), 'attention-mismatch')
    expect(await bench.live.calls.resolve(answer)).toMatchObject({ state: { by: 'bob on bench' } })
    expect(await laptop.live.calls.attentions()).toMatchObject([{ sessionId: other }])
  })

  test('[TEA87] an answer that arrives before the machine has read what was asked is not refused as unknown', async () => {
    const [laptop, tower] = [await open('laptop'), await open('tower')]
    const phone = await open('bench', { deaf: true })
    await share({ kind: 'everything', with: 'everybody', may: 'answer' })
    const id = await start(laptop, run('echo hi'))
    const attention = await attentionOf(tower, id)
    expect(await phone.live.calls.board()).toEqual([])
    expect(await phone.live.calls.resolve({ ...attention, resolution: ALLOW })).toMatchObject({
      kind: 'won',
      state: { by: 'bob on bench' },
    })
    const nothing = { ...attention, id: randomUUID(), resolution: ALLOW }
    await expectError(phone.live.calls.resolve(nothing), 'attention-not-found')
  })

  test('[TEA87] others may have more asked and never less, and allow nothing for good; a viewer never', async () => {
    const [laptop, bench, view] = [await open('laptop'), await open('bench'), await open('view')]
    const id = await start(laptop, run('echo hi'))
    await share({ kind: 'everything', with: 'everybody', may: 'answer' })
    const attention = await attentionOf(bench, id)
    const rules = attention.ask.kind === 'permission' ? attention.ask.rules : []
    const always = rules.filter(({ scope }) => scope === 'always').map((rule) => rule.id)
    if (always.length > 0) {
      const resolution: Resolution = { kind: 'allow', rules: always }
      await expectError(bench.live.calls.resolve({ ...attention, resolution }), 'not-allowed')
    }
    await expectError(bench.live.calls.setMode(id, 'accept-edits'), 'mode-not-allowed')
    expect(await cardOf(view, id)).toMatchObject({ may: 'read' })
    await expectError(view.live.calls.resolve({ ...attention, resolution: ALLOW }), 'not-allowed')
    expect(await laptop.live.calls.attentions()).toHaveLength(1)
    await bench.live.calls.resolve({ ...attention, resolution: { kind: 'deny' } })
    await bench.live.calls.setMode(id, 'plan')
    expect((await laptop.live.calls.view(id)).mode).toBe('plan')
  })

  test('[TEA88] what is not shown whole elsewhere can be denied there, and allowed on its machine only', async () => {
    const [laptop, tower] = [await open('laptop'), await open('tower')]
    const token = `ghp_${'Ab3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3z0a'.slice(0, 36)}`
    const id = await start(
      laptop,
      `[[say ${token} is it]] ${run(`curl -H "Authorization: token ${token}" x`)}`,
    )
    const attention = await attentionOf(tower, id)
    expect(attention.masked).toBe(true)
    const rows = await place.say<{ text: string }>(
      `SELECT encode(card, 'escape') || encode(coalesce(view, ''), 'escape') AS text FROM live_session`,
    )
    expect(rows.map(({ text }) => text).join()).not.toContain(token.slice(4))
    expect(rows.map(({ text }) => text).join()).toContain('redacted')
    await expectError(tower.live.calls.resolve({ ...attention, resolution: ALLOW }), 'not-allowed')
    expect(await laptop.live.calls.attentions()).toHaveLength(1)
    const denied = await tower.live.calls.resolve({ ...attention, resolution: { kind: 'deny' } })
    expect(denied).toMatchObject({ kind: 'won', state: { resolution: { kind: 'deny' } } })
  })

  test('[TEA87] what its person takes from nobody is taken from nobody', async () => {
    const [laptop, tower] = [await open('laptop'), await open('tower')]
    const id = await start(laptop, 'Hello.')
    await cardOf(tower, id)
    writeFileSync(join(laptop.home, 'config.json'), JSON.stringify({ team: { calls: 'nobody' } }))
    await expectError(tower.live.calls.prompt(id, say('Hello?')), 'not-allowed')
    await expectError(tower.live.calls.end(id), 'not-allowed')
    expect((await laptop.live.calls.view(id)).state.state).not.toBe('ended')
  })

  test('[TEA92] what stays on its machine is not shown; what is done beside it is', async () => {
    const [laptop, tower] = [await open('laptop'), await open('tower')]
    const secret = join(temp.path, 'private')
    mkdirSync(secret)
    const hidden = await start({ ...laptop, workdir: secret }, run('echo hidden'))
    const id = await start(laptop, run('echo shown'))
    await attentionOf(laptop, hidden)
    await attentionOf(tower, id)
    await tower.live.team?.remote.look()
    expect((await tower.live.calls.board()).map(({ sessionId }) => sessionId)).toEqual([id])
    expect(await place.say('SELECT 1 FROM live_session')).toHaveLength(1)
  })

  test('[TEA89] an answer that comes after it lapsed does nothing, and is told so', async () => {
    const [laptop, tower] = [await open('laptop'), await open('tower')]
    const id = await start(laptop, run('echo hi'))
    const attention = await attentionOf(tower, id)
    const card = await cardOf(tower, id)
    await laptop.live.calls.interrupt(id)
    await expect.poll(() => laptop.live.calls.attentions(), { timeout: HANG_MS }).toEqual([])
    expect(card.attentions).toHaveLength(1)
    expect(await tower.live.calls.resolve({ ...attention, resolution: ALLOW })).toMatchObject({
      kind: 'late',
      state: { state: 'lapsed' },
    })
  })
})

describe('a bad network', () => {
  let proxy: TcpProxy
  beforeEach(async () => {
    proxy = await openTcpProxy(server.port)
  })
  afterEach(async () => await proxy.close())

  test('[TEA83] a database that falls silent holds nobody up for long; what it missed comes when it is back', async () => {
    const [laptop, tower] = [await open('laptop', { through: proxy.port }), await open('tower')]
    const id = await start(laptop, 'Hello.')
    await cardOf(tower, id)
    proxy.fallSilent()
    const begun = performance.now()
    const other = await start(laptop, run('echo hi'))
    const started = performance.now()
    const attention = await attentionOf(laptop, other)
    const asked = performance.now()
    await laptop.live.calls.resolve({ ...attention, resolution: ALLOW })
    const answered = performance.now()
    process.stderr.write(
      `a silent database: a start ${Math.round(started - begun)} ms, an answer ${Math.round(answered - asked)} ms\n`,
    )
    proxy.heal()
    expect((await cardOf(tower, other)).agent).toBe('scripted')
  })

  test('[TEA81] what was lost on the way is carried out once, and answered', async () => {
    const [laptop, tower] = [await open('laptop', { through: proxy.port }), await open('tower')]
    const id = await start(laptop, 'Hello.')
    await cardOf(tower, id)
    for (let round = 0; round < 6; round++) {
      const prompt = say(`round ${round} over`)
      proxy.cutAtNextAnswer()
      expect(await tower.live.calls.prompt(id, prompt)).toMatchObject({ id: prompt.id })
    }
    await expect
      .poll(async () => saidIn(await laptop.live.calls.view(id)), { timeout: HANG_MS })
      .toContain('You said: round 5 over')
    const journal = await readSessionJournal((await findSessionJournal(laptop.home, id)) ?? '')
    expect(journal.prompts.filter(({ by }) => by === 'ada on tower')).toHaveLength(6)
  })
})

describe('leases', () => {
  test('[TEA90] a session that is live on one machine is not begun on another; taken over, it is ended there', async () => {
    const [laptop, tower] = [await open('laptop'), await open('tower')]
    const id = await start(laptop, 'Hello.')
    await expect.poll(() => place.say('SELECT 1 FROM lease'), { timeout: HANG_MS }).toHaveLength(1)
    await cardOf(tower, id)
    const { leases } = tower.live.team ?? {}
    const held = await expectError(
      leases?.take([id], { takeOver: false }) ?? Promise.resolve(),
      'session-held',
    )
    expect(held.message).toContain('your machine laptop')
    await leases?.take([id], { takeOver: true })
    expect((await cardOf(laptop, id)).state).toMatchObject({ state: 'ended' })
  })

  test('[TEA90] two that run one are both told', async () => {
    const [laptop, bench] = [await open('laptop'), await open('bench')]
    const id = await start(laptop, 'Hello.')
    await expect.poll(() => place.say('SELECT 1 FROM lease'), { timeout: HANG_MS }).toHaveLength(1)
    // As if both had begun it while the database was away.
    await place.say(`UPDATE lease SET origin = (SELECT id FROM origin WHERE machine = 'bench')`)
    const sessionId = id
    await bench.live.calls.start({
      agent: 'scripted',
      workdir: bench.workdir,
      sessionId,
      prompt: say('Me too.'),
    })
    await expect
      .poll(async () => (await cardOf(laptop, id)).trouble, { timeout: HANG_MS })
      .toContain('bench of bob')
    await expect
      .poll(async () => (await cardOf(bench, id)).trouble, { timeout: HANG_MS })
      .toContain('laptop of ada')
  })
})

function saidIn({ turn }: SessionView): string {
  return (turn?.messages ?? []).map(({ blocks }) => textOf(blocks)).join('\n')
}
