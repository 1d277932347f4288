import type { ChildProcess } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { list, number, parseJson, string } from '#base'
import { endChild, startChild } from './children.ts'
import { latencyOf } from './live-tally.ts'

const CHILD = fileURLToPath(new URL('live-child.js', import.meta.url))

/** One side of a live measurement, in a process of its own. */
export interface Side {
  readonly pid: number
  /** What it said when it was ready. */
  readonly facts: unknown
  /** Tells it something, and gives what it answers. */
  ask(value: object): Promise<unknown>
  /** Resolves when it has nothing more to send. */
  readonly done: Promise<unknown>
  /** Ends it, and says what it saw. */
  report(): Promise<unknown>
  end(): Promise<void>
}

type Role = 'append' | 'broadcast' | 'devices' | 'ear' | 'model' | 'naive' | 'sdk' | 'watch'

const LONGEST_MS = 60_000

/** Resolves when it is ready. */
export async function startSide(role: Role, told: object): Promise<Side> {
  // One whose memory is measured is started as anybody would start it.
  const flags = role === 'sdk' ? [] : ['--max-semi-space-size=64']
  const args = [...flags, CHILD, role, JSON.stringify(told)]
  const child = startChild(process.execPath, args, { env: process.env, stdio: 'pipe' })
  let complaint = ''
  child.stderr?.on('data', (piece: Buffer) => (complaint = (complaint + piece.toString('utf8')).slice(-500)))
  const heard = listenTo(child)
  const expect = (kind: string): Promise<unknown> =>
    heard(kind).catch((error: unknown) => {
      throw new Error(`${role}: ${error instanceof Error ? error.message : ''} ${complaint}`.trim())
    })
  const done = expect('done')
  done.catch(() => {})
  let facts: unknown
  try {
    facts = await expect('ready')
  } catch (error) {
    await endChild(child)
    throw error
  }
  let asked = 0
  return {
    pid: child.pid ?? 0,
    facts,
    async ask(value) {
      const answered = expect(`answer ${++asked}`)
      child.stdin?.write(`${JSON.stringify(value)}\n`)
      return await answered
    },
    done,
    async report() {
      child.stdin?.end()
      const said = await expect('report')
      await endChild(child)
      return said
    },
    end: () => endChild(child),
  }
}

/** Waits for the first line of a kind, also one that was said before. */
function listenTo(child: ChildProcess): (kind: string) => Promise<unknown> {
  const said = new Map<string, unknown>()
  const waiting = new Map<string, (value: unknown) => void>()
  if (child.stdout !== null) {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const value = parseJson(line)
      const kind = string(value, 'kind') ?? ''
      said.set(kind, value)
      waiting.get(kind)?.(value)
    })
  }
  return async (kind) => {
    if (said.has(kind)) return said.get(kind)
    return await new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`not ${kind} in time`)), LONGEST_MS)
      timer.unref()
      const onExit = (code: number | null): void => {
        clearTimeout(timer)
        // What it said last may still be on its way.
        setTimeout(
          () => (said.has(kind) ? resolve(said.get(kind)) : reject(new Error(`ended with ${code}`))),
          50,
        )
      }
      child.once('exit', onExit)
      waiting.set(kind, (value) => {
        clearTimeout(timer)
        child.off('exit', onExit)
        resolve(value)
      })
    })
  }
}

/** What all processes with devices saw, together. */
export interface Arrivals {
  readonly delivered: number
  readonly repeated: number
  readonly lost: number
  readonly p50: number
  readonly p99: number
}

export function toArrivals(reports: readonly unknown[]): Arrivals {
  const sum = (key: string): number => reports.reduce<number>((all, one) => all + (number(one, key) ?? 0), 0)
  const steps = reports.flatMap((one) =>
    list(one, 'steps').flatMap((pair) => {
      const [step, count]: readonly unknown[] = Array.isArray(pair) ? pair : []
      return typeof step === 'number' && typeof count === 'number' ? [[step, count] as const] : []
    }),
  )
  return {
    delivered: sum('delivered'),
    repeated: sum('repeated'),
    lost: sum('lost'),
    p50: latencyOf(steps, 0.5),
    p99: latencyOf(steps, 0.99),
  }
}
