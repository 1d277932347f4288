import { createHash } from 'node:crypto'
import type { NativeAgent } from '#model'
import type { NativeFacts } from './session.ts'

/** Ids that follow from what a session is made of: whoever makes it twice makes the same one. */
export interface Ids {
  /** The id of the session, in the form of a random UUID. */
  readonly session: string
  uuid(name: string): string
  /** So many letters and digits. */
  word(name: string, length: number): string
}

export function createIds(agent: NativeAgent, { source, edition = '' }: NativeFacts): Ids {
  const digest = (name: string): Buffer =>
    createHash('sha256')
      .update(JSON.stringify(['throughline native', source.agent, source.sessionId, agent, edition, name]))
      .digest()
  const uuid = (name: string): string => toUuid(digest(name))
  return { session: uuid('session'), uuid, word: (name, length) => toWord(digest(name), length) }
}

function toUuid(bytes: Buffer): string {
  const hex = bytes.toString('hex')
  const variant = ((Number.parseInt(hex.slice(16, 18), 16) & 0x3f) | 0x80).toString(16)
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(18, 20)}-${hex.slice(20, 32)}`
}

const LETTERS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

function toWord(bytes: Buffer, length: number): string {
  return Array.from({ length }, (_, at) => LETTERS.charAt((bytes[at % bytes.length] ?? 0) % 62)).join('')
}
