import type { IncomingMessage } from 'node:http'
import { openDevices, type Device } from './devices.ts'
import { Refusal } from './errors.ts'
import { createOneTimeWords } from './one-time.ts'
import { isSameText, openSecret, toLocalToken, toProof } from './secret.ts'
import { createThrottle } from './throttle.ts'

/** Who asks: the command line of this machine, or a device that logged in. */
export type Caller = { readonly kind: 'local' } | { readonly kind: 'device'; readonly device: Device }

/** Decides who may ask. Every refusal of a credential reads the same, whatever is wrong with it. */
export interface Access {
  /** Who sent the request, by its bearer token and nothing else. Throws `not-allowed`. */
  authenticate(request: IncomingMessage): Promise<Caller>
  login(code: string, options: LoginOptions): Promise<{ readonly token: string; readonly device: Device }>
  /** A code that lets one more device log in, as long as the caller that issued it is allowed in. */
  issueCode(caller: Caller): { readonly word: string; readonly expiresAt: number }
  /** A ticket for one socket of this caller. */
  issueTicket(caller: Caller): string
  /** Whose ticket it is, if it is good and its owner still may. Throws `not-allowed`. */
  redeemTicket(ticket: string | undefined, peer: string): Promise<Caller>
  /** False once the caller was revoked, or was not seen for 30 days. */
  isStillAllowed(caller: Caller): boolean
  /** Throws `not-allowed` when the caller was revoked since it was let in. */
  checkStillAllowed(caller: Caller): void
  prove(nonce: string, port: number): string
  devices(): readonly Device[]
  revoke(id: string): Promise<boolean>
  close(): Promise<void>
}

interface LoginOptions {
  readonly label: string
  readonly peer: string
}

const CODE_LIFE_MS = 60_000
const TICKET_LIFE_MS = 30_000

export async function openAccess(options: {
  readonly home: string
  readonly now: () => number
  readonly onRevoked: (id: string) => void
  readonly onTrouble: (error: unknown) => void
}): Promise<Access> {
  const { now } = options
  const secret = await openSecret(options.home)
  const localToken = toLocalToken(secret)
  const codes = createOneTimeWords<Caller>({ lifeMs: CODE_LIFE_MS, now })
  const tickets = createOneTimeWords<Caller>({ lifeMs: TICKET_LIFE_MS, now })
  const devices = await openDevices({
    ...options,
    onRevoked(id) {
      codes.revoke(id)
      tickets.revoke(id)
      options.onRevoked(id)
    },
  })
  const throttle = createThrottle(now)

  function findCaller(token: string): Caller | undefined {
    if (isSameText(token, localToken)) return { kind: 'local' }
    const device = devices.find(token)
    return device && { kind: 'device', device }
  }

  function isStillAllowed(caller: Caller): boolean {
    return caller.kind === 'local' || devices.isAllowed(caller.device.id)
  }

  return {
    async authenticate(request) {
      const token = bearerOf(request)
      const caller = token === undefined ? undefined : findCaller(token)
      if (caller !== undefined) return caller
      // Who shows nothing guesses nothing.
      if (token !== undefined) await throttle.failed(peerOf(request))
      throw notAllowed()
    },
    async login(code, { label, peer }) {
      const issuer = codes.redeem(code)
      if (issuer === undefined || !isStillAllowed(issuer)) {
        await throttle.failed(peer)
        throw notAllowed()
      }
      const added = await devices.add(label)
      if (isStillAllowed(issuer)) return added
      // Revoked while the new device was written down.
      await devices.revoke(added.device.id)
      throw notAllowed()
    },
    issueCode: (caller) => codes.issue(caller, ownerOf(caller)),
    issueTicket: (caller) => tickets.issue(caller, ownerOf(caller)).word,
    async redeemTicket(ticket, peer) {
      const caller = ticket === undefined ? undefined : tickets.redeem(ticket)
      if (caller !== undefined && isStillAllowed(caller)) return caller
      if (ticket !== undefined) await throttle.failed(peer)
      throw notAllowed()
    },
    isStillAllowed,
    checkStillAllowed(caller) {
      if (!isStillAllowed(caller)) throw notAllowed()
    },
    prove: (nonce, port) => toProof(secret, { nonce, port }),
    devices: () => devices.list(),
    revoke: (id) => devices.revoke(id),
    close: () => devices.close(),
  }
}

function ownerOf(caller: Caller): string {
  return caller.kind === 'local' ? 'local' : caller.device.id
}

/** The other end, as far as the network tells. */
export function peerOf(request: IncomingMessage): string {
  return request.socket.remoteAddress ?? ''
}

function bearerOf(request: IncomingMessage): string | undefined {
  return /^Bearer ([A-Za-z0-9_-]{1,200})$/.exec(request.headers.authorization ?? '')?.[1]
}

function notAllowed(): Refusal {
  return new Refusal(401, 'not-allowed', {
    message: 'the credential is missing, wrong, expired or revoked',
    hint: 'Log in again: `throughline open` on the machine itself, `throughline pair` for another one.',
    headers: { 'www-authenticate': 'Bearer' },
  })
}
