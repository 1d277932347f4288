import { execFileSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { RemoteThroughline } from '#client'
import { textOf, type PromptAuthor, type TurnSoFar } from '#model'
import {
  expectError,
  openPostgresServer,
  openTeamPlace,
  ownsPostgresServer,
  type PostgresServer,
  type TeamPlace,
} from '#testing'
import {
  answer,
  attentionOf,
  openLivePlace,
  say,
  shell,
  until,
  waitFor,
  type LivePlace,
} from './live-place.ts'

interface Machine {
  readonly place: LivePlace
  readonly device: RemoteThroughline
}

let server: PostgresServer
let team: TeamPlace
let ada: Machine
let bob: Machine
let cyd: Machine

beforeAll(async () => {
  server = await openPostgresServer({ own: true })
  team = await openTeamPlace(server, { admin: { person: 'ada', machine: 'laptop' } })
  const enter = async (store: string): Promise<Machine> => {
    const place = await openLivePlace({ store })
    return { place, device: await place.connect() }
  }
  const machines = [
    team.admin,
    await team.addMachine({ person: 'bob', machine: 'bench' }),
    await team.addMachine({ person: 'cyd', machine: 'couch' }),
  ]
  ;[ada, bob, cyd] = await Promise.all(machines.map((address) => enter(address.reveal()))).then(
    ([a, b, c]) => {
      if (a === undefined || b === undefined || c === undefined) throw new Error('a machine is missing')
      return [a, b, c]
    },
  )
  await ada.device.team.share({ kind: 'everything', with: { person: 'bob' }, may: 'answer' })
})
afterAll(async () => {
  for (const machine of [ada, bob, cyd]) await machine?.place.close()
  await server?.close()
})

async function start({ device, place }: Machine, text: string, workdir = place.workdir): Promise<string> {
  const sessionId = randomUUID()
  await device.live.start({ agent: 'scripted', workdir, sessionId, prompt: say(text) })
  return sessionId
}

/** A turn has come to its end; before it began nothing is on disk. */
async function answered(device: RemoteThroughline, id: string): Promise<void> {
  await until(device, id, ({ turn, state }) => isOver(turn) && state.state === 'idle')
}

function isOver(turn: TurnSoFar | undefined): boolean {
  return turn?.outcome !== undefined
}

function saidTo(turn: TurnSoFar | undefined): string {
  return (turn?.messages ?? []).map(({ blocks }) => textOf(blocks)).join('\n')
}

function repository(at: string): string {
  mkdirSync(at, { recursive: true })
  execFileSync('git', ['init', '-q', at])
  execFileSync('git', ['-C', at, 'remote', 'add', 'origin', 'git@example.com:shop/till.git'])
  return at
}

async function saidBy({ device }: Machine, id: string): Promise<readonly string[]> {
  const authors = new Map(
    (await device.team.authors(id)).map((each): [string, PromptAuthor] => [each.entryId, each]),
  )
  const { outline } = await device.digest(await device.get(id))
  return outline.flatMap((point) => {
    const author = point.kind === 'prompt' ? authors.get(point.id) : undefined
    if (point.kind === 'prompt' && point.text.startsWith('[This session was moved')) return []
    return point.kind === 'prompt' && author !== undefined
      ? [`${author.person} on ${author.machine}: ${point.text}`]
      : []
  })
}

describe('machines of a team, each in a process of its own', () => {
  test('[TEA84] what is asked on one is answered on another; what is said there arrives', async () => {
    const id = await start(ada, shell('echo yes'))
    const attention = await attentionOf(bob.device, id)
    await waitFor('a list shows that it waits', async () =>
      (await bob.device.list()).sessions.find((each) => each.id === id && each.live?.status === 'waiting'),
    )
    expect(await answer(bob.device, attention)).toMatchObject({ kind: 'won', state: { by: 'bob on bench' } })
    await answered(bob.device, id)
    await bob.device.live.prompt(id, say('[[say From the bench.]]'))
    await until(bob.device, id, ({ turn }) =>
      (turn?.messages ?? []).some(({ blocks }) => textOf(blocks).includes('From the bench.')),
    )
    expect((await ada.device.live.audit(id)).entries).toContainEqual(
      expect.objectContaining({
        kind: 'attention.settled',
        settled: expect.objectContaining({ by: 'bob on bench' }),
      }),
    )
    expect(await cyd.device.live.board()).toEqual([])
  })

  test('[TEA85] what is said there is followed here word by word', async () => {
    const id = await start(ada, 'Hello.')
    await answered(bob.device, id)
    const [said, heard] = [new Map<string, number>(), new Map<string, number>()]
    const note = (words: Map<string, number>, text: string): void => {
      for (const [word] of text.matchAll(/w\d+x(?=\s)/g))
        if (!words.has(word)) words.set(word, performance.now())
    }
    const topic = { kind: 'live', id } as const
    const here = ada.device.subscribe(topic, {
      onEvent: (event) =>
        event.kind === 'live.event' && event.event.kind === 'delta'
          ? note(said, event.event.text)
          : undefined,
    })
    const there = bob.device.subscribe(topic, {
      onEvent(event) {
        if (event.kind !== 'live.view') return
        const { messages = [], streaming = [] } = event.view.turn ?? {}
        const whole = messages
          .filter(({ role }) => role === 'agent')
          .map(({ blocks }) => `${textOf(blocks)} `)
        note(heard, [...whole, ...streaming.map(({ text }) => text)].join(' '))
      },
    })
    await ada.device.live.prompt(
      id,
      say(`[[slow 25]] [[say ${Array.from({ length: 80 }, (_, n) => `w${n}x`).join(' ')}]]`),
    )
    await waitFor('all words are there', () => (heard.size === 80 ? true : undefined))
    const lags = [...heard].map(([word, at]) => at - (said.get(word) ?? at)).toSorted((a, b) => a - b)
    const figure = (part: number): number => Math.round(lags[Math.floor(lags.length * part)] ?? 0)
    process.stderr.write(`words of another machine: p50 ${figure(0.5)} ms, p99 ${figure(0.99)} ms\n`)
    here.close()
    there.close()
    await ada.device.live.end(id)
  })

  test('[TEA91] it goes on on another machine in the clone of the same repository, and says who said what', async () => {
    const there = repository(join(ada.place.root, 'till'))
    const here = repository(join(bob.place.root, 'elsewhere', 'till'))
    const id = await start(ada, 'First said by Ada.', there)
    await answered(ada.device, id)
    // A folder is known where something was done in it.
    const known = await start(bob, 'Only to be known.', here)
    await answered(bob.device, known)
    await waitFor('bob may talk to it', async () =>
      (await bob.device.live.board()).find(({ sessionId }) => sessionId === id),
    )
    await bob.device.live.prompt(id, say('Then said by Bob from afar.'))
    await until(ada.device, id, ({ turn }) => isOver(turn) && saidTo(turn).includes('from afar'))
    await waitFor('the session is mirrored', async () => {
      const found = await bob.device.get(id).catch(() => undefined)
      return found?.origin === undefined ? undefined : found
    })
    // While it is live over there, it is not gone on with here; taken over, it is ended there first.
    const held = await expectError(bob.device.team.continueHere(id, { to: 'claude' }), 'session-held')
    expect(held.message).toContain('laptop of ada')
    const outcome = await bob.device.team.continueHere(id, { to: 'claude', takeOver: true })
    expect(outcome).toMatchObject({ agent: 'claude', workdir: here, workdirFrom: 'remote', isWritten: true })
    expect((await ada.device.live.view(id).catch(({ code }) => code)) satisfies unknown).toBe('session-ended')
    expect((await bob.device.restoring.lineage(outcome.sessionId)).from).toMatchObject({
      sessionId: id,
      kind: 'handed-over',
      origin: { machine: 'laptop', person: 'ada' },
    })
    expect((await bob.device.restoring.lineage(id)).to).toMatchObject([{ sessionId: outcome.sessionId }])
    const onward = await waitFor('ada is told where it went on', async () =>
      (await ada.device.restoring.lineage(id)).to.find(({ sessionId }) => sessionId === outcome.sessionId),
    )
    expect(onward).toMatchObject({ kind: 'handed-over', origin: { machine: 'bench', person: 'bob' } })
    expect(await saidBy(bob, outcome.sessionId)).toEqual([
      'ada on laptop: First said by Ada.',
      'bob on bench: Then said by Bob from afar.',
    ])
    await bob.device.live.resume(outcome.sessionId, {
      prompt: say('[[say Fine.]] Now said by Bob at his bench.'),
    })
    await until(
      bob.device,
      outcome.sessionId,
      ({ turn, state }) => turn?.outcome !== undefined && state.state === 'idle',
    )
    await bob.device.live.end(outcome.sessionId)

    // A second time: to somebody else, whose folder is named by a map.
    await bob.device.team.share({ kind: 'session', session: outcome.sessionId, with: { person: 'cyd' } })
    const couch = join(cyd.place.root, 'couch')
    mkdirSync(couch)
    const settings = join(cyd.place.home, 'config.json')
    writeFileSync(
      settings,
      JSON.stringify({
        ...JSON.parse(readFileSync(settings, 'utf8')),
        team: { workdirs: { [join(bob.place.root, 'elsewhere')]: join(cyd.place.root, 'mapped') } },
      }),
    )
    mkdirSync(join(cyd.place.root, 'mapped', 'till'), { recursive: true })
    await waitFor('all of it is mirrored', async () => {
      const found = await cyd.device.get(outcome.sessionId).catch(() => undefined)
      const digest = found && (await cyd.device.digest(found).catch(() => undefined))
      const isThere = digest?.outline.some((point) => point.kind === 'prompt' && point.text.includes('bench'))
      return isThere === true ? true : undefined
    })
    const again = await waitFor('bob has let go of it', () =>
      cyd.device.team.continueHere(outcome.sessionId, { to: 'codex' }).catch(({ code }: { code: string }) => {
        if (code !== 'session-held') throw new Error(code)
        return undefined
      }),
    )
    expect(again).toMatchObject({ workdir: join(cyd.place.root, 'mapped', 'till'), workdirFrom: 'map' })
    expect(await saidBy(cyd, again.sessionId)).toEqual([
      'ada on laptop: First said by Ada.',
      'bob on bench: Then said by Bob from afar.',
      expect.stringContaining('bob on bench:'),
    ])
  })

  test('[TEA91] a folder that nobody can find is asked for, with what could be meant', async () => {
    const id = await start(ada, 'Here.', ada.place.workdir)
    await answered(ada.device, id)
    await ada.device.live.end(id)
    await waitFor('it is mirrored', async () => {
      const found = await bob.device.get(id).catch(() => undefined)
      return found?.origin
    })
    const refused = await waitFor('ada has let go of it', () =>
      bob.device.team.continueHere(id, { to: 'claude' }).then(
        () => undefined,
        (error: { code: string; hint: string }) => (error.code === 'session-held' ? undefined : error),
      ),
    )
    expect(refused).toMatchObject({ code: 'folder-not-found', hint: expect.stringContaining('--workdir') })
    await expectError(bob.device.live.resume(id), 'request-invalid')
  })

  test.runIf(ownsPostgresServer())(
    '[TEA83] while the database is away everything here is answered at once, and it is all there again after',
    async () => {
      const id = await start(ada, shell('echo yes'))
      await attentionOf(bob.device, id)
      await server.stopImmediately()
      const attention = await attentionOf(ada.device, id)
      const begun = performance.now()
      expect(await answer(ada.device, attention)).toMatchObject({ kind: 'won' })
      const started = performance.now()
      const other = await start(ada, '[[say Alone.]]')
      process.stderr.write(
        `without the database: an answer ${Math.round(started - begun)} ms, a start ${Math.round(performance.now() - started)} ms\n`,
      )
      await answered(ada.device, id)
      await answered(ada.device, other)
      await server.start()
      await answered(bob.device, other)
      for (const each of [id, other]) await ada.device.live.end(each)
    },
  )

  test.runIf(process.env['RUNS'] === 'full')(
    '[TEA86] a machine that is killed is told to be gone',
    async () => {
      const id = await start(ada, shell('echo yes'))
      await attentionOf(bob.device, id)
      await ada.place.killDaemon()
      const gone = await waitFor('it is gone', async () =>
        (await bob.device.live.board()).find(
          ({ sessionId, state }) => sessionId === id && state.state === 'ended',
        ),
      )
      expect(gone).toMatchObject({ state: { reason: 'host-gone' }, attentions: [] })
      await ada.place.startDaemon()
      await attentionOf(bob.device, id)
    },
  )
})
