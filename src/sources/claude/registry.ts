import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { number, parseJson, string } from '#base'
import type { Holder, Registry, RegistryReading } from '../holder.ts'
import { readSmallText } from './side-files.ts'
import { findStats } from '../folders.ts'

/** How long a file that is rewritten in place may be unreadable before we give up on it. */
const ATTEMPTS = 5

/**
 * Claude Code's registry of live sessions: `<config>/sessions/<pid>.json`. A process that was killed leaves its file
 * behind. The `.key` files beside them hold secrets and are never opened.
 */
export function createRegistry(configDir: string): Registry {
  const dir = join(configDir, 'sessions')
  return { dir, read: () => readRegistry(dir) }
}

function readRegistry(dir: string): RegistryReading {
  const holders: Holder[] = []
  const unreadable: string[] = []
  for (const name of namesIn(dir)) {
    if (!/^\d+\.json$/.test(name)) continue
    const file = join(dir, name)
    const entry = readEntry(file)
    if (entry === 'unreadable') unreadable.push(file)
    const holder = readHolder(file, entry)
    if (holder !== undefined) holders.push(holder)
  }
  return { holders, unreadable }
}

function readHolder(file: string, entry: unknown): Holder | undefined {
  const sessionId = string(entry, 'sessionId')
  const pid = number(entry, 'pid')
  if (sessionId === undefined || pid === undefined) return undefined
  const updatedMs = [number(entry, 'statusUpdatedAt'), number(entry, 'updatedAt')].find(isTime)
  return {
    file,
    sessionId,
    pid,
    started: string(entry, 'procStart'),
    // `linux:<machine>:pid:[<space>]`
    pidSpace: /pid:\[\d+\]$/.exec(string(entry, 'pidDomain') ?? '')?.[0],
    status: readStatus(string(entry, 'status')),
    waitingFor: string(entry, 'waitingFor'),
    updatedAt: updatedMs === undefined ? undefined : new Date(updatedMs).toISOString(),
    lastSeenMs: Math.max(updatedMs ?? timeOf(file), ...[number(entry, 'updatedAt')].filter(isTime)),
  }
}

function namesIn(dir: string): readonly string[] {
  try {
    return readdirSync(dir)
  } catch {
    return []
  }
}

/** What `Date` can say as an ISO time. */
function isTime(ms: number | undefined): ms is number {
  return ms !== undefined && Math.abs(ms) <= 8.64e15
}

function timeOf(file: string): number {
  return findStats(file)?.mtimeMs ?? 0
}

function readStatus(status: string | undefined): Holder['status'] {
  return status === 'idle' || status === 'busy' || status === 'waiting' ? status : 'unknown'
}

/** The file is written and then cut to length: a reader in between sees garbage, so it looks again. */
function readEntry(path: string): unknown {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const text = readSmallText(path)
    const value = text === undefined ? undefined : parseJson(text)
    if (text === undefined || value !== undefined) return value
  }
  return 'unreadable'
}
