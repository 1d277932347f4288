import type { Fetch, RemoteThroughline } from '#client'
import { field, number, parseJson, string, ThroughlineError } from '#base'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { join } from 'node:path'

/** A daemon that has proven to be the one of this home. */
export interface DaemonLink {
  readonly port: number
  /** Where a browser on this machine opens it: an origin that no other program shares. */
  readonly page: string
  /** The same for a browser that may not know names below `localhost`, or comes through a forwarded port. */
  readonly numeric: string
  connect(): Promise<RemoteThroughline>
  /** The same, for whoever wants to be told what happens. */
  connectLive(): Promise<RemoteThroughline>
}

/** A daemon on the same machine answers within milliseconds. */
const PATIENCE_MS = 2000

/**
 * The daemon of this home, if one runs. Whoever listens on its port must answer a question that takes the secret of
 * the home: a stranger who took the port is told nothing, least of all a token or a code. Throws `daemon-unreachable`
 * when it is there and does not answer.
 */
export async function findDaemon(home: string): Promise<DaemonLink | undefined> {
  // Most commands run without a daemon, and must not pay for looking.
  if (!mayRun(home)) return undefined
  const { expectAnswer, readDaemonFile, readSecret, toLocalToken, toProof } = await import('#server')
  const { address, port } = await readDaemonFile(home)
  if (address === undefined || port === undefined || !URL.canParse(address)) return undefined
  const isTls = address.startsWith('https:')
  const url = toReachable(address)
  const { createLocalFetch } = await import('./local-fetch.ts')
  const fetch = await createLocalFetch({ port, isTls })
  const nonce = randomBytes(24).toString('base64url')
  const secret = await readSecret(home).catch(() => undefined)
  if (secret === undefined) return undefined
  const proof = await askForProof(fetch, url, nonce).catch(async (error: unknown) => {
    if (isTimeout(error)) await expectAnswer(home)
    return undefined
  })
  if (proof !== toProof(secret, { nonce, port })) return undefined
  return {
    port,
    page: isTls ? `https://localhost:${port}` : `http://throughline.localhost:${port}`,
    // A certificate is for a name, not for a number.
    numeric: isTls ? `https://localhost:${port}` : url,
    async connect() {
      const { connect } = await import('#client')
      return await connect({ url, token: toLocalToken(secret), fetch })
    },
    async connectLive() {
      const { connect } = await import('#client')
      const { createLocalSocket } = await import('./local-socket.ts')
      const WebSocket = createLocalSocket(port)
      return await connect({ url, token: toLocalToken(secret), fetch, WebSocket })
    },
  }
}

/** The daemon of this home, if one runs and answers: whoever can do without it does not wait for more. */
export async function findReadyDaemon(home: string): Promise<DaemonLink | undefined> {
  return await findDaemon(home).catch(() => undefined)
}

/** Node wraps the reason of an abort, or gives it as it is. */
function isTimeout(error: unknown): boolean {
  return [field(error, 'name'), field(field(error, 'cause'), 'name')].includes('TimeoutError')
}

/** Whether a process is noted, and there is one by that number. */
function mayRun(home: string): boolean {
  try {
    const pid = number(parseJson(readFileSync(join(home, 'daemon.json'), 'utf8')), 'pid')
    return pid !== undefined && isAlive(pid)
  } catch {
    return false
  }
}

/** Whether there is a process with this number, be it another one by now. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return field(error, 'code') === 'EPERM'
  }
}

/** The daemon of this home, or `daemon-unreachable`. */
export async function getDaemon(home: string): Promise<DaemonLink> {
  const found = await findDaemon(home)
  if (found !== undefined) return found
  throw new ThroughlineError('daemon-unreachable', 'no daemon runs for this home', {
    hint: 'Start it with `throughline`.',
  })
}

/** One that listens everywhere is asked on this machine. */
function toReachable(address: string): string {
  const url = new URL(address)
  const name = url.hostname.replace(/^\[|\]$/g, '')
  if (name === '0.0.0.0' || name === '::') url.hostname = isIP(name) === 6 ? '[::1]' : '127.0.0.1'
  return url.origin
}

async function askForProof(fetch: Fetch, url: string, nonce: string): Promise<string | undefined> {
  const response = await fetch(`${url}/api/prove`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ nonce }),
    signal: AbortSignal.timeout(PATIENCE_MS),
  })
  return string(parseJson(await response.text()), 'proof')
}
