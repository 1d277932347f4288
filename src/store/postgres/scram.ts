import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto'

const ROUNDS = 4096
const KEY_BYTES = 32

/** A password nobody can guess, of letters that are the same in an address. */
export function createPassword(): string {
  return randomBytes(24).toString('base64url')
}

/**
 * What PostgreSQL stores of a password (SCRAM-SHA-256, RFC 5803): enough to know it again, and not to say it. Statements
 * are written into logs, so passwords are never in them.
 */
export function toScramVerifier(password: string): string {
  const salt = randomBytes(16)
  const salted = pbkdf2Sync(password, salt, ROUNDS, KEY_BYTES, 'sha256')
  const keyOf = (name: string): Buffer => createHmac('sha256', salted).update(name).digest()
  const stored = createHash('sha256').update(keyOf('Client Key')).digest('base64')
  return `SCRAM-SHA-256$${ROUNDS}:${salt.toString('base64')}$${stored}:${keyOf('Server Key').toString('base64')}`
}
