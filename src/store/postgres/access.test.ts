import * as fc from 'fast-check'
import { Client } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TeamShare } from '#model'
import {
  advance,
  billRow,
  entryRow,
  expectError,
  fileRow,
  findAll,
  openPostgresServer,
  openTeamPlace,
  runs,
  type PostgresServer,
} from '#testing'
import { toQuery } from '../query.ts'
import type { Store } from '../store.ts'
import { openPostgresStore } from './open.ts'
import { openTeamBook } from './open-team-book.ts'
import { openTeamLog } from './open-team-log.ts'
import type { TeamBook } from './team-book.ts'
import type { LogFile, Scope, TeamLog } from './team-log.ts'

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
  readonly kind: LogFile['kind']
  readonly scope: Scope
  readonly session: string
  readonly workdir: string | undefined
  readonly number: number
}

interface Desk {
  readonly log: TeamLog
  readonly store: Store
  readonly book: TeamBook
  /** The same login, and nothing of our code. */
  readonly sql: Client
}

const files = fc.array(
  fc.record({
    owner: fc.constantFrom(...PEOPLE),
    kind: fc.constantFrom<LogFile['kind']>('transcript', 'transcript', 'side', 'document', 'audit'),
    scope: fc.constantFrom<Scope>('private', 'private', 'workdir', 'team'),
    session: fc.constantFrom('s1', 's2'),
    workdir: fc.constantFrom('/w1', '/w1/below', '/w10', undefined),
    /** Whether the index knows it before the log does. */
    indexedFirst: fc.boolean(),
  }),
  { minLength: 1, maxLength: 6 },
)
const shares = fc.array(
  fc.record({
    owner: fc.constantFrom(...PEOPLE),
    kind: fc.constantFrom('session' as const, 'workdir' as const, 'everything' as const),
    session: fc.constantFrom('s1', 's2'),
    workdir: fc.constantFrom('/w1', '/w1/below', '/w10'),
    reader: fc.constantFrom('ada', 'bob', 'eve', 'everybody'),
    isTakenBack: fc.boolean(),
    /** Whether it is shared before there is anything. */
    isFirst: fc.boolean(),
  }),
  { maxLength: 6 },
)
type Given = typeof shares extends fc.Arbitrary<infer T> ? T : never

function toShare({ kind, session, workdir, reader }: Given[number]): TeamShare {
  const to = { with: reader === 'everybody' ? reader : { person: reader } } as const
  if (kind === 'session') return { ...to, kind, session }
  return kind === 'workdir' ? { ...to, kind, workdir } : { ...to, kind }
}

const keyOf = (share: Given[number]): string => JSON.stringify([share.owner, toShare(share)])

/** What a person may see, said once more, in another way. */
function maySee(person: Person, file: Made, { all, given }: { all: readonly Made[]; given: Given }): boolean {
  if (file.owner === person || file.scope === 'team') return true
  if ((file.kind === 'document' || file.kind === 'audit') && file.scope === 'private') return false
  const taken = new Set(given.filter(({ isTakenBack }) => isTakenBack).map(keyOf))
  const folders = all
    .filter(({ owner, session }) => owner === file.owner && session === file.session)
    .flatMap(({ workdir }) => workdir ?? [])
  return given.some(
    (share) =>
      !taken.has(keyOf(share)) &&
      share.owner === file.owner &&
      (share.reader === person || share.reader === 'everybody') &&
      (share.kind === 'everything' ||
        (share.kind === 'session' && share.session === file.session) ||
        (share.kind === 'workdir' && folders.some((folder) => `${folder}/`.startsWith(`${share.workdir}/`)))),
  )
}

/** What somebody sees, asked in every way there is. */
async function seenBy(
  { log, store, sql }: Desk,
  all: readonly Made[],
): Promise<Record<string, readonly string[]>> {
  const { lines } = await log.readAfter(0)
  const news = await store.search({ query: toQuery('lemon', 0), limit: 100, newerThan: 0 })
  const pages: string[] = []
  const known: string[] = []
  const listed: string[] = []
  for (const { number, path, kind } of all) {
    if ((await log.findFile(number)) !== undefined) known.push(path)
    const page = await log.readPage({ file: number, from: 0, bytes: 10 }).catch(() => undefined)
    if (page?.lines.length === 1) pages.push(path)
    if ((await log.files({ kind, limit: 100 })).some((file) => file.number === number)) listed.push(path)
  }
  const totals = await store.totals()
  const hits = await findAll(store, 'lemon')
  const { total } = await store.search({ query: toQuery('lemon', 0), limit: 1 })
  expect(total.count).toBe(hits.length)
  expect(new Set(totals.map(({ session }) => session))).toEqual(new Set(hits.map(({ session }) => session)))
  const sum = totals.reduce((added, { usage }) => added + usage.output, 0)
  expect(sum).toBe([...(await store.bills())].reduce((added, { usage }) => added + usage.output, 0))
  const said = async (query: string): Promise<readonly string[]> =>
    (await sql.query<{ path: string }>(query)).rows.map(({ path }) => path)
  const paths = (found: readonly { path: string }[]): readonly string[] =>
    found.map(({ path }) => path).toSorted()
  return {
    lines: all.filter(({ number }) => lines.some(({ file }) => file === number)).map(({ path }) => path),
    known,
    pages,
    listed,
    'lines in SQL': await said(
      'SELECT path FROM log_line JOIN log_file AS f ON f.team = log_line.team AND f.id = log_line.file ORDER BY path',
    ),
    'index: hits': paths(hits),
    'index: facets': paths(await findAll(store, 'agent:claude')),
    'index: newest': paths(await findAll(store, 'speaker:human')),
    'index: news': paths(news.hits),
    'index: bills': paths([...(await store.bills())]),
    'index: files in SQL': await said('SELECT path FROM file ORDER BY path'),
    'index: entries in SQL': await said(
      'SELECT path FROM entry JOIN file ON file.team = entry.team AND file.id = entry.file ORDER BY path',
    ),
    'index: texts in SQL': await said(
      `SELECT path FROM entry_text AS t JOIN file ON file.team = t.team AND file.id = t.file
       WHERE lexemes @@ 'lemon' ORDER BY path`,
    ),
    'index: bills in SQL': await said(
      'SELECT path FROM bill JOIN file ON file.team = bill.team AND file.id = bill.file ORDER BY path',
    ),
  }
}

let teams = 0

async function openDesks(): Promise<ReadonlyMap<Person | 'stranger', Desk>> {
  const team = `team-${++teams}`
  const desks = new Map<Person | 'stranger', Desk>()
  const place = await openTeamPlace(server, { url, team })
  const other = await openTeamPlace(server, { url, team: `${team}-b` })
  for (const person of [...PEOPLE, 'stranger' as const]) {
    const address = await (person === 'stranger' ? other : place).addMachine({ person })
    const sql = new Client({ connectionString: address.reveal(), options: '-c search_path=throughline' })
    sql.on('error', () => {})
    await sql.connect()
    desks.set(person, {
      log: await openTeamLog({ address, most: 2 }),
      store: await openPostgresStore({ address, most: 2 }),
      book: await openTeamBook({ address, most: 1 }),
      sql,
    })
  }
  return desks
}

async function closeAll(desks: ReadonlyMap<string, Desk>): Promise<void> {
  for (const { log, store, book, sql } of desks.values()) {
    await Promise.all([log.close(), store.close(), book.close(), sql.end()])
  }
}

test('[TEA14] [TEA24] whatever is private or shared, every way of asking shows a person what he may see, and nothing else', async () => {
  await fc.assert(
    fc.asyncProperty(files, shares, async (wanted, given) => {
      const desks = await openDesks()
      const all: Made[] = []
      for (const share of given) {
        if (share.isFirst) await desks.get(share.owner)?.book.share(toShare(share))
      }
      for (const [n, { indexedFirst, ...file }] of wanted.entries()) {
        const desk = desks.get(file.owner)
        if (desk === undefined) continue
        const path = `/f${n}`
        const { origin } = desk.log.self
        const index = async (): Promise<void> => {
          // Only what is said in sessions is searched.
          if (file.kind !== 'transcript') return
          const row = fileRow(path, { origin, session: file.session, workdirs: [] })
          const bills = [billRow(`m${n}`, { output: 2 ** n })]
          await desk.store.apply([advance(row, [entryRow('lemon')], { bills })])
        }
        if (indexedFirst) await index()
        const number = await desk.log.putFile({ ...file, identity: path, path })
        await desk.log.append([{ file: number, offset: 0, bytes: Buffer.from('lemon\n') }])
        if (!indexedFirst) await index()
        all.push({ ...file, path, number })
      }
      for (const share of given) {
        if (!share.isFirst) await desks.get(share.owner)?.book.share(toShare(share))
      }
      for (const share of given)
        if (share.isTakenBack) await desks.get(share.owner)?.book.unshare(toShare(share))
      for (const [person, desk] of desks) {
        const mine = person === 'stranger' ? [] : all.filter((file) => maySee(person, file, { all, given }))
        for (const [way, paths] of Object.entries(await seenBy(desk, all))) {
          const expected = way.startsWith('index') ? mine.filter(({ kind }) => kind === 'transcript') : mine
          expect([person, way, paths]).toEqual([person, way, expected.map(({ path }) => path)])
        }
      }
      await closeAll(desks)
    }),
    runs(6),
  )
}, 600_000)

test('[TEA14] who may see a file changes at once for what is found of it, too', async () => {
  const desks = await openDesks()
  const [ada, bob] = [desks.get('ada'), desks.get('bob')]
  if (ada === undefined || bob === undefined) return
  const { origin } = ada.log.self
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
  await closeAll(desks)
})

test('[TEA29] a search reads the texts that may have its words, and not all there are', async () => {
  const desks = await openDesks()
  const [ada, bob] = [desks.get('ada'), desks.get('bob')]
  if (ada === undefined || bob === undefined) return
  for (const { store, log } of [ada, bob]) {
    const { origin } = log.self
    const rows = Array.from({ length: 3000 }, (_, n) =>
      entryRow(`common words ${n} ${n % 500 === 0 ? 'citronella' : 'tree'}`, { offset: n }),
    )
    await store.apply([advance(fileRow('/f', { origin }), rows)])
    await store.tidy()
  }
  expect(await findAll(ada.store, 'citronella')).toHaveLength(6)
  const asked = {
    candidates: "'citronella'",
    isExact: true,
    clauses: [{ pieces: [' citronella '], not: false }],
    forms: [' citronella '],
    choices: [],
    tools: [],
    flags: [],
  }
  /** What the server knew of its tables when it planned: a failure has to say it. */
  const statistics = async (): Promise<unknown> => {
    const owner = new Client(url)
    await owner.connect()
    const { rows } = await owner.query(
      `SELECT relname, reltuples, relpages, last_analyze, last_autoanalyze, n_mod_since_analyze
       FROM pg_class JOIN pg_stat_user_tables USING (relname) WHERE relname LIKE 'entry%'`,
    )
    await owner.end()
    return rows
  }
  // Tidied right after it was filled: the server's own count of changes is seconds late by then.
  expect(await statistics()).toContainEqual(
    expect.objectContaining({
      relname: 'entry_text',
      reltuples: expect.toSatisfy((count: number) => count >= 6000),
    }),
  )
  const ways = [
    `SELECT * FROM search_rank('${JSON.stringify(asked).replaceAll("'", "''")}', 0, '{1}', 4, 20, 0)`,
    `SELECT search_count('${JSON.stringify(asked).replaceAll("'", "''")}', 0, 0)`,
  ]
  for (const way of ways) {
    await ada.sql.query('BEGIN')
    await ada.sql.query(way)
    const { rows } = await ada.sql.query(
      `SELECT seq_tup_read::int AS looked_through, coalesce(idx_tup_fetch, 0)::int AS fetched
       FROM pg_stat_xact_user_tables WHERE schemaname = 'throughline' AND relname = 'entry_text'`,
    )
    await ada.sql.query('ROLLBACK')
    // Six of hers, and six of another that are thrown away, for each way; not six thousand.
    const [counted] = rows as readonly { readonly looked_through: number; readonly fetched: number }[]
    expect({
      ...counted,
      isFew: (counted?.fetched ?? Infinity) <= 24,
      known: await statistics(),
    }).toMatchObject({
      looked_through: 0,
      isFew: true,
    })
  }
  // Said in plain SQL it is right, too, and slow: the policy is asked first, of every text.
  const plan = await ada.sql.query(
    "EXPLAIN SELECT 1 FROM entry_text WHERE tier = 0 AND lexemes @@ 'citronella'",
  )
  expect(JSON.stringify(plan.rows)).not.toContain('entry_text_said')
  await closeAll(desks)
})
