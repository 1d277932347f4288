import { randomBytes } from 'node:crypto'
import { Client } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TeamRole } from '#model'
import {
  expectError,
  openPostgresServer,
  openTeamPlace,
  ownsPostgresServer,
  type PostgresServer,
  type TeamPlace,
} from '#testing'
import { toPostgresAddress, type PostgresAddress } from './address.ts'
import { initTeam } from './init-team.ts'
import { openPostgresStore } from './open.ts'
import { openTeamBook } from './open-team-book.ts'
import { openTeamLog } from './open-team-log.ts'
import type { TeamBook } from './team-book.ts'

let server: PostgresServer

beforeAll(async () => {
  server = await openPostgresServer()
})
afterAll(async () => {
  await server?.close()
  // One that is ours ends with everything that is in it.
  if (ownsPostgresServer()) return
  for (const role of owners) await sayTo(server.url, `DROP ROLE ${role}`)
})

const owners: string[] = []

async function sayTo(url: string, ...all: readonly string[]): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  for (const sql of all) await client.query(sql)
  await client.end()
}

/** A database whose owner may make logins, and nothing else that an administrator of the server may. */
async function ownedDatabase(): Promise<string> {
  const url = new URL(await server.createDatabase())
  const [role, password] = [`owner_${randomBytes(6).toString('hex')}`, randomBytes(12).toString('hex')]
  owners.push(role)
  await sayTo(
    server.url,
    `CREATE ROLE ${role} LOGIN CREATEROLE PASSWORD '${password}'`,
    `ALTER DATABASE ${url.pathname.slice(1)} OWNER TO ${role}`,
  )
  url.username = role
  url.password = password
  return url.href
}

const openPlace = async (): Promise<TeamPlace> => openTeamPlace(server, { url: await ownedDatabase() })

async function withBook<T>(address: PostgresAddress, use: (book: TeamBook) => Promise<T>): Promise<T> {
  const book = await openTeamBook({ address })
  try {
    return await use(book)
  } finally {
    await book.close()
  }
}

const me = (address: PostgresAddress): Promise<unknown> => withBook(address, (book) => book.me())

test('[TEA20] a team is started once by the owner of a database, and several live in one', async () => {
  const place = await openPlace()
  const address = toPostgresAddress(place.url)
  expect(await me(place.admin)).toMatchObject({
    team: 'team',
    person: 'ada',
    role: 'admin',
    machine: "ada's machine",
  })
  const again = { address, team: 'team', person: 'eve', machine: 'x' }
  expect((await expectError(initTeam(again), 'request-invalid')).hint).toMatch(/invitation/)
  const other = await initTeam({ address, team: 'other', person: 'ada', machine: 'x' })
  expect(await me(other)).toMatchObject({ team: 'other', person: 'ada', role: 'admin' })
  expect(await withBook(other, (book) => book.people())).toHaveLength(1)
  // Who owns the database is in no team, and neither is anybody else with a login.
  for (const open of [openTeamLog, openPostgresStore]) {
    expect((await expectError(open({ address }), 'not-in-team')).hint).toMatch(/address/)
  }
  const empty = toPostgresAddress(await server.createDatabase())
  expect((await expectError(openTeamLog({ address: empty }), 'not-in-team')).hint).toMatch(/team init/)
  const stranger = new URL(await ownedDatabase())
  stranger.pathname = new URL(place.url).pathname
  await expectError(openTeamBook({ address: toPostgresAddress(stranger.href) }), 'not-in-team')
})

test('[TEA21] an invitation is good once and for a week, and no password is ever in a statement', async () => {
  const place = await openPlace()
  const book = await openTeamBook({ address: place.admin })
  const { address, expiresAt } = await book.invite({ person: 'bob', role: 'viewer' })
  expect(Date.parse(expiresAt) - Date.now()).toBeGreaterThan(6 * 86_400_000)
  await expectError(me(address), 'not-in-team')
  await expectError(openTeamLog({ address }), 'not-in-team')
  // Two come with the same invitation: one of them is let in, and the other is put out.
  const [one, two] = [await openTeamBook({ address, most: 1 }), await openTeamBook({ address, most: 1 })]
  const joined = await one.join('laptop')
  await expect(two.join('another')).rejects.toThrow(/database|invitation/)
  await expectError(openTeamBook({ address }), 'database-refused')
  expect(await me(joined)).toMatchObject({ person: 'bob', role: 'viewer', machine: 'laptop' })
  await expect(withBook(joined, (again) => again.join('again'))).rejects.toThrow(/joined with this/)
  await Promise.all([one.close(), two.close()])
  // An old one.
  const late = await book.invite({ person: 'bob' })
  await place.say("UPDATE origin SET expires_at = now() - interval '1 second' WHERE joined_at IS NULL")
  await expect(withBook(late.address, (old) => old.join('late'))).rejects.toThrow(/too old/)
  const [login] = await place.say<{ until: string }>(
    'SELECT rolvaliduntil::text AS until FROM pg_roles WHERE rolname = $1',
    [new URL(late.address.reveal()).username],
  )
  expect(Date.parse(login?.until ?? '')).toBeGreaterThan(Date.now())
  expect((await book.machines()).map(({ state, person }) => `${person} ${state}`)).toEqual([
    'ada joined',
    'bob joined',
    'bob invited',
  ])
  await book.close()
  // What says it is a password and is none that was made for storing is refused: it would be in the server's log.
  const client = new Client({ connectionString: place.admin.reveal() })
  await client.connect()
  for (const verifier of ['secret', "x' SUPERUSER --", 'md5abc']) {
    await expect(
      client.query("SELECT throughline.invite_machine('ada', NULL, $1)", [verifier]),
    ).rejects.toThrow(/how a password is stored/)
  }
  await client.end()
})

test('[TEA22] who looks, who works and who decides: each may do what his role says', async () => {
  const place = await openPlace()
  const roles: readonly TeamRole[] = ['viewer', 'member', 'admin']
  const addresses = new Map<TeamRole, PostgresAddress>()
  for (const role of roles) addresses.set(role, await place.addMachine({ person: role, role }))
  const everything = { kind: 'everything', with: 'everybody' } as const
  const file = { identity: 'f', kind: 'transcript', path: '/f', scope: 'private' } as const
  const deeds: Readonly<Record<string, (book: TeamBook, address: PostgresAddress) => Promise<unknown>>> = {
    people: (book) => book.people(),
    'own machine': async (book) => book.invite({ person: (await book.me()).person }),
    share: async (book) => {
      await book.share(everything)
      await book.unshare(everything)
    },
    write: async (_, address) => {
      const log = await openTeamLog({ address })
      try {
        const number = await log.putFile(file).catch(() => 0)
        await log.append([{ file: number, offset: 0, bytes: Buffer.from('x\n') }])
      } finally {
        await log.close()
      }
    },
    invite: (book) => book.invite({ person: 'somebody new' }),
    'set a role': (book) => book.setRole('somebody new', 'viewer'),
    'make oneself an admin': async (book) => book.setRole((await book.me()).person, 'admin'),
    remove: (book) => book.remove('somebody new'),
  }
  const allowed: Record<string, readonly string[]> = {}
  for (const role of [...roles].toReversed()) {
    const address = addresses.get(role) ?? place.admin
    const may: string[] = []
    for (const [name, deed] of Object.entries(deeds)) {
      await withBook(address, (book) => deed(book, address)).then(
        () => may.push(name),
        (error: unknown) =>
          expect(error).toMatchObject({ code: expect.stringMatching(/not-allowed|database-/) }),
      )
    }
    allowed[role] = may
  }
  expect(allowed).toEqual({
    viewer: ['people', 'own machine'],
    member: ['people', 'own machine', 'share', 'write'],
    admin: Object.keys(deeds),
  })
  await withBook(place.admin, async (book) => {
    await book.remove('admin')
    for (const change of [() => book.remove('ada'), () => book.setRole('ada', 'member')]) {
      expect((await expectError(change(), 'request-invalid')).message).toMatch(/only admin/)
    }
    await expectError(book.setRole('nobody', 'member'), 'request-invalid')
  })
})

test('[TEA23] a machine that was revoked, and all of a person who was removed, is out at once, also where it was in', async () => {
  const place = await openPlace()
  const [laptop, desktop] = [
    await place.addMachine({ person: 'bob', machine: 'laptop' }),
    await place.addMachine({ person: 'bob', machine: 'desktop' }),
  ]
  const log = await openTeamLog({ address: laptop })
  const file = await log.putFile({ identity: 'f', kind: 'transcript', path: '/f', scope: 'private' })
  const line = { file, offset: 0, bytes: Buffer.from('x\n') }
  await log.append([line])
  // A connection that was open all the time, of somebody who does not let go of it.
  const client = new Client({ connectionString: laptop.reveal(), options: '-c search_path=throughline' })
  client.on('error', () => {})
  await client.connect()
  const troubles: string[] = []
  const listening = log.listen({
    after: 0,
    pollMs: 100,
    onNews: () => {},
    onTrouble: (error) => void troubles.push('code' in error ? String(error.code) : ''),
  })
  const { origin } = log.self
  await withBook(await place.addMachine({ person: 'eve' }), async (eve) => {
    await expectError(eve.revoke(origin), 'request-invalid')
    expect(await eve.machines()).toHaveLength(1)
  })
  await withBook(desktop, (own) => own.revoke(origin))
  await expect
    .poll(() => log.append([line]).catch((error: { code?: string }) => error.code))
    .toBe('not-in-team')
  await expectError(openTeamLog({ address: laptop }), 'not-in-team')
  await expect(client.query('SELECT my_team()')).rejects.toThrow(/terminat|not queryable|closed/)
  await expect.poll(() => troubles.includes('not-in-team')).toBe(true)
  await listening.close()
  await log.close()
  expect(await me(desktop)).toMatchObject({ machine: 'desktop' })
  await withBook(place.admin, async (admin) => {
    await admin.remove('bob')
    expect((await admin.people()).map(({ name, removed }) => [name, removed])).toContainEqual(['bob', true])
  })
  await expectError(me(desktop), 'not-in-team')
  // Invited again he is there again, with a new machine; the old ones stay out.
  expect(await me(await place.addMachine({ person: 'bob' }))).toMatchObject({ person: 'bob' })
  await expectError(me(desktop), 'not-in-team')
})

test('[TEA24] what is shared is listed as it was said, and changed by saying it again', async () => {
  const place = await openPlace()
  await place.addMachine({ person: 'bob' })
  await withBook(place.admin, async (book) => {
    const to = { person: 'bob' }
    await book.share({ kind: 'workdir', workdir: '/work/shop//', with: to, may: 'answer' })
    await book.share({ kind: 'session', session: 's', with: 'everybody' })
    await book.share({ kind: 'session', session: 's', with: 'everybody', may: 'answer' })
    await book.share({ kind: 'everything', with: to, may: 'read' })
    expect(await book.shares()).toEqual([
      { kind: 'everything', with: to, may: 'read' },
      { kind: 'session', session: 's', with: 'everybody', may: 'answer' },
      { kind: 'workdir', workdir: '/work/shop', with: to, may: 'answer' },
    ])
    await book.unshare({ kind: 'everything', with: to })
    expect(await book.shares()).toHaveLength(2)
    await expectError(book.share({ kind: 'workdir', workdir: '/', with: to }), 'request-invalid')
    await expectError(book.share({ kind: 'everything', with: { person: 'nobody' } }), 'request-invalid')
  })
})

test('[TEA24] sessions that begin in a folder while it is shared, and taken back, are seen as the last word says', async () => {
  const place = await openPlace()
  const [ada, bob] = [
    await openTeamLog({ address: place.admin, most: 6 }),
    await openTeamLog({ address: await place.addMachine({ person: 'bob' }) }),
  ]
  await withBook(place.admin, async (book) => {
    const folder = { kind: 'workdir', workdir: '/work', with: { person: 'bob' } } as const
    for (let round = 0; round < 6; round++) {
      const begin = Array.from({ length: 5 }, (_, n) =>
        ada.putFile({
          identity: `${round} ${n}`,
          kind: 'transcript',
          path: `/${round}-${n}`,
          session: `${round} ${n}`,
          workdir: '/work/shop',
          scope: 'private',
        }),
      )
      await Promise.all([...begin, round % 2 === 0 ? book.share(folder) : book.unshare(folder)])
      const seen = await bob.files({ kind: 'transcript', limit: 100 })
      expect(seen).toHaveLength(round % 2 === 0 ? (round + 1) * 5 : 0)
    }
  })
  await Promise.all([ada.close(), bob.close()])
})

test('[TEA25] who listens is told when it may have changed what he may see', async () => {
  const place = await openPlace()
  const log = await openTeamLog({ address: await place.addMachine({ person: 'bob' }) })
  let told = 0
  const listening = log.listen({ after: 0, pollMs: 20_000, onNews: () => {}, onAccess: () => void told++ })
  await expect.poll(() => told).toBe(1)
  const ada = await openTeamLog({ address: place.admin })
  const file = { identity: 'f', kind: 'transcript', path: '/f', session: 's', workdir: '/one' } as const
  const everything = { kind: 'everything', with: { person: 'bob' } } as const
  await withBook(place.admin, async (book) => {
    const changes: readonly (() => Promise<unknown>)[] = [
      () => book.share(everything),
      () => book.share({ ...everything, may: 'answer' }),
      () => book.unshare(everything),
      () => book.setRole('bob', 'viewer'),
      async () => {
        await ada.putFile({ ...file, scope: 'private' })
        await ada.putFile({ ...file, scope: 'team' })
      },
      // The session goes on in another folder, which may be one that is shared.
      () => ada.putFile({ ...file, scope: 'team', workdir: '/two' }),
    ]
    for (const [n, change] of changes.entries()) {
      await change()
      await expect.poll(() => told).toBe(n + 2)
    }
  })
  // The connection breaks: something may have been missed.
  await place.say("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'")
  await expect.poll(() => told).toBe(8)
  await listening.close()
  await Promise.all([log.close(), ada.close()])
})

test('[TEA30] a file in the log says where it stands, of what it is a clone, and how far it is there', async () => {
  const place = await openPlace()
  const log = await openTeamLog({ address: place.admin })
  const file = {
    identity: 'f',
    kind: 'side',
    path: '/home/ada/.claude/projects/p/f.jsonl',
    place: 'projects/p/f.jsonl',
    remote: 'https://example.org/shop.git',
    scope: 'private',
  } as const
  const number = await log.putFile(file)
  expect(await log.findFile(number)).toMatchObject({
    ...file,
    size: 0,
    machine: "ada's machine",
    owner: 'ada',
  })
  const lines = ['one\n', 'two\n', 'three\n'].map((text, n) => ({
    file: number,
    offset: n * 4,
    bytes: Buffer.from(text),
  }))
  await log.append(lines.slice(0, 2))
  expect((await log.findFile(number))?.size).toBe(8)
  await log.append(lines)
  await log.append(lines.slice(0, 1))
  expect(await log.files({ kind: 'side', limit: 9 })).toMatchObject([{ ...file, number, size: 14 }])
  await log.close()
})
