import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  expectError,
  openPostgresServer,
  openTeamPlace,
  runs,
  type PostgresServer,
  type TeamPlace,
} from '#testing'
import type { PostgresAddress } from './address.ts'
import { openConnections } from './connection.ts'
import { openDesk, type DeskOptions } from './desk-open.ts'
import type { Desk } from './desk.ts'
import { openTeamBook } from './open-team-book.ts'

const HANG_MS = 60_000

let server: PostgresServer
let place: TeamPlace
let machines: Record<'laptop' | 'tower' | 'bob' | 'eve' | 'vic', PostgresAddress>
const opened: Desk[] = []

beforeAll(async () => {
  server = await openPostgresServer()
  place = await openTeamPlace(server, { admin: { person: 'ada', machine: 'laptop', origin: 'laptop' } })
  machines = {
    laptop: place.admin,
    tower: await place.addMachine({ person: 'ada', machine: 'tower', origin: 'tower' }),
    bob: await place.addMachine({ person: 'bob', machine: 'bench', origin: 'bob' }),
    eve: await place.addMachine({ person: 'eve', machine: 'elsewhere', origin: 'eve' }),
    vic: await place.addMachine({ person: 'vic', machine: 'view', role: 'viewer', origin: 'vic' }),
  }
})
afterAll(async () => {
  for (const desk of opened) await desk.close()
  await server?.close()
})

async function open(machine: keyof typeof machines, how: Partial<DeskOptions> = {}): Promise<Desk> {
  const desk = await openDesk({ address: machines[machine], now: () => Date.now(), most: 2, ...how })
  opened.push(desk)
  return desk
}

function bytes(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value))
}

async function share(how: Parameters<Awaited<ReturnType<typeof openTeamBook>>['share']>[0]): Promise<void> {
  const book = await openTeamBook({ address: machines.laptop, most: 1 })
  await book.share(how)
  await book.close()
}

const ADA_LAPTOP = { origin: 'laptop', machine: 'laptop', person: 'ada' }

describe('live sessions', () => {
  test('[TEA80] are seen by their owner and by those they are shared with, and by nobody else', async () => {
    const [laptop, tower, bob, eve] = [
      await open('laptop'),
      await open('tower'),
      await open('bob'),
      await open('eve'),
    ]
    await laptop.publish({ session: 's80', workdir: '/shop', card: bytes({ n: 1 }), view: bytes({ v: 1 }) })
    const seen = async (desk: Desk): Promise<readonly object[]> =>
      (await desk.sessions()).filter(({ session }) => session === 's80')
    expect(await seen(laptop)).toEqual([])
    expect(await seen(tower)).toMatchObject([
      { from: { ...ADA_LAPTOP, mine: true }, may: 'answer', card: bytes({ n: 1 }) },
    ])
    expect(await seen(bob)).toEqual([])
    expect(await eve.findView({ origin: 'laptop', session: 's80' })).toBeUndefined()
    await share({ kind: 'workdir', workdir: '/shop', with: { person: 'bob' } })
    expect(await seen(bob)).toMatchObject([{ from: { ...ADA_LAPTOP, mine: false }, may: 'read' }])
    await share({ kind: 'session', session: 's80', with: { person: 'bob' }, may: 'answer' })
    expect(await seen(bob)).toMatchObject([{ may: 'answer' }])
    expect(await bob.findView({ origin: 'laptop', session: 's80' })).toMatchObject({ view: bytes({ v: 1 }) })
    expect(await seen(eve)).toEqual([])
    await laptop.retire('s80')
    expect(await seen(bob)).toEqual([])
  })

  test('[TEA80] what is known comes without its card; what nobody keeps has no time left', async () => {
    const [laptop, tower] = [await open('laptop', { liveMs: 300 }), await open('tower')]
    await laptop.publish({ session: 'known', workdir: '/w', card: bytes(1), view: bytes(1) })
    const find = async (): Promise<Awaited<ReturnType<Desk['sessions']>>[number]> => {
      const found = (await tower.sessions()).find(({ session }) => session === 'known')
      if (found === undefined) throw new Error('it is not there')
      return found
    }
    const first = await find()
    const again = (await tower.sessions([first])).find(({ session }) => session === 'known')
    expect(again?.card).toBeUndefined()
    await laptop.publish({ session: 'known', workdir: '/w', card: bytes(1), view: bytes(2) })
    const moved = await find()
    expect([moved.changed, moved.moved > first.moved]).toEqual([first.changed, true])
    await expect.poll(async () => (await find()).leftMs, { timeout: HANG_MS }).toBeLessThanOrEqual(0)
    expect(await laptop.keep(['known', 'never'])).toEqual(['never'])
    expect((await find()).leftMs).toBeGreaterThan(0)
    await laptop.retire('known')
  })

  test('[TEA80] [TEA83] somebody with a password and psql sees and changes no more than that', async () => {
    const laptop = await open('laptop')
    await laptop.publish({ session: 'secret', workdir: '/private', card: bytes('secret') })
    const call = open('tower').then((tower) =>
      tower
        .call({ origin: 'laptop', session: 'secret', body: bytes('mine'), patienceMs: 3000 })
        .catch(() => 'over'),
    )
    const eve = await openConnections({ address: machines.eve, most: 1 })
    const origin = `(SELECT id FROM origin WHERE key = 'laptop')`
    try {
      for (const table of ['live_session', 'desk_call', 'lease', 'session_author', 'session_onward'])
        expect(await eve.query(`SELECT * FROM ${table}`)).toEqual([])
      expect(await eve.query('SELECT * FROM desk_origin(1)')).toEqual([])
      const [real] = await place.say<{ origin: number; team: number }>(
        `SELECT id AS origin, team FROM origin WHERE key = 'laptop'`,
      )
      const forged = [
        `INSERT INTO live_session (origin, session, workdir, card, changed, moved, expires)
         VALUES (${real?.origin}, 'forged', '/', 'x', 1, 1, now() + interval '1 hour')`,
        `INSERT INTO live_session (owner, session, workdir, card, changed, moved, expires)
         VALUES (1, 'forged', '/', 'x', 1, 1, now() + interval '1 hour')`,
        `INSERT INTO desk_call (id, to_origin, session, body, expires)
         VALUES ('f1', ${real?.origin}, 'secret', 'x', now() + interval '1 minute')`,
        `INSERT INTO desk_call (id, from_person, from_origin, to_origin, session, body, expires)
         VALUES ('f2', 1, ${real?.origin}, ${real?.origin}, 'secret', 'x', now() + interval '1 minute')`,
        `INSERT INTO session_onward (origin, session, agent, to_session, to_agent)
         VALUES (${real?.origin}, 'secret', 'claude', 'mine', 'claude')`,
        `INSERT INTO lease (team, session, origin, owner, expires) VALUES (${real?.team}, 'x', 1, 1, now())`,
        `SELECT own_desk_may(1, 1, 'secret', '/')`,
        `SELECT * FROM own_desk_origin(1)`,
      ]
      for (const sql of forged) await expectError(eve.query(sql), 'database-refused')
      expect(await eve.run(`UPDATE live_session SET card = 'x'`)).toBe(0)
      expect(await eve.run(`DELETE FROM live_session`)).toBe(0)
      await eve.run(`UPDATE desk_call SET state = 'answered', answer = 'x'`).catch(() => 0)
      await eve.query(`SELECT desk_answer(id, 'x'), desk_withdraw(id) FROM unnest(ARRAY['f1']) AS id`)
      expect(await eve.query(`SELECT * FROM desk_take('eve', 10)`)).toEqual([])
      expect(await place.say(`SELECT 1 FROM live_session WHERE session = 'forged'`)).toEqual([])
      expect(origin).toContain('laptop')
    } finally {
      await eve.close()
    }
    expect(await call).toBe('over')
    await laptop.retire('secret')
  })
})

describe('calls', () => {
  async function serve(desk: Desk, run: string): Promise<Awaited<ReturnType<Desk['take']>>['calls'][number]> {
    for (;;) {
      const [call] = (await desk.take(run)).calls
      if (call !== undefined) return call
    }
  }

  test('[TEA81] go to the machine that runs the session, once, with who asks, and come back with its answer', async () => {
    const [laptop, tower] = [await open('laptop'), await open('tower')]
    await laptop.publish({ session: 's81', workdir: '/w', card: bytes(1) })
    const answer = tower.call({ origin: 'laptop', session: 's81', body: bytes({ do: 'end' }) })
    const call = await serve(laptop, 'r1')
    expect(call).toMatchObject({
      session: 's81',
      body: bytes({ do: 'end' }),
      from: { origin: 'tower', mine: true },
    })
    // Taken again by the same run until it is answered; by another one it is lost, and by nobody taken a second time.
    expect((await laptop.take('r1')).calls).toHaveLength(1)
    expect(await laptop.take('r2')).toEqual({ calls: [], lost: [call.id] })
    await laptop.answer(call.id, bytes('done'))
    expect(await answer).toEqual(bytes('done'))
    expect(await laptop.take('r1')).toEqual({ calls: [], lost: [] })
    await laptop.answer(call.id, bytes('again'))
    await laptop.retire('s81')
  })

  test('[TEA81] need a share that lets answer: no viewer, no reader, nobody from whom it was taken back', async () => {
    const [laptop, bob, vic] = [await open('laptop'), await open('bob'), await open('vic')]
    await laptop.publish({ session: 'asked', workdir: '/w', card: bytes(1) })
    const call = { origin: 'laptop', session: 'asked', body: bytes(1) }
    await expectError(bob.call(call), 'session-ended')
    await share({ kind: 'session', session: 'asked', with: 'everybody' })
    await expectError(bob.call(call), 'not-allowed')
    const shared = { kind: 'session', session: 'asked', with: 'everybody', may: 'answer' } as const
    await share(shared)
    await expectError(vic.call(call), 'not-allowed')
    const asked = bob.call(call)
    asked.catch(() => {})
    await expect
      .poll(() => place.say(`SELECT 1 FROM desk_call WHERE state = 'open'`), { timeout: HANG_MS })
      .toHaveLength(1)
    const book = await openTeamBook({ address: machines.laptop, most: 1 })
    await book.unshare(shared)
    await book.close()
    expect(await laptop.take('r1')).toEqual({ calls: [], lost: [] })
    await expectError(asked, 'not-allowed')
    await laptop.retire('asked')
  })

  test('[TEA81] that nobody takes up are taken back, and are never carried out later', async () => {
    const [laptop, tower] = [await open('laptop'), await open('tower')]
    await laptop.publish({ session: 'slow', workdir: '/w', card: bytes(1) })
    const call = { origin: 'laptop', session: 'slow', body: bytes(1), patienceMs: 200 }
    await expectError(tower.call(call), 'team-unreached')
    expect(await laptop.take('r1')).toEqual({ calls: [], lost: [] })
    await laptop.retire('slow')
  })

  test('[TEA81] and everything that is too old is swept away', async () => {
    const laptop = await open('laptop')
    await place.say(
      `UPDATE desk_call SET created = now() - interval '2 days'; UPDATE live_session SET expires = now() - interval '2 days'`,
    )
    await laptop.keep(['x'])
    expect(await place.say('SELECT 1 FROM desk_call')).toEqual([])
    expect(await place.say('SELECT 1 FROM live_session')).toEqual([])
  })
})

describe('leases', () => {
  test('[TEA82] are held by one machine, until it lets go or does not renew them; it is said by whom', async () => {
    const [laptop, bob] = [await open('laptop', { leaseMs: 300 }), await open('bob')]
    expect(await laptop.takeLease('s82')).toMatchObject({ state: 'mine' })
    expect(await bob.takeLease('s82')).toMatchObject({
      state: 'held',
      holder: { ...ADA_LAPTOP, mine: false },
    })
    expect(await bob.findLease('s82')).toMatchObject({ holder: ADA_LAPTOP })
    await expect.poll(async () => (await bob.takeLease('s82')).state, { timeout: HANG_MS }).toBe('mine')
    expect(await laptop.takeLease('s82')).toMatchObject({ state: 'held', holder: { person: 'bob' } })
    // Both run it: each is told of the other.
    expect(await laptop.keepLeases(['s82'])).toMatchObject([{ session: 's82', heldBy: { person: 'bob' } }])
    expect(await bob.keepLeases(['s82'])).toMatchObject([{ session: 's82', contender: ADA_LAPTOP }])
    await laptop.releaseLease('s82')
    expect((await bob.takeLease('s82')).state).toBe('mine')
    await bob.releaseLease('s82')
    expect(await bob.findLease('s82')).toBeUndefined()
    expect((await laptop.takeLease('s82')).state).toBe('mine')
  })

  test('[TEA82] never two hold one, whatever three of them do, by the clock of the database', async () => {
    const names = ['laptop', 'tower', 'bob'] as const
    const leaseMs = 40
    const desks = await Promise.all(names.map((name) => open(name, { leaseMs })))
    await place.say(`
      CREATE TABLE lease_seen (session text, origin integer, since timestamptz, until timestamptz);
      CREATE FUNCTION lease_note() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
      BEGIN
        IF TG_OP = 'DELETE' OR TG_OP = 'UPDATE' THEN
          UPDATE lease_seen SET until = least(until, clock_timestamp()) WHERE session = OLD.session AND until > clock_timestamp()
            AND (TG_OP = 'DELETE' OR NEW.origin = OLD.origin);
        END IF;
        IF TG_OP <> 'DELETE' THEN
          INSERT INTO lease_seen VALUES (NEW.session, NEW.origin, clock_timestamp(), NEW.expires);
        END IF;
        RETURN NULL;
      END $$;
      CREATE TRIGGER lease_note AFTER INSERT OR UPDATE OR DELETE ON lease FOR EACH ROW EXECUTE FUNCTION lease_note()`)
    let round = 0
    const step = fc.record({ who: fc.nat(2), what: fc.constantFrom('take', 'keep', 'release', 'pause') })
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(step, { maxLength: 6 }), { minLength: 3, maxLength: 3 }),
        async (plans) => {
          const session = `race ${round++}`
          await Promise.all(
            plans
              .flatMap((plan) => plan)
              .map(async ({ who, what }) => {
                const desk = desks[who]
                if (what === 'take') await desk?.takeLease(session)
                else if (what === 'keep') await desk?.keepLeases([session])
                else if (what === 'release') await desk?.releaseLease(session)
                else await new Promise((resolve) => setTimeout(resolve, leaseMs / 2))
              }),
          )
          const doubled = await place.say(
            `SELECT * FROM lease_seen AS a JOIN lease_seen AS b ON b.session = a.session AND b.origin <> a.origin
             AND a.since < b.until AND b.since < a.until WHERE a.session = $1`,
            [session],
          )
          expect(doubled).toEqual([])
        },
      ),
      runs(15),
    )
    await place.say('DROP TRIGGER lease_note ON lease')
  })
})

describe('listening', () => {
  test('[TEA80] rings soon after something changed, also after the connection was lost', async () => {
    const [laptop, tower] = [await open('laptop'), await open('tower')]
    let rings = 0
    const listening = tower.listen({ onRing: () => void rings++, pollMs: HANG_MS })
    await expect.poll(() => rings, { timeout: HANG_MS }).toBeGreaterThan(0)
    for (const round of [1, 2]) {
      const before = rings
      await laptop.publish({ session: 'rung', workdir: '/w', card: bytes(round) })
      await expect.poll(() => rings, { timeout: HANG_MS }).toBeGreaterThan(before)
      const heard = rings
      await place.say(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN %' AND datname = current_database()`,
      )
      await expect.poll(() => rings, { timeout: HANG_MS }).toBeGreaterThan(heard)
    }
    await listening.close()
    await laptop.retire('rung')
  })
})
