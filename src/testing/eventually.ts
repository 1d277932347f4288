import { setTimeout as sleep } from 'node:timers/promises'

/** A guard against hanging, not a measure of anything. */
const HANG_MS = 90_000
const PAUSE_MS = 25

/** Waits until a check holds. What it said last is thrown when it never does. */
export async function eventually(check: () => Promise<unknown>): Promise<void> {
  const deadline = performance.now() + HANG_MS
  for (;;) {
    try {
      await check()
      return
    } catch (error) {
      if (performance.now() > deadline) throw error
      await sleep(PAUSE_MS)
    }
  }
}
