import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Holder, Registry, RegistryReading } from '../holder.ts'
import { findStats } from '../folders.ts'

/**
 * Which processes write which threads: each holds a lock on `thread-writer-locks/<thread>.lock` for as long as it has
 * the thread open. The files are empty and stay behind; who holds a lock, the system says. On systems that do not say
 * it, nobody is known to hold anything.
 */
export function createRegistry(codexHome: string, locksPath: string = '/proc/locks'): Registry {
  const dir = join(codexHome, 'thread-writer-locks')
  return { dir, read: () => readRegistry(dir, locksPath) }
}

function readRegistry(dir: string, locksPath: string): RegistryReading {
  const holders: Holder[] = []
  const names = namesIn(dir)
  if (names.length === 0) return { holders, unreadable: [] }
  const pids = readLocks(locksPath)
  for (const name of pids.size === 0 ? [] : names) {
    const sessionId = /^([A-Za-z0-9-]{1,128})\.lock$/u.exec(name)?.[1]
    const file = join(dir, name)
    const stats = sessionId === undefined ? undefined : findStats(file)
    const pid = stats === undefined ? undefined : pids.get(`${deviceOf(stats.dev)}:${stats.ino}`)
    if (sessionId === undefined || stats === undefined || pid === undefined) continue
    holders.push({ file, sessionId, pid, status: 'unknown', lastSeenMs: stats.mtimeMs })
  }
  return { holders, unreadable: [] }
}

/** As the system writes it in its list of locks: two digits at least for each half. */
function deviceOf(dev: number): string {
  const major = (Math.floor(dev / 256) % 4096).toString(16).padStart(2, '0')
  const minor = ((dev % 256) + Math.floor(dev / 1_048_576) * 256).toString(16).padStart(2, '0')
  return `${major}:${minor}`
}

/** `8: FLOCK  ADVISORY  WRITE 23481 fe:00:2214013 0 EOF` */
function readLocks(path: string): ReadonlyMap<string, number> {
  const pids = new Map<string, number>()
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch {
    return pids
  }
  for (const line of text.split('\n')) {
    const match = /^\d+: (?:FLOCK|OFDLCK)\s+\S+\s+WRITE (\d+) ([0-9a-f]+:[0-9a-f]+:\d+) /u.exec(line)
    const pid = Number(match?.[1] ?? 0)
    if (match?.[2] !== undefined && pid > 0) pids.set(match[2], pid)
  }
  return pids
}

function namesIn(dir: string): readonly string[] {
  try {
    return readdirSync(dir)
  } catch {
    return []
  }
}
