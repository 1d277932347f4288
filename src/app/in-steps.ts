import { setImmediate } from 'node:timers/promises'
import type { Steps } from '#model'

/** Does what takes a quarter of a second for a large session, and lets others have their turn between. */
export async function inSteps<Result>(steps: Steps<Result>): Promise<Result> {
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
    await setImmediate()
  }
}
