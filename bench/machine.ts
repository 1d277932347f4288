import { cpus, loadavg, totalmem } from 'node:os'

interface Machine {
  readonly cores: number
  readonly model: string
  readonly memoryGb: number
  readonly node: string
  readonly load: readonly number[]
}

export function machine(): Machine {
  const cores = cpus()
  return {
    cores: cores.length,
    model: cores[0]?.model ?? 'unknown',
    memoryGb: Math.round(totalmem() / 1e9),
    node: process.version,
    load: loadavg().map((load) => Math.round(load * 100) / 100),
  }
}

/** CPU time holds on a busy machine to within a few percent; wall time does not. */
export function busyWarning({ load, cores }: Machine): string | undefined {
  const [now = 0] = load
  if (now < cores * 0.5) return undefined
  return `WARNING: load ${now} on ${cores} cores. Somebody else is working here: trust ratios, not wall times.`
}
