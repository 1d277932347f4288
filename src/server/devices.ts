import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { string, ThroughlineError } from '#base'
import { openJournal, readJournal, type Journal } from '#journal'
import { toDeviceName } from '#model'
import { hashOf } from './one-time.ts'

/** A device that logged in. */
export interface Device {
  readonly id: string
  readonly label: string
  readonly addedAt: string
  readonly lastSeenAt: string
}

/** Who may ask, kept in `devices.jsonl`: only hashes of tokens, and every change for ever. */
export interface Devices {
  /** Durable when it resolves. The token is told this once. */
  add(label: string): Promise<{ readonly token: string; readonly device: Device }>
  /** The device with this token, if it was used in the last 30 days. */
  find(token: string): Device | undefined
  /** Whether a device that was let in still may. Being connected counts as use. */
  isAllowed(id: string): boolean
  list(): readonly Device[]
  /** Takes effect at once, and is durable when it resolves. False when there is no such device. */
  revoke(id: string): Promise<boolean>
  close(): Promise<void>
}

const DAY = 24 * 60 * 60 * 1000
const IDLE = 30 * DAY
const MOST = 1000

type Known = {
  readonly id: string
  readonly hash: string
  readonly label: string
  readonly addedAt: number
  seenAt: number
}

export async function openDevices(options: {
  readonly home: string
  readonly now: () => number
  /** A device is gone, by whatever way. */
  readonly onRevoked: (id: string) => void
  /** Something could not be noted that nobody waits for. */
  readonly onTrouble: (error: unknown) => void
}): Promise<Devices> {
  const { now } = options
  const path = join(options.home, 'devices.jsonl')
  const journal: Journal = await openJournal(path)
  const byId = new Map<string, Known>()
  const byHash = new Map<string, Known>()

  for await (const item of readJournal(path)) if (item.kind === 'line') replay(item.value)

  function replay(line: unknown): void {
    const id = string(line, 'id')
    const at = Date.parse(string(line, 'at') ?? '')
    if (id === undefined || Number.isNaN(at)) return
    switch (string(line, 'kind')) {
      case 'device.added':
        keep({
          id,
          hash: string(line, 'hash') ?? '',
          label: string(line, 'label') ?? '',
          addedAt: at,
          seenAt: at,
        })
        return
      case 'device.seen': {
        const known = byId.get(id)
        if (known) known.seenAt = at
        return
      }
      case 'device.revoked':
        forget(id)
        return
      // A later version may note more.
      default:
    }
  }

  function keep(device: Known): void {
    byId.set(device.id, device)
    byHash.set(device.hash, device)
  }

  function forget(id: string): void {
    const known = byId.get(id)
    byId.delete(id)
    if (known) byHash.delete(known.hash)
  }

  const isIdle = (device: Known): boolean => now() - device.seenAt > IDLE

  function noteSeen(device: Known): void {
    if (now() - device.seenAt < DAY) return
    device.seenAt = now()
    journal
      .append({ kind: 'device.seen', id: device.id, at: iso(device.seenAt) })
      .catch((error: unknown) => options.onTrouble(error))
  }

  return {
    async add(label) {
      if (byId.size >= MOST) throw tooMany()
      const token = randomBytes(32).toString('base64url')
      const at = now()
      const device: Known = {
        id: randomBytes(8).toString('hex'),
        hash: hashOf(token),
        label: label.slice(0, 100),
        addedAt: at,
        seenAt: at,
      }
      await journal.append({
        kind: 'device.added',
        id: device.id,
        hash: device.hash,
        label: device.label,
        at: iso(at),
      })
      keep(device)
      return { token, device: toDevice(device) }
    },
    find(token) {
      const found = byHash.get(hashOf(token))
      if (found === undefined || isIdle(found)) return undefined
      noteSeen(found)
      return toDevice(found)
    },
    isAllowed(id) {
      const found = byId.get(id)
      if (found === undefined || isIdle(found)) return false
      noteSeen(found)
      return true
    },
    list: () => [...byId.values()].filter((device) => !isIdle(device)).map(toDevice),
    async revoke(id) {
      if (!byId.has(id)) return false
      forget(id)
      options.onRevoked(id)
      await journal.append({ kind: 'device.revoked', id, at: iso(now()) })
      return true
    },
    close: () => journal.close(),
  }
}

function iso(ms: number): string {
  return new Date(ms).toISOString()
}

function toDevice({ id, label, addedAt, seenAt }: Known): Device {
  return {
    id,
    label: toDeviceName(label),
    addedAt: iso(addedAt),
    lastSeenAt: iso(seenAt),
  }
}

function tooMany(): ThroughlineError {
  return new ThroughlineError('too-many-requests', `${MOST} devices are logged in`, {
    hint: 'Revoke those that are not used any more: `throughline devices`.',
  })
}
