import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { boolean, field, list, number, parseJson, string } from '#base'
import type { JobArguments, JobName } from './jobs.ts'
import { Pending } from './pending.ts'

/** What one job came to: over all its calls in all its rounds. */
export type Outcome =
  | {
      readonly state: 'measured'
      readonly figures: Figures
      /** Of the last lap. */
      readonly result: unknown
      /** Of every lap. */
      readonly results: readonly unknown[]
    }
  /** Throughline cannot do this yet. */
  | { readonly state: 'pending' }
  | { readonly state: 'failed'; readonly message: string }
  /** Somebody else's program is not here. */
  | { readonly state: 'absent'; readonly message: string }

/** Thrown by a trial whose program is not on this machine: the row says `n/a` and why. */
export class Absent extends Error {
  override readonly name = 'Absent'
}

export interface Figures {
  /** Median call, all threads of the process. */
  readonly cpuMs: number
  /** Median of the first calls, nothing compiled yet. */
  readonly firstCpuMs: number
  readonly wallMs: number
  readonly peakRssKb: number
  /** Before the first call, modules loaded. */
  readonly baseRssKb: number
}

/** Whoever runs in a race. `outcome` is there once the race is over. */
export interface Racer {
  readonly outcome: Outcome
  lap(): Promise<void>
}

/** One job in a race, in a process of its own. */
export class Entrant implements Racer {
  readonly job: JobName
  readonly told: JobArguments
  /** Calls in one process. More than one shows what a warm process does. */
  readonly calls: number
  /** Flags for the process. */
  readonly flags: readonly string[]
  readonly #samples: Sample[] = []
  #ended: Outcome | undefined

  constructor(job: JobName, told: JobArguments, calls: number = 1, flags: readonly string[] = []) {
    this.job = job
    this.told = told
    this.calls = calls
    this.flags = flags
  }

  get outcome(): Outcome {
    return this.#ended ?? summary(this.#samples)
  }

  async lap(): Promise<void> {
    if (this.#ended !== undefined) return
    const sample = await runOnce(this)
    if ('state' in sample) this.#ended = sample
    else this.#samples.push(sample)
  }
}

/** Something in a race that brings its own processes: a daemon, a peer, a program of another language. */
export class Trial implements Racer {
  readonly #name: string
  readonly #run: () => Promise<Sample>
  readonly #samples: Sample[] = []
  #ended: Outcome | undefined

  constructor(name: string, run: () => Promise<Sample>) {
    this.#name = name
    this.#run = run
  }

  get outcome(): Outcome {
    return this.#ended ?? summary(this.#samples)
  }

  async lap(): Promise<void> {
    if (this.#ended !== undefined) return
    try {
      this.#samples.push(await this.#run())
    } catch (error) {
      if (error instanceof Pending) this.#ended = { state: 'pending' }
      else if (error instanceof Absent) this.#ended = { state: 'absent', message: error.message }
      else this.#ended = { state: 'failed', message: `${this.#name}: ${String(error)}` }
    }
  }
}

const JOB = fileURLToPath(new URL('job.js', import.meta.url))
const run = promisify(execFile)

/**
 * Runs the entrants in turn, A-B-C-A-B-C, each lap in a new process: a machine that gets busy gets busy for all.
 */
export async function race(entrants: readonly Racer[], rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    for (const entrant of entrants) await entrant.lap()
  }
}

/** One lap: milliseconds of every call in it. */
export interface Sample {
  readonly cpu: readonly number[]
  readonly wall: readonly number[]
  readonly peakRssKb: number
  readonly baseRssKb: number
  readonly result: unknown
}

async function runOnce({ job, told, calls, flags }: Entrant): Promise<Sample | Outcome> {
  const input = JSON.stringify({ ...told, repeat: calls })
  const said = await run(process.execPath, ['--expose-gc', ...flags, JOB, job, input], {
    env: { ...process.env, CLAUDE_CONFIG_DIR: told.configDir },
    maxBuffer: 1 << 28,
  }).then(
    ({ stdout }) => parseJson(stdout),
    (error: unknown) => ({ failed: String(error) }),
  )
  if (boolean(said, 'pending') === true) return { state: 'pending' }
  const failed = string(said, 'failed')
  if (failed !== undefined) return { state: 'failed', message: `${job}: ${failed}` }
  return {
    cpu: numbers(said, 'cpu'),
    wall: numbers(said, 'wall'),
    peakRssKb: number(said, 'peakRssKb') ?? 0,
    baseRssKb: number(said, 'baseRssKb') ?? 0,
    result: field(said, 'result'),
  }
}

function summary(samples: readonly Sample[]): Outcome {
  const figures = {
    cpuMs: median(samples.flatMap((sample) => sample.cpu)),
    firstCpuMs: median(samples.map((sample) => sample.cpu[0] ?? 0)),
    wallMs: median(samples.flatMap((sample) => sample.wall)),
    peakRssKb: median(samples.map((sample) => sample.peakRssKb)),
    baseRssKb: median(samples.map((sample) => sample.baseRssKb)),
  }
  const results = samples.map(({ result }) => result)
  return { state: 'measured', figures, result: results.at(-1), results }
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5)
}

/** The value that so large a part of all values stays below. */
export function quantile(values: readonly number[], part: number): number {
  return values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * part))] ?? 0
}

function numbers(value: unknown, key: string): readonly number[] {
  return list(value, key).filter((item) => typeof item === 'number')
}
