import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  advance,
  billRow,
  entryRow,
  expectError,
  fileRow,
  findAll,
  openPostgresServer,
  runs,
  type PostgresServer,
} from '#testing'
import { toQuery } from '../query.ts'
import type { Store } from '../store.ts'
import { toPostgresAddress } from './address.ts'
import { openPostgresStore } from './open.ts'
import { openTeamLog } from './open-team-log.ts'
import type { Scope, Share, TeamLog } from './team-log.ts'

let server: PostgresServer
let url: string

beforeAll(async () => {
  server = await openPostgresServer()
  url = await server.createDatabase()
})
afterAll(() => server?.close())

const PEOPLE = ['ada', 'bob', 'eve'] as const
type Person = (typeof PEOPLE)[number]

interface Made {
  readonly path: string
  readonly owner: Person
  readonly scope: Scope
  readonly session: string
  readonly workdir: string | undefined
  readonly number: number
}

interface Desk {
  readonly log: TeamLog
  readonly store: Store
}

const files = fc.array(
  fc.record({
    owner: fc.constantFrom(...PEOPLE),
    scope: fc.constantFrom<Scope>('private', 'workdir', 'team'),
    session: fc.constantFrom('s1', 's2'),
    workdir: fc.constantFrom('/w1', '/w2', undefined),
    /** Whether the index knows it before the log does. */
    indexedFirst: fc.boolean(),
  }),
  { minLength: 1, maxLength: 6 },
)
const shares = fc.array(
  fc.record({
    owner: fc.constantFrom(...PEOPLE),
    kind: fc.constantFrom('session' as const, 'workdir' as const),
    name: fc.constantFrom('s1', 's2', '/w1', '/w2'),
    reader: fc.constantFrom('ada', 'bob', 'eve', 'everybody'),
    isTakenBack: fc.boolean(),
  }),
  { maxLength: 5 },
)
type Given = typeof shares extends fc.Arbitrary<infer T> ? T : never

/** What a person may see, said once more, in another way. */
function maySee(person: Person, file: Made, given: Given): boolean {
  if (file.owner === person || file.scope === 'team') return true
  const taken = new Set(given.filter(({ isTakenBack }) => isTakenBack).map(keyOf))
  return given.some(
    (share) =>
      !taken.has(keyOf(share)) &&
      share.owner === file.owner &&
      (share.reader === person || share.reader === 'everybody') &&
      (share.kind === 'session'
        ? share.name === file.session
        : file.scope === 'workdir' && share.name === file.workdir),
  )
}

const keyOf = ({ owner, kind, name, reader }: Given[number]): string => `${owner} ${kind} ${name} ${reader}`

/** What somebody sees, asked in every way there is. */
async function seenBy(
  { log, store }: Desk,
  all: readonly Made[],
): Promise<Record<string, readonly string[]>> {
  const { lines } = await log.readAfter(0)
  const news = await store.search({ query: toQuery('lemon', 0), limit: 100, newerThan: 0 })
  const pages: string[] = []
  const known: string[] = []
  for (const { number, path } of all) {
    if ((await log.findFile(number)) !== undefined) known.push(path)
    const page = await log.readPage({ file: number, from: 0, bytes: 10 }).catch(() => undefined)
    if (page?.lines.length === 1) pages.push(path)
  }
  const totals = await store.totals()
  const hits = await findAll(store, 'lemon')
  const { total } = await store.search({ query: toQuery('lemon', 0), limit: 1 })
  expect(total.count).toBe(hits.length)
  expect(new Set(totals.map(({ session }) => session))).toEqual(new Set(hits.map(({ session }) => session)))
  const sum = totals.reduce((added, { usage }) => added + usage.output, 0)
  expect(sum).toBe([...(await store.bills())].reduce((added, { usage }) => added + usage.output, 0))
  return {
    lines: all.filter(({ number }) => lines.some(({ file }) => file === number)).map(({ path }) => path),
    known,
    pages,
    listed: (await log.files({ kind: 'transcript', limit: 100 })).map(({ path }) => path),
    hits: hits.map(({ path }) => path).toSorted(),
    facets: (await findAll(store, 'workdir:/work agent:claude')).map(({ path }) => path).toSorted(),
    newest: (await findAll(store, 'speaker:human')).map(({ path }) => path).toSorted(),
    news: news.hits.map(({ path }) => path).toSorted(),
    bills: [...(await store.bills())].map(({ path }) => path).toSorted(),
  }
}

let teams = 0

async function openDesks(): Promise<ReadonlyMap<Person | 'stranger', Desk>> {
  const team = `team-${++teams}`
  const desks = new Map<Person | 'stranger', Desk>()
  for (const person of [...PEOPLE, 'stranger' as const]) {
    const member = { team: person === 'stranger' ? `${team}-b` : team, person, origin: `${person}@${team}` }
    const address = toPostgresAddress(url)
    desks.set(person, {
      log: await openTeamLog({ address, ...member, most: 2 }),
      store: await openPostgresStore({ address, member, most: 2 }),
    })
  }
  return desks
}

test('[TEA14] whatever is private or shared, every way of asking shows a person what he may see, and nothing else', async () => {
  await fc.assert(
    fc.asyncProperty(files, shares, async (wanted, given) => {
      const desks = await openDesks()
      const all: Made[] = []
      for (const [n, { indexedFirst, ...file }] of wanted.entries()) {
        const desk = desks.get(file.owner)
        if (desk === undefined) continue
        const path = `/f${n}`
        const origin = `${file.owner}@team-${teams}`
        const index = (): Promise<unknown> =>
          desk.store.apply([
            advance(
              fileRow(path, { origin, session: file.session, workdirs: ['/work'] }),
              [entryRow('lemon')],
              { bills: [billRow(`m${n}`, { output: 2 ** n })] },
            ),
          ])
        if (indexedFirst) await index()
        const number = await desk.log.putFile({ ...file, identity: path, kind: 'transcript', path })
        await desk.log.append([{ file: number, offset: 0, bytes: Buffer.from('lemon\n') }])
        if (!indexedFirst) await index()
        all.push({ ...file, path, number })
      }
      const toShare = ({ kind, name, reader }: Given[number]): Share => ({
        kind,
        name,
        reader: reader === 'everybody' ? reader : { person: reader },
      })
      for (const share of given) await desks.get(share.owner)?.log.share(toShare(share))
      for (const share of given)
        if (share.isTakenBack) await desks.get(share.owner)?.log.unshare(toShare(share))
      for (const [person, desk] of desks) {
        const expected =
          person === 'stranger'
            ? []
            : all.filter((file) => maySee(person, file, given)).map(({ path }) => path)
        for (const [way, paths] of Object.entries(await seenBy(desk, all))) {
          expect([person, way, paths]).toEqual([person, way, expected])
        }
      }
      for (const { log, store } of desks.values()) await Promise.all([log.close(), store.close()])
    }),
    runs(6),
  )
}, 120_000)

test('[TEA14] who may see a file changes at once for what is found of it, too', async () => {
  const desks = await openDesks()
  const [ada, bob] = [desks.get('ada'), desks.get('bob')]
  if (ada === undefined || bob === undefined) return
  const origin = `ada@team-${teams}`
  await ada.store.apply([advance(fileRow('/f', { origin }), [entryRow('lemon')])])
  const file = { identity: 'f', kind: 'transcript', path: '/f', session: 's' } as const
  for (const [scope, hits] of [
    ['private', 0],
    ['team', 1],
    ['private', 0],
  ] as const) {
    await ada.log.putFile({ ...file, scope })
    expect(await findAll(bob.store, 'lemon')).toHaveLength(hits)
  }
  await expectError(bob.store.apply([advance(fileRow('/f', { origin }), [])]), 'not-allowed')
  for (const { log, store } of desks.values()) await Promise.all([log.close(), store.close()])
})
