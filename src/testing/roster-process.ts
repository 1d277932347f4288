import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { field, number, parseJson, string } from '#base'

/** A stand-in for a daemon in a process of its own: `roster-child.ts`. */
export interface RosterProcess {
  readonly pid: number
  /** What it said of itself when it was ready. */
  readonly ready: unknown
  /** Gives the answer, or `undefined` when the process died before it came. */
  ask(order: object): Promise<unknown>
  /** Every event it has told so far. */
  readonly news: readonly unknown[]
  /** Ends it at once, without a word. */
  kill(): Promise<void>
  /** Lets go of the hosts and ends. */
  close(): Promise<void>
}

/** Starts it on a home. The programs are those that were built in `dist`. */
export async function startRosterProcess(dist: string, home: string): Promise<RosterProcess> {
  const child = spawn(
    process.execPath,
    [join(dist, 'testing', 'roster-child.js'), home, join(dist, 'live', 'host-main.js')],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  )
  const exited = once(child, 'exit')
  const news: unknown[] = []
  const waiting = new Map<number, (answer: unknown) => void>()
  let last = 0
  let isGone = false
  let tellReady: ((ready: unknown) => void) | undefined
  const ready = new Promise<unknown>((resolve) => {
    tellReady = resolve
  })
  createInterface({ input: child.stdout }).on('line', (line) => {
    const said = parseJson(line)
    const re = number(said, 're')
    if (field(said, 'ready') === true) tellReady?.(said)
    else if (re !== undefined) waiting.get(re)?.(said)
    else news.push(said)
  })
  child.stdin.on('error', () => {})
  void exited.finally(() => {
    isGone = true
    tellReady?.(undefined)
    for (const answer of waiting.values()) answer(undefined)
  })
  return {
    pid: child.pid ?? 0,
    ready: await ready,
    news,
    async ask(order) {
      if (isGone) return undefined
      const re = ++last
      return await new Promise((resolve) => {
        waiting.set(re, resolve)
        child.stdin.write(`${JSON.stringify({ ...order, re })}\n`)
      })
    },
    async kill() {
      child.kill('SIGKILL')
      await exited
    },
    async close() {
      child.stdin.end()
      await exited
    },
  }
}

/** The code with which an order was refused. */
export function refusalOf(answer: unknown): string | undefined {
  return string(answer, 'refused')
}
