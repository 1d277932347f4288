import { closeSync, openSync, writeSync } from 'node:fs'
import { sharedNow, toLiveLine } from './live-line.ts'

/** Events at a pace: `perSecond` of them evenly, or with 0 at random intervals of 5 to 60 ms. */
export interface Pace {
  readonly count: number
  readonly perSecond: number
}

/** Appends lines to a transcript as an agent does: one write each, marked with the time just before it. */
export function append(
  options: Pace & {
    readonly path: string
    readonly sessionId: string
    readonly bytes: number
    /** The number of the first line. */
    readonly from: number
    readonly onDone: () => void
  },
): { report(): object } {
  const { sessionId, bytes, from } = options
  const fd = openSync(options.path, 'a')
  let written = 0
  keepPace(options, (index) => {
    const at = sharedNow()
    writeSync(fd, toLiveLine(sessionId, { n: from + index, bytes, at }))
    written += 1
    if (written < options.count) return
    closeSync(fd)
    options.onDone()
  })
  return { report: () => ({ written }) }
}

const HEAD_START_MS = 300

/** Calls back `count` times. What is late because the machine is busy is made up for. */
export function keepPace({ count, perSecond }: Pace, emit: (index: number) => void): void {
  let next = 0
  const pause = (): number => (perSecond > 0 ? 1 : 5 + Math.random() * 55)
  const begun = performance.now() + HEAD_START_MS
  const turn = (): void => {
    const due = perSecond > 0 ? Math.floor(((performance.now() - begun) * perSecond) / 1000) + 1 : next + 1
    while (next < Math.min(due, count)) emit(next++)
    if (next < count) setTimeout(turn, pause())
  }
  setTimeout(turn, HEAD_START_MS)
}
