import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { createIndexer, type IndexTask } from '#ingest'
import type { Change, Store } from '#store'
import { openPostgresServer, openTeamPlace, type PostgresServer, type TeamPlace } from '#testing'

/** A server as somebody would run it: what is acknowledged is on disk. */
const SETTINGS = {
  fsync: 'on',
  shared_buffers: '1GB',
  work_mem: '32MB',
  maintenance_work_mem: '256MB',
  max_wal_size: '4GB',
  max_connections: '200',
} as const

/** A real PostgreSQL with a team in it. */
export interface TeamGround {
  readonly server: PostgresServer
  readonly place: TeamPlace
  close(): Promise<void>
}

export async function openTeamGround(): Promise<TeamGround> {
  const server = await openPostgresServer({ settings: SETTINGS })
  const place = await openTeamPlace(server)
  return { server, place, close: () => server.close() }
}

/** A line of the corpus, where it stands. */
export interface CorpusLine {
  readonly path: string
  readonly offset: number
  readonly bytes: Buffer
}

/** Lines of transcripts, up to so many bytes: whole files, in the order of their names. */
export function readCorpusLines(configDir: string, most: number): readonly CorpusLine[] {
  const lines: CorpusLine[] = []
  let total = 0
  for (const path of transcriptsBelow(configDir)) {
    if (total >= most) break
    const bytes = readFileSync(path)
    for (let from = 0; from < bytes.length;) {
      const end = bytes.indexOf(10, from)
      const to = end < 0 ? bytes.length : end + 1
      lines.push({ path, offset: from, bytes: bytes.subarray(from, to) })
      from = to
    }
    total += bytes.length
  }
  return lines
}

/** Every transcript, as the index is told of it. */
export function toCorpusTasks(configDir: string): readonly IndexTask[] {
  return transcriptsBelow(configDir).map((path) => ({
    path,
    agent: 'claude',
    session: path.replace(/^.*\/([^/]+)\.jsonl$/, '$1'),
    createdAt: '',
  }))
}

function transcriptsBelow(dir: string): readonly string[] {
  return readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.jsonl'))
    .map((name) => join(dir, name))
    .filter((path) => statSync(path).isFile())
    .toSorted()
}

/** Reads transcripts into a store. How many entries there were. */
export async function indexInto(
  store: Pick<Store, 'files' | 'apply'>,
  tasks: readonly IndexTask[],
  origin: string,
): Promise<number> {
  let entries = 0
  let failure: unknown
  const indexer = createIndexer({
    store: {
      files: () => store.files(),
      async apply(changes) {
        for (const change of changes) if (change.kind === 'advance') entries += change.entries.length
        return await store.apply(changes)
      },
    },
    origin,
    batch: 1_000_000,
    onFailure(error) {
      failure = error
    },
  })
  await indexer.sync(tasks)
  await indexer.settled()
  await indexer.stop()
  if (failure !== undefined) throw failure
  return entries
}

export type Advance = Extract<Change, { kind: 'advance' }>

/** What the index is told of transcripts, in memory: to be told again and again. */
export async function captureAdvances(tasks: readonly IndexTask[]): Promise<readonly Advance[]> {
  const advances: Advance[] = []
  await indexInto(
    {
      files: () => Promise.resolve([]),
      apply(changes) {
        for (const change of changes) if (change.kind === 'advance') advances.push(change)
        return Promise.resolve({ rows: 0, newest: 0 })
      },
    },
    tasks,
    'nowhere',
  )
  return advances
}

/** Who the machine of an address is. */
export async function originOf(place: TeamPlace, user: string): Promise<string> {
  const [row] = await place.say<{ key: string }>(
    `SELECT origin.key FROM origin JOIN login ON login.team = origin.team AND login.origin = origin.id
     WHERE login.name = $1`,
    [user],
  )
  return row?.key ?? ''
}
