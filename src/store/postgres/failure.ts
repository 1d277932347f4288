import { string, ThroughlineError } from '#base'
import type { ErrorCode } from '#base'
import type { PostgresAddress } from './address.ts'
import { REFUSALS } from './definer.ts'

interface Reading {
  readonly code: ErrorCode
  readonly says: string
  readonly hint: string
}

const UNREACHABLE: Reading = {
  code: 'database-unreachable',
  says: 'does not answer',
  hint: 'Check that the server runs, and host and port of the address. What is on this machine works on meanwhile.',
}
const REVOKED: Reading = {
  code: 'not-in-team',
  says: 'does not let this machine in any more: it was revoked',
  hint: 'Ask an admin of the team for an invitation, and join with it: `throughline team join`.',
}
const READ_ONLY: Reading = {
  code: 'database-read-only',
  says: 'takes nothing in',
  hint: 'It is a standby, or was made read-only. Give the address of the server that is written to.',
}

/** By the codes that PostgreSQL itself gives: https://www.postgresql.org/docs/current/errcodes-appendix.html */
const READINGS: Readonly<Record<string, Reading>> = {
  '28P01': refused(
    'does not take the password',
    'Check user and password of the address. An invitation is good once, and for a week.',
  ),
  '28000': refused(
    'does not let this user in',
    'Check the user of the address, and pg_hba.conf of the server.',
  ),
  '3D000': refused('is not there', 'Create it: createdb, or ask whoever runs the server.'),
  '42501': refused(
    'does not allow this user to do that',
    'Let the owner of the database run `throughline team init` once, or grant the user CREATE on it.',
  ),
  '0A000': refused('cannot do something that is needed', 'PostgreSQL 14 or newer with pg_trgm is needed.'),
  '25006': READ_ONLY,
  '53300': {
    code: 'database-unreachable',
    says: 'has no connection left',
    hint: 'Raise max_connections, or put a pooler in front of it. It is tried again.',
  },
  '57014': {
    code: 'database-failed',
    says: 'took longer than it may',
    hint: 'Ask again, for less. A server that is always slow wants more memory, or VACUUM ANALYZE.',
  },
  '53100': {
    code: 'database-failed',
    says: 'has no space left on its disk',
    hint: 'Make space on the server. Nothing is lost: what was not taken is sent again.',
  },
}

function refused(says: string, hint: string): Reading {
  return { code: 'database-refused', says, hint }
}

const BROKEN = /^(?:ECONN|EPIPE|ENOTFOUND|EAI_|EHOST|ENET|ETIMEDOUT)/
/** What the client says when a connection broke, which has no code. */
const BROKEN_WORDS = /terminated|timeout|not queryable|connection error|Client was closed|socket|ECONN/i

/** What went wrong with a database, and what to do. Never has the password, whatever the cause says. */
export function toDatabaseError(cause: unknown, address: PostgresAddress): ThroughlineError {
  if (cause instanceof ThroughlineError) return cause
  const ours = REFUSED_AS[string(cause, 'code') ?? '']
  if (ours !== undefined) {
    const hint = string(cause, 'hint') ?? 'Ask an admin of the team.'
    return new ThroughlineError(ours, string(cause, 'message') ?? 'refused', { hint })
  }
  const { code, says, hint } = readingOf(cause)
  return new ThroughlineError(code, `the database ${address.shown} ${says}`, { hint, cause: plain(cause) })
}

/** Whether two got in each other's way, and this one was told to try again at once. */
export function isCollision(error: unknown): boolean {
  const code = string(error instanceof ThroughlineError ? error.cause : error, 'code')
  return code === '40001' || code === '40P01'
}

/** What functions of ours in the database refuse is said in their words. */
const REFUSED_AS: Readonly<Record<string, ErrorCode>> = {
  [REFUSALS.stranger]: 'not-in-team',
  [REFUSALS.notAllowed]: 'not-allowed',
  [REFUSALS.invalid]: 'request-invalid',
}

function readingOf(cause: unknown): Reading {
  const code = string(cause, 'code') ?? ''
  if (code === '28000' && string(cause, 'routine') === 'InitializeSessionUserId') return REVOKED
  const known = READINGS[code]
  if (known !== undefined) return known
  // Class 08: connection; 57P: the server stops, or has not started yet.
  if (/^(?:08|57P)/.test(code) || BROKEN.test(code)) return UNREACHABLE
  const message = cause instanceof Error ? cause.message : String(cause)
  if (code === '' && (BROKEN_WORDS.test(message) || cause instanceof AggregateError)) return UNREACHABLE
  return {
    code: 'database-failed',
    says: `failed: ${message}`,
    hint: 'The log of the server says more. Nothing that was acknowledged is affected.',
  }
}

/** An error with its code and nothing else: that of the client carries its whole configuration around. */
function plain(cause: unknown): Error {
  const message = cause instanceof Error ? cause.message : String(cause)
  return Object.assign(new Error(message), { code: string(cause, 'code') ?? '' })
}
