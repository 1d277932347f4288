import { randomBytes } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { request } from 'node:http'
import { join } from 'node:path'
import { field, number, parseJson, string, ThroughlineError } from '#base'
import { replaceFile } from '#journal'
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
 * it: another process may have taken its port. Throws `daemon-unreachable` when what answers is not ours.
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
  const proof = await askForProof(address, nonce)
  if (proof === undefined) return undefined
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

const PATIENCE_MS = 2000
const LONGEST = 4096

/** The answer to a nonce, empty when it is none; `undefined` when nobody listens. */
async function askForProof(address: string, nonce: string): Promise<string | undefined> {
  const { request: ask } = address.startsWith('https:') ? await import('node:https') : { request }
  return await new Promise((resolve) => {
    const body = JSON.stringify({ nonce })
    const asked = ask(`${address}/api/prove`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
      timeout: PATIENCE_MS,
      agent: false,
      // Nothing secret is said before the proof, and the proof is better than a certificate.
      ...(address.startsWith('https:') ? { rejectUnauthorized: false } : {}),
    })
    asked.on('error', (error) => resolve(field(error, 'code') === 'ECONNREFUSED' ? undefined : ''))
    asked.on('timeout', () => asked.destroy())
    asked.on('response', (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (piece: string) => {
        text += piece
        if (text.length > LONGEST) asked.destroy()
      })
      response.on('error', () => resolve(''))
      response.on('end', () => resolve(string(parseJson(text), 'proof') ?? ''))
    })
    asked.end(body)
  })
}
