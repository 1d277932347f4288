import { closeSync, openSync, readlinkSync, readSync } from 'node:fs'
import type { LiveState } from '#model'

/** A process that holds a session, as it says of itself in its agent's registry. */
export interface Holder {
  /** The file it stands in. */
  readonly file: string
  readonly sessionId: string
  readonly pid: number
  /** When the process started, as the system counts; tells it from another one that gets its number later. */
  readonly started?: string | undefined
  /** The space its number belongs to; a container has its own. */
  readonly pidSpace?: string | undefined
  readonly status: 'idle' | 'busy' | 'waiting' | 'unknown'
  readonly waitingFor?: string | undefined
  readonly updatedAt?: string | undefined
  /** The last moment at which it is known to have been there. */
  readonly lastSeenMs: number
}

/** What an agent notes of the processes that hold its sessions. */
export interface Registry {
  /** The folder it is in, which need not exist. */
  readonly dir: string
  /** All of it, whether the processes live or not. Never throws. */
  read(): RegistryReading
}

export interface RegistryReading {
  readonly holders: readonly Holder[]
  /** Files that were there and made no sense: most likely they are being written. */
  readonly unreadable: readonly string[]
}

/**
 * Whether that very process lives: same number, same start. `elsewhere`: its number belongs to another container, and
 * nothing can be said from here.
 */
export function lifeOf(holder: Holder): 'alive' | 'dead' | 'elsewhere' {
  const { pid, started, pidSpace } = holder
  if (pidSpace !== undefined && ownPidSpace() !== undefined && pidSpace !== ownPidSpace()) return 'elsewhere'
  if (!Number.isInteger(pid) || pid <= 0) return 'dead'
  try {
    process.kill(pid, 0)
  } catch (error) {
    // Somebody else's process is a process all the same.
    if (!(error instanceof Error && 'code' in error && error.code === 'EPERM')) return 'dead'
  }
  const stat = findStat(pid)
  // A zombie is dead; only its parent has not looked yet.
  if (stat?.state === 'Z' || stat?.state === 'X') return 'dead'
  return started === undefined || stat === undefined || stat.started === started ? 'alive' : 'dead'
}

/** Two processes may name the same session. */
export function bySession(holders: readonly Holder[]): ReadonlyMap<string, readonly Holder[]> {
  const sessions = new Map<string, Holder[]>()
  for (const holder of holders) {
    const found = sessions.get(holder.sessionId)
    if (found === undefined) sessions.set(holder.sessionId, [holder])
    else found.push(holder)
  }
  return sessions
}

/** How long after the last sign of a process its last lines may still be its own. */
const GRACE_MS = 60_000

/**
 * The state of a session from those that hold or held it. A living process wins over a dead one, the latest over those
 * before. With dead ones only it is `gone`, unless the session went on later: then somebody else took it up, and is
 * done with it.
 */
export function toLive(
  holders: readonly Holder[],
  {
    lastActivityMs,
    life = lifeOf,
  }: { readonly lastActivityMs?: number | undefined; readonly life?: typeof lifeOf },
): LiveState | undefined {
  const latestFirst = holders.toSorted((a, b) => b.lastSeenMs - a.lastSeenMs)
  const alive = latestFirst.find((holder) => life(holder) === 'alive')
  if (alive !== undefined) {
    const { pid, status, waitingFor, updatedAt } = alive
    return {
      pid,
      status,
      ...(status !== 'waiting' || waitingFor === undefined ? {} : { waitingFor }),
      ...(updatedAt === undefined ? {} : { updatedAt }),
    }
  }
  const [last] = latestFirst
  if (last === undefined || life(last) !== 'dead') return undefined
  if (lastActivityMs !== undefined && lastActivityMs > last.lastSeenMs + GRACE_MS) return undefined
  return { pid: last.pid, status: 'gone', updatedAt: new Date(last.lastSeenMs).toISOString() }
}

interface ProcessStat {
  readonly state: string | undefined
  readonly started: string | undefined
}

/** Read by hand: twice a second for every live session, and `readFileSync` takes 64 KB for a file without a size. */
const statBytes = Buffer.allocUnsafe(4096)

/** Fields 3 and 22 of `/proc/<pid>/stat`. The command's name before them may contain spaces and brackets. */
function findStat(pid: number): ProcessStat | undefined {
  try {
    const fd = openSync(`/proc/${pid}/stat`, 'r')
    let stat: string
    try {
      stat = statBytes.toString('latin1', 0, readSync(fd, statBytes, 0, statBytes.length, 0))
    } finally {
      closeSync(fd)
    }
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return { state: fields[0], started: fields[19] }
  } catch {
    return undefined
  }
}

let pidSpaceOfThis: string | null | undefined

/** As Linux names it: `pid:[4026531836]`. */
function ownPidSpace(): string | undefined {
  if (pidSpaceOfThis === undefined) {
    try {
      pidSpaceOfThis = readlinkSync('/proc/self/ns/pid')
    } catch {
      pidSpaceOfThis = null
    }
  }
  return pidSpaceOfThis ?? undefined
}
