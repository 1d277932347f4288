import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { boolean, field, list, number, parseJson, string } from '#base'
import type { JobArguments, JobName } from './jobs.ts'

/** What one job came to: over all its calls in all its rounds. */
export type Outcome =
  | { readonly state: 'measured'; readonly figures: Figures; readonly result: unknown }
  /** Throughline cannot do this yet. */
  | { readonly state: 'pending' }
  | { readonly state: 'failed'; readonly message: string }

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

/** One job in a race. `outcome` is there once the race is over. */
export class Entrant {
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

const JOB = fileURLToPath(new URL('job.js', import.meta.url))
const run = promisify(execFile)

/**
 * Runs the entrants in turn, A-B-C-A-B-C, each lap in a new process: a machine that gets busy gets busy for all.
 */
export async function race(entrants: readonly Entrant[], rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    for (const entrant of entrants) await entrant.lap()
  }
}

interface Sample {
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
  return { state: 'measured', figures, result: samples.at(-1)?.result }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0
}

function numbers(value: unknown, key: string): readonly number[] {
  return list(value, key).filter((item) => typeof item === 'number')
}
