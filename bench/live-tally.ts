import { eachMark, sharedNow } from './live-line.ts'

interface Mark {
  readonly n: number
  readonly at: number
}

const STEP_MS = 0.05
const STEPS = 400_000
const REMEMBERED = 32

/**
 * What arrived at many devices, counted while it arrives. Devices are sent the same bytes: a message that another
 * one just had is not looked through again, so that the counting leaves the machine to what is measured.
 */
export class LiveTally {
  readonly #steps = new Uint32Array(STEPS + 1)
  readonly #recent: { readonly bytes: Buffer; readonly marks: readonly Mark[] }[] = []
  readonly #last: Float64Array
  readonly #from: number
  #delivered = 0
  #repeated = 0
  #messages = 0

  constructor(devices: number, from: number) {
    this.#last = new Float64Array(devices).fill(from - 1)
    this.#from = from
  }

  take(device: number, bytes: Buffer): void {
    const now = sharedNow()
    this.#messages += 1
    let last = this.#last[device] ?? this.#from - 1
    for (const { n, at } of this.#marksOf(bytes)) {
      if (n < this.#from) continue
      if (n <= last) {
        this.#repeated += 1
        continue
      }
      last = n
      this.#delivered += 1
      const step = Math.min(STEPS, Math.max(0, Math.round((now - at) / STEP_MS)))
      this.#steps[step] = (this.#steps[step] ?? 0) + 1
    }
    this.#last[device] = last
  }

  /** Histogram as `[step, count]` pairs, to be added up over processes. */
  report(): object {
    const steps: [number, number][] = []
    for (const [step, count] of this.#steps.entries()) if (count > 0) steps.push([step, count])
    return { delivered: this.#delivered, repeated: this.#repeated, messages: this.#messages, steps }
  }

  #marksOf(bytes: Buffer): readonly Mark[] {
    for (const known of this.#recent) {
      if (known.bytes.length === bytes.length && known.bytes.equals(bytes)) return known.marks
    }
    const marks: Mark[] = []
    eachMark(bytes.toString('utf8'), (n, at) => marks.push({ n, at }))
    this.#recent.unshift({ bytes: Buffer.from(bytes), marks })
    if (this.#recent.length > REMEMBERED) this.#recent.pop()
    return marks
  }
}

/** The latency that so large a part of all deliveries stays below, from the histograms of all processes. */
export function latencyOf(steps: readonly (readonly [step: number, count: number])[], part: number): number {
  const sorted = steps.toSorted(([a], [b]) => a - b)
  const total = sorted.reduce((sum, [, count]) => sum + count, 0)
  let seen = 0
  for (const [step, count] of sorted) {
    seen += count
    if (seen >= total * part) return step * STEP_MS
  }
  return Number.NaN
}
