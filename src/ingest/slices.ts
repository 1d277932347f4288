import { setImmediate } from 'node:timers/promises'

/** How long a piece of work may keep the event loop from everything else. */
const SLICE_MS = 8

/** Divides long work into slices, between which other work has its turn. */
export interface Slices {
  /** Whether the slice has taken as long as it may. */
  isOver(): boolean
  /** Begins the next one, after everything else that waits. */
  next(): Promise<void>
}

export function createSlices(): Slices {
  let since = performance.now()
  return {
    isOver: () => performance.now() - since >= SLICE_MS,
    async next() {
      await setImmediate()
      since = performance.now()
    },
  }
}
