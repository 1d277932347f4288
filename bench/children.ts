import { spawn, type ChildProcess } from 'node:child_process'
import { readFileSync, readdirSync } from 'node:fs'
import { createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** Processes that the benchmark starts and ends, and what the system says they took. */

const running = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

interface ChildOptions {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd?: string
  /** Default: nobody listens to what it says. */
  readonly stdio?: 'ignore' | 'pipe'
}

/** Starts a process that ends with the benchmark at the latest. */
export function startChild(command: string, args: readonly string[], options: ChildOptions): ChildProcess {
  const { stdio = 'ignore', env, cwd } = options
  const child = spawn(command, [...args], {
    env: { ...env },
    stdio: stdio === 'ignore' ? 'ignore' : ['pipe', 'pipe', 'pipe'],
    ...(cwd === undefined ? {} : { cwd }),
  })
  running.add(child)
  child.once('exit', () => running.delete(child))
  child.once('error', () => running.delete(child))
  return child
}

const PATIENCE_MS = 10_000

/** Asks it to end, and makes it after a while. */
export async function endChild(child: ChildProcess): Promise<void> {
  if (!isRunning(child)) return
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => resolve())
  })
  child.kill('SIGTERM')
  const killer = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS)
  await ended
  clearTimeout(killer)
}

export function isRunning({ pid, exitCode, signalCode }: ChildProcess): boolean {
  return pid !== undefined && exitCode === null && signalCode === null
}

const TICK_MS = 10

/** CPU time of a process so far, all threads, in milliseconds. */
export function cpuMsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const ticks = (Number(fields[11]) + Number(fields[12])) * TICK_MS
  // Finer than ticks where the kernel tells it, but without threads that have ended.
  return Math.max(ticks, schedulerMsOf(pid))
}

function schedulerMsOf(pid: number): number {
  let total = 0
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    try {
      const text = readFileSync(`/proc/${pid}/task/${thread}/sched`, 'latin1')
      total += Number(/sum_exec_runtime\s*:\s*([\d.]+)/.exec(text)?.[1] ?? 0)
    } catch {
      // No such file on this kernel, or the thread has ended.
    }
  }
  return total
}

/** The most memory a process ever had, in bytes. */
export function peakRssOf(pid: number): number {
  return Number(/VmHWM:\s*(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? 0) * 1024
}

/** What a process has of the memory right now, in bytes. */
export interface Memory {
  /** Every page that it can see, also those that it shares with others. */
  readonly rss: number
  /** Shared pages divided by how many share them: these can be added up. */
  readonly pss: number
}

/** What processes have together. */
export function memoryOf(pids: readonly number[]): Memory {
  let [rss, pss] = [0, 0]
  for (const pid of pids) {
    const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1')
    rss += Number(/^Rss:\s*(\d+)/m.exec(text)?.[1] ?? 0) * 1024
    pss += Number(/^Pss:\s*(\d+)/m.exec(text)?.[1] ?? 0) * 1024
  }
  return { rss, pss }
}

/** Every process that this one has started and that those have started. */
export function descendantsOf(pid: number): readonly number[] {
  const found: number[] = []
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const text = readFileSync(`/proc/${pid}/task/${thread}/children`, 'latin1')
    for (const child of text.split(' ').filter(Boolean).map(Number)) {
      found.push(child, ...descendantsOf(child))
    }
  }
  return found
}

/** Resolves when a process has had next to nothing to do for a while. */
export async function untilQuiet(pid: number): Promise<void> {
  const end = performance.now() + 30_000
  for (let quiet = 0, before = cpuMsOf(pid); quiet < 3 && performance.now() < end;) {
    await sleep(150)
    const now = cpuMsOf(pid)
    quiet = now - before < 3 ? quiet + 1 : 0
    before = now
  }
}

export async function freePort(): Promise<number> {
  return await new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      const port = typeof address === 'object' && address !== null ? address.port : 0
      server.close(() => resolve(port))
    })
  })
}
