import { randomBytes } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { request } from 'node:http'
import { join } from 'node:path'
import { field, number, parseJson, string, ThroughlineError } from '#base'
import { findLockHolder, replaceFile } from '#journal'
import { isSameText, readSecret, toLocalToken, toProof } from './secret.ts'

/** What `daemon.json` says of the daemon that runs. */
export interface DaemonFacts {
  readonly pid: number
  readonly address: string
  readonly port: number
  readonly startedAt: string
  readonly version: string
}

const fileOf = (home: string): string => join(home, 'daemon.json')

export async function writeDaemonFile(home: string, facts: DaemonFacts): Promise<void> {
  await replaceFile(fileOf(home), `${JSON.stringify(facts, undefined, 2)}\n`)
}

/** Leaves the port behind: what a browser has stored belongs to it, so the next daemon takes it again. */
export async function writeStoppedFile(home: string, port: number, stoppedAt: string): Promise<void> {
  await replaceFile(fileOf(home), `${JSON.stringify({ port, stoppedAt }, undefined, 2)}\n`)
}

/** What is said about the daemon of this home. It may have died since. */
export async function readDaemonFile(home: string): Promise<Partial<DaemonFacts>> {
  const value = parseJson(await readFile(fileOf(home), 'utf8').catch(() => ''))
  const pid = number(value, 'pid')
  const port = number(value, 'port')
  const address = string(value, 'address')
  const startedAt = string(value, 'startedAt')
  const version = string(value, 'version')
  return {
    ...(pid === undefined ? {} : { pid }),
    ...(port === undefined || !Number.isInteger(port) || port < 1 || port > 65535 ? {} : { port }),
    ...(address === undefined ? {} : { address }),
    ...(startedAt === undefined ? {} : { startedAt }),
    ...(version === undefined ? {} : { version }),
  }
}

/** Tells one home from another that takes its name, and a home that was emptied. */
export async function readHomeIdentity(home: string): Promise<string | undefined> {
  try {
    const [folder, file] = await Promise.all([stat(home), stat(fileOf(home))])
    return `${folder.dev}:${folder.ino}:${file.ino}`
  } catch {
    return undefined
  }
}

/** A daemon that has proved to be ours, and the token it takes from whoever can read the secret. */
export interface FoundDaemon extends DaemonFacts {
  readonly token: string
}

/**
 * The daemon of this home, if one answers. It has to show that it holds the home's secret before anything is sent to
 * it: another process may have taken its port. Throws `daemon-unreachable` when what answers is not ours, and when
 * ours is there and does not answer.
 */
export async function findDaemon(home: string): Promise<FoundDaemon | undefined> {
  const { pid, address, port, startedAt = '', version = '' } = await readDaemonFile(home)
  if (pid === undefined || address === undefined || port === undefined) return undefined
  const secret = await readSecret(home).catch((error: unknown) => {
    if (field(error, 'code') === 'ENOENT') return undefined
    throw error
  })
  if (secret === undefined) return undefined
  const nonce = randomBytes(24).toString('base64url')
  const { kind, proof } = await askForProof(address, nonce)
  if (kind === 'nobody') return undefined
  if (kind === 'silence') await expectAnswer(home)
  if (isSameText(proof, toProof(secret, { nonce, port }))) {
    return { pid, address, port, startedAt, version, token: toLocalToken(secret) }
  }
  throw new ThroughlineError(
    'daemon-unreachable',
    `what answers at ${address} is not the daemon of ${home}`,
    {
      hint: 'Nothing was sent to it. See which process has the port, then start the daemon again.',
    },
  )
}

/** Where the lock of a home's daemon lies. */
export const lockPathOf = (home: string): string => join(home, 'run', 'daemon')

/**
 * For whoever got no answer from the daemon in time. Throws `daemon-unreachable` with its pid when it is there all the
 * same: the lock tells it from another process that has its number, or a stranger who is silent on its port.
 */
export async function expectAnswer(home: string): Promise<void> {
  const { pid, address } = await readDaemonFile(home)
  // Windows does not tell who holds a lock.
  const holder = await findLockHolder(lockPathOf(home)).catch(() => undefined)
  const isThere = process.platform === 'win32' || holder === pid
  if (pid === undefined || !isThere) return
  throw new ThroughlineError(
    'daemon-unreachable',
    `the daemon (pid ${pid}) is there and does not answer at ${address}`,
    {
      hint: `It is busy or was stopped: wait a moment, or let it go on with kill -CONT ${pid}. Nothing is lost by ending it: kill -9 ${pid}, then \`throughline\`.`,
    },
  )
}

const PATIENCE_MS = 2000
const LONGEST = 4096

type Answer = { readonly kind: 'nobody' | 'silence' | 'answer'; readonly proof: string }

/** What comes back for a nonce; something that is no proof is an empty one. */
async function askForProof(address: string, nonce: string): Promise<Answer> {
  const { request: ask } = address.startsWith('https:') ? await import('node:https') : { request }
  return await new Promise((resolve) => {
    const body = JSON.stringify({ nonce })
    const asked = ask(`${address}/api/prove`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
      agent: false,
      // Nothing secret is said before the proof, and the proof is better than a certificate.
      ...(address.startsWith('https:') ? { rejectUnauthorized: false } : {}),
    })
    const end = (kind: Answer['kind'], proof = ''): void => {
      clearTimeout(timer)
      resolve({ kind, proof })
      asked.destroy()
    }
    // Of the whole answer: whoever sends a byte now and then has not answered either.
    const timer = setTimeout(() => end('silence'), PATIENCE_MS)
    asked.on('error', (error) => end(toKind(field(error, 'code'))))
    asked.on('response', (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (piece: string) => {
        text += piece
        if (text.length > LONGEST) end('answer')
      })
      response.on('error', () => end('answer'))
      response.on('end', () => end('answer', string(parseJson(text), 'proof')))
    })
    asked.end(body)
  })
}

function toKind(code: unknown): Answer['kind'] {
  if (code === 'ECONNREFUSED') return 'nobody'
  return UNREACHABLE.includes(String(code)) ? 'silence' : 'answer'
}

const UNREACHABLE: readonly string[] = ['ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'EHOSTDOWN']
