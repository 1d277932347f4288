import type { PoolClient, PoolConfig, QueryResult } from 'pg'
import type { PostgresAddress } from './address.ts'
import { toDatabaseError } from './failure.ts'

/** What a column may be given. */
export type Value = string | number | boolean | null | Buffer | readonly (string | number | boolean | null)[]

/** A row, as it comes. Whoever asks says in SQL what it has. */
type Row = Readonly<Record<string, unknown>>

/** Something that SQL can be said to. Errors are ours, with a next step. */
export interface Connection {
  query<T extends object = Row>(sql: string, values?: readonly Value[]): Promise<readonly T[]>
  /** How many rows it changed. */
  run(sql: string, values?: readonly Value[]): Promise<number>
}

/** Connections to one database, opened as they are needed. */
export interface Connections extends Connection {
  readonly address: PostgresAddress
  /** All of it or nothing. */
  transact<T>(work: (connection: Connection) => Promise<T>): Promise<T>
  /** A connection for as long as it is wanted: for listening. */
  take(): Promise<TakenConnection>
  close(): Promise<void>
}

export interface TakenConnection extends Connection {
  onNotification(told: (payload: string) => void): void
  onEnd(told: () => void): void
  /** Not given back: whoever listened on it is not wanted by anybody else. */
  release(): void
}

export interface ConnectionOptions {
  readonly address: PostgresAddress
  /** The schema in which everything is. */
  readonly schema?: string | undefined
  /** How many at most. */
  readonly most?: number | undefined
  /** How long one statement may take. */
  readonly statementMs?: number | undefined
  /** How long a connection may take to come about. */
  readonly connectMs?: number | undefined
}

export const SCHEMA = 'throughline'
const STATEMENT_MS = 30_000
const CONNECT_MS = 10_000

/** Makes ready to connect; nothing is asked of the server yet. `pg` is loaded here and nowhere else. */
export async function openConnections(options: ConnectionOptions): Promise<Connections> {
  const { address } = options
  const { Pool, types } = await import('pg')
  const pool = new Pool(toConfig(options, types))
  // A connection breaks when the server stops, whether somebody uses it or not: who does is told by what he asked, and
  // the next one is a new one. Without a listener, on the pool and on each of them, the process would end.
  pool.on('error', () => {})
  pool.on('connect', (made) => made.on('error', () => {}))
  let closed: Promise<void> | undefined

  async function client(): Promise<PoolClient> {
    try {
      return await pool.connect()
    } catch (error) {
      throw toDatabaseError(error, address)
    }
  }

  return {
    address,
    ...toConnection(pool, address),
    async transact(work) {
      const taken = await client()
      const connection = toConnection(taken, address)
      let failure: unknown
      try {
        await connection.run('BEGIN')
        const result = await work(connection)
        await connection.run('COMMIT')
        return result
      } catch (error) {
        failure = error
        await taken.query('ROLLBACK').catch(() => {})
        throw error
      } finally {
        // A connection on which something failed may be broken, or in a state that nobody knows.
        taken.release(failure !== undefined)
      }
    },
    async take() {
      const taken = await client()
      let isOver = false
      const listeners: (() => void)[] = []
      const end = (): void => {
        if (isOver) return
        isOver = true
        for (const listener of listeners) listener()
      }
      taken.on('error', end)
      taken.on('end', end)
      return {
        ...toConnection(taken, address),
        onNotification: (told) => taken.on('notification', ({ payload }) => told(payload ?? '')),
        onEnd: (told) => {
          listeners.push(told)
        },
        release: () => taken.release(true),
      }
    },
    close() {
      closed ??= pool.end()
      return closed
    },
  }
}

function toConfig(options: ConnectionOptions, types: typeof import('pg').types): PoolConfig {
  const { address, schema = SCHEMA, most = 4 } = options
  const { statementMs = STATEMENT_MS, connectMs = CONNECT_MS } = options
  return {
    connectionString: address.reveal(),
    max: most,
    application_name: 'throughline',
    connectionTimeoutMillis: connectMs,
    statement_timeout: statementMs,
    // The server ends a statement that takes too long; where the server is not heard of any more, we do.
    query_timeout: statementMs + connectMs,
    idle_in_transaction_session_timeout: statementMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    // What we ask is short; to compile it would take longer.
    options: `-c search_path=${quoted(schema)},public -c jit=off`,
    types: {
      // Numbers of ours stay below 2^53.
      getTypeParser: (oid: number, format?: 'text' | 'binary') =>
        oid === INT8 && format !== 'binary' ? Number : types.getTypeParser(oid, format),
    },
  }
}

const INT8 = 20

/** A name in SQL. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

/** What a pool and one of its connections have in common. */
interface Asked {
  query(sql: string, values: Value[]): Promise<QueryResult>
}

function toConnection(via: Asked, address: PostgresAddress): Connection {
  async function ask(sql: string, values: readonly Value[]): Promise<QueryResult> {
    try {
      return await via.query(sql, [...values])
    } catch (error) {
      throw toDatabaseError(error, address)
    }
  }
  return {
    async query<T extends object = Row>(sql: string, values: readonly Value[] = []) {
      // What a row has is said by the SQL that stands beside its type.
      const { rows }: QueryResult<T> = await ask(sql, values)
      return rows
    },
    async run(sql, values = []) {
      return (await ask(sql, values)).rowCount ?? 0
    },
  }
}
