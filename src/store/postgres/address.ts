import { ThroughlineError } from '#base'

/** Where a database is. The password is in it and comes out only where a connection is made. */
export interface PostgresAddress {
  /** For people: who, where, which database. Never the password. */
  readonly shown: string
  /** As it was given. A function, so that nothing that prints or stores the address can take it along. */
  readonly reveal: () => string
}

/** Reads `postgres://user:password@host:port/database`. What is wrong with it is said without repeating it. */
export function toPostgresAddress(text: string): PostgresAddress {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || (url.protocol !== 'postgres:' && url.protocol !== 'postgresql:')) {
    throw invalid('the address of the store is not one of a PostgreSQL database')
  }
  const database = decode(url.pathname.slice(1))
  if (database === '' || database.includes('/')) throw invalid('the address of the store names no database')
  const user = decode(url.username)
  const host = url.hostname === '' ? (url.searchParams.get('host') ?? 'localhost') : url.hostname
  const port = url.port === '' ? '' : `:${url.port}`
  const shown = `postgres://${user === '' ? '' : `${user}@`}${host}${port}/${database}`
  return { shown, reveal: () => text }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw invalid('the address of the store has a % that stands for nothing')
  }
}

function invalid(message: string): ThroughlineError {
  return new ThroughlineError('config-invalid', message, {
    hint: 'Write postgres://user:password@host:5432/database, with %40 for an @ in the password.',
  })
}
