import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { number, parseJson, string } from '#base'
import type { LiveState } from '#model'
import { readSmallText } from './side-files.ts'

/** How long a file that is rewritten in place may be unreadable before we give up on it. */
const ATTEMPTS = 5

/**
 * Claude Code's registry of live sessions: `<config>/sessions/<pid>.json`. A process that was killed leaves its file
 * behind, so an entry counts only while that very process lives: same pid, same start time. The `.key` files beside
 * them hold secrets and are never opened.
 */
export function readRegistry(configDir: string): ReadonlyMap<string, LiveState> {
  const live = new Map<string, LiveState>()
  const dir = join(configDir, 'sessions')
  for (const name of namesIn(dir)) {
    if (!/^\d+\.json$/.test(name)) continue
    const entry = readEntry(join(dir, name))
    const sessionId = string(entry, 'sessionId')
    const pid = number(entry, 'pid')
    if (sessionId === undefined || pid === undefined || !isAlive(pid, string(entry, 'procStart'))) continue
    const waitingFor = string(entry, 'waitingFor')
    const updatedAt = number(entry, 'statusUpdatedAt') ?? number(entry, 'updatedAt')
    live.set(sessionId, {
      pid,
      status: readStatus(string(entry, 'status')),
      ...(waitingFor === undefined ? {} : { waitingFor }),
      ...(updatedAt === undefined || !isTime(updatedAt)
        ? {}
        : { updatedAt: new Date(updatedAt).toISOString() }),
    })
  }
  return live
}

function namesIn(dir: string): readonly string[] {
  try {
    return readdirSync(dir)
  } catch {
    return []
  }
}

/** What `Date` can say as an ISO time. */
function isTime(ms: number): boolean {
  return Math.abs(ms) <= 8.64e15
}

function readStatus(status: string | undefined): LiveState['status'] {
  return status === 'idle' || status === 'busy' || status === 'waiting' ? status : 'unknown'
}

/** The file is written and then cut to length: a reader in between sees garbage, so it looks again. */
function readEntry(path: string): unknown {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const text = readSmallText(path)
    const value = text === undefined ? undefined : parseJson(text)
    if (text === undefined || value !== undefined) return value
  }
  return undefined
}

function isAlive(pid: number, procStart: string | undefined): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false
  try {
    process.kill(pid, 0)
  } catch (error) {
    // Somebody else's process is a process all the same.
    if (!(error instanceof Error && 'code' in error && error.code === 'EPERM')) return false
  }
  const started = startTimeOf(pid)
  return procStart === undefined || started === undefined || started === procStart
}

/** Field 22 of `/proc/<pid>/stat`. The command's name before it may contain spaces and brackets. */
function startTimeOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
  } catch {
    return undefined
  }
}
