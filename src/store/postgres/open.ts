import { ThroughlineError } from '#base'
import type { IndexedFile, Store } from '../store.ts'
import type { Spent } from '../usage.ts'
import type { PostgresAddress } from './address.ts'
import { applyChanges } from './apply.ts'
import { readBills, readTotals } from './bills.ts'
import { fromColumn, fromColumnOrNone } from './column-text.ts'
import { openConnections, SCHEMA, type Connection, type ConnectionOptions } from './connection.ts'
import { stringsIn } from './filter.ts'
import { enterTeam, type Entered } from './members.ts'
import { findEntries } from './search.ts'
import { readSpent } from './spent.ts'
import { createSizes } from './weight.ts'

export interface PostgresOptions extends ConnectionOptions {
  /** Of the machine: it writes its own files and no others, and finds what its person may see. */
  readonly address: PostgresAddress
  /** `others`: what this machine has itself is not found, neither in hits nor in totals and bills. */
  readonly finds?: 'others' | undefined
}

/** The index of a team. */
export interface PostgresStore extends Store {
  /** What the person who asks has used on all of his machines. */
  spent(): Promise<readonly Spent[]>
}

/** The index of a team in its database, for the machine whose login the address has. */
export async function openPostgresStore(options: PostgresOptions): Promise<PostgresStore> {
  const { schema = SCHEMA } = options
  const which = { others: options.finds === 'others' }
  const connections = await openConnections(options)
  try {
    const entered = await enterTeam(connections, schema)
    const epoch = await readEpoch(connections)
    const sizes = createSizes(connections)
    return {
      epoch,
      async newest() {
        const [row] = await connections.query<{ highest: number }>('SELECT highest FROM index_state')
        return row?.highest ?? 0
      },
      files: () => readFiles(connections, entered),
      async apply(changes) {
        const applied = await applyChanges(connections, changes, entered)
        sizes.reset()
        return applied
      },
      search: (request) => findEntries(connections, request, { sizes, ...which }),
      totals: (sessions) => readTotals(connections, sessions, which),
      bills: () => readBills(connections, which),
      spent: () => readSpent(connections),
      size: () => readSize(connections),
      verify: () => verify(connections),
      tidy: () => tidy(connections),
      close: () => connections.close(),
    }
  } catch (error) {
    await connections.close()
    throw error
  }
}

async function readEpoch(connection: Connection): Promise<string> {
  const [row] = await connection.query<{ epoch: string }>('SELECT epoch FROM index_state')
  if (row !== undefined) return row.epoch
  throw new ThroughlineError('index-unavailable', 'the index in the database has no name', {
    hint: 'Its tables were emptied by somebody. Let the owner of the database start the team again.',
  })
}

interface FileColumns {
  readonly path: string
  readonly agent: string
  readonly session: string
  readonly subagent: string | null
  readonly created: string
  readonly workdirs: string
  readonly offset: number
  readonly guard: string
  readonly seen: string
  readonly fold: string
}

async function readFiles(
  connection: Connection,
  { team, origin, self }: Entered,
): Promise<readonly IndexedFile[]> {
  const rows = await connection.query<FileColumns>(
    `SELECT path, agent, session, subagent, created, workdirs, "offset", guard, seen, fold FROM file
     WHERE team = $1 AND origin = $2`,
    [team, origin],
  )
  return rows.map((row) => ({
    path: fromColumn(row.path),
    origin: self.origin,
    agent: fromColumn(row.agent),
    session: fromColumn(row.session),
    subagent: fromColumnOrNone(row.subagent),
    createdAt: fromColumn(row.created),
    workdirs: stringsIn(row.workdirs),
    offset: row.offset,
    guard: fromColumn(row.guard),
    seen: fromColumn(row.seen),
    fold: fromColumn(row.fold),
  }))
}

async function readSize(connection: Connection): Promise<number> {
  const [row] = await connection.query<{ size: number }>(
    `SELECT sum(pg_total_relation_size(name::regclass))::bigint AS size
     FROM unnest(ARRAY['file', 'entry', 'entry_text', 'bill']) AS name`,
  )
  return row?.size ?? 0
}

async function verify(connection: Connection): Promise<readonly string[]> {
  const faults = await connection.query<{ says: string }>('SELECT says FROM index_faults() AS says')
  return faults.map(({ says }) => `there are ${says}`)
}

/** Puts what was added lately where it is found faster. The server would do it by itself some time later. */
async function tidy(connection: Connection): Promise<boolean> {
  const [row] = await connection.query<{ pages: number }>('SELECT tidy_index() AS pages')
  return (row?.pages ?? 0) > 0
}
