import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'

/** One process, and no other that gets its number later. */
export interface ProcessId {
  readonly pid: number
  /** When it started, as the system writes it. Only good for comparing. */
  readonly start: string
}

/** The variable that every process of an agent has in its environment; its value is the session's id. */
export const AGENT_MARK = 'THROUGHLINE_AGENT'

interface ProcessRow extends ProcessId {
  readonly parent: number
}

/** The process that has this number now. */
export function findProcess(pid: number): ProcessId | undefined {
  const row = process.platform === 'linux' ? readStat(pid) : readTable().find((each) => each.pid === pid)
  return row ? { pid: row.pid, start: row.start } : undefined
}

export function isRunning(one: ProcessId): boolean {
  return findProcess(one.pid)?.start === one.start
}

/**
 * Every process of the agent that runs a session: those below `root`, and those that carry the session's mark, also
 * when their parents are long gone. Never this process or one above it. Marks can be read on Linux only.
 */
export function findAgentProcesses(sessionId: string, root?: ProcessId): readonly ProcessId[] {
  const table = readTable()
  const parents = new Map(table.map((row) => [row.pid, row.parent]))
  const above = new Set<number>()
  for (
    let pid: number | undefined = process.pid;
    pid !== undefined && !above.has(pid);
    pid = parents.get(pid)
  )
    above.add(pid)
  const rootPid = root && isRunning(root) ? root.pid : undefined
  return table
    .filter((row) => !above.has(row.pid))
    .filter((row) => isBelow(row.pid, rootPid, parents) || isMarked(row.pid, sessionId))
    .map(({ pid, start }) => ({ pid, start }))
}

/** Those of these numbers that run now. */
export function findProcesses(pids: readonly number[]): readonly ProcessId[] {
  const wanted = new Set(pids)
  if (process.platform === 'linux') return pids.flatMap((pid) => findProcess(pid) ?? [])
  return readTable().flatMap(({ pid, start }) => (wanted.has(pid) ? [{ pid, start }] : []))
}

/** Every process below these, whoever it belongs to by now. */
export function findBelow(processes: readonly ProcessId[]): readonly ProcessId[] {
  const roots = new Set(processes.filter(isRunning).map(({ pid }) => pid))
  if (roots.size === 0) return []
  const table = readTable()
  const parents = new Map(table.map((row) => [row.pid, row.parent]))
  return table
    .filter((row) => !roots.has(row.pid) && [...roots].some((root) => isBelow(row.pid, root, parents)))
    .map(({ pid, start }) => ({ pid, start }))
}

/** What a process was started with. Nothing when it is gone, or not ours to look at. */
export function readArguments(pid: number): readonly string[] {
  try {
    if (process.platform === 'linux')
      return readFileSync(`/proc/${String(pid)}/cmdline`, 'utf8')
        .replace(/\0$/u, '')
        .split('\0')
    return [execFileSync('ps', ['-p', String(pid), '-o', 'args='], { encoding: 'utf8' }).trim()]
  } catch {
    return []
  }
}

/** Ends these processes: asks first, insists after `graceMs`. Resolves when they are gone. */
export async function endProcesses(
  processes: readonly ProcessId[],
  options: { readonly graceMs: number },
): Promise<void> {
  let left = processes.filter(isRunning)
  for (const one of left) signal(one, 'SIGTERM')
  for (let waited = 0; left.length > 0 && waited < options.graceMs; waited += STEP_MS) {
    await new Promise((resolve) => setTimeout(resolve, STEP_MS))
    left = left.filter(isRunning)
  }
  for (const one of left) signal(one, 'SIGKILL')
  // A process that is killed may stay for a moment, until the system has cleared it away.
  for (let waited = 0; left.length > 0 && waited < GONE_MS; waited += STEP_MS) {
    await new Promise((resolve) => setTimeout(resolve, STEP_MS))
    left = left.filter(isRunning)
  }
}

/**
 * Ends everything that belongs to the agent of a session: these processes, and whatever else is found of it, also what
 * started while the others ended. For an agent whose keeper is gone, too: nothing needs to be known but the session.
 */
export async function endAgent(sessionId: string, known: readonly ProcessId[] = []): Promise<void> {
  let left = [...known, ...findAgentProcesses(sessionId)]
  for (let pass = 0; left.length > 0 && pass < PASSES; pass += 1) {
    await endProcesses(left, { graceMs: 500 })
    left = [...findAgentProcesses(sessionId)]
  }
}

const PASSES = 10
const STEP_MS = 20
const GONE_MS = 5_000

function signal(one: ProcessId, name: NodeJS.Signals): void {
  if (!isRunning(one)) return
  try {
    process.kill(one.pid, name)
  } catch {
    // It ended between the look and the signal.
  }
}

function isBelow(pid: number, root: number | undefined, parents: ReadonlyMap<number, number>): boolean {
  if (root === undefined) return false
  const seen = new Set<number>()
  for (let at: number | undefined = pid; at !== undefined && !seen.has(at); at = parents.get(at)) {
    if (at === root) return true
    seen.add(at)
  }
  return false
}

function isMarked(pid: number, sessionId: string): boolean {
  if (process.platform !== 'linux') return false
  try {
    return readFileSync(`/proc/${String(pid)}/environ`, 'utf8')
      .split('\0')
      .includes(`${AGENT_MARK}=${sessionId}`)
  } catch {
    // Gone meanwhile, or somebody else's.
    return false
  }
}

function readTable(): readonly ProcessRow[] {
  if (process.platform !== 'linux') return readPs()
  const rows: ProcessRow[] = []
  for (const name of readdirSync('/proc')) {
    const row = /^\d+$/u.test(name) ? readStat(Number(name)) : undefined
    if (row) rows.push(row)
  }
  return rows
}

/** A process that has ended and was not yet collected by its parent does nothing any more: it counts as gone. */
function readStat(pid: number): ProcessRow | undefined {
  let stat: string
  try {
    stat = readFileSync(`/proc/${String(pid)}/stat`, 'utf8')
  } catch {
    return undefined
  }
  // The name stands in parentheses and may hold anything, also parentheses and spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [state, parent] = fields
  const start = fields[19]
  if (start === undefined || parent === undefined || state === 'Z' || state === 'X') return undefined
  return { pid, parent: Number(parent), start }
}

/** Where there is no `/proc`. */
export function readPs(): readonly ProcessRow[] {
  const text = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,stat=,lstart='], { encoding: 'utf8' })
  return text.split('\n').flatMap((line) => {
    const [, pid, parent, state = '', start] = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.+?)\s*$/u.exec(line) ?? []
    if (pid === undefined || start === undefined || state.startsWith('Z')) return []
    return [{ pid: Number(pid), parent: Number(parent), start }]
  })
}
