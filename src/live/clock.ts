/** The time, as somebody tells it: the system in a host, a test by hand. */
export interface Clock {
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Runs something later, once, unless the function that it gives is called before. */
  readonly after: (ms: number, run: () => void) => () => void
}

/** What `setTimeout` takes: with more it fires at once. */
const LONGEST = 2 ** 31 - 1

/** A clock with real timers. A time that is too long for one is as good as never. */
export function createClock(now: () => number): Clock {
  return {
    now,
    after(ms, run) {
      const timer = setTimeout(run, Math.min(ms, LONGEST))
      return () => clearTimeout(timer)
    },
  }
}

/** The time as it is written down. */
export function toIso(clock: Clock): string {
  return new Date(clock.now()).toISOString()
}

/** Waits for some work, but not longer than `ms`: then it rejects, and the work goes on. */
export async function within<T>(
  work: Promise<T>,
  { ms, clock }: { readonly ms: number; readonly clock: Clock },
): Promise<T> {
  let stop: (() => void) | undefined
  const late = new Promise<never>((_resolve, reject) => {
    stop = clock.after(ms, () => reject(new Error(`it took longer than ${ms} ms`)))
  })
  try {
    return await Promise.race([work, late])
  } finally {
    stop?.()
  }
}

/** How long something that is about to settle is waited for. */
const SETTLING_MS = 1_000

/** Waits a moment for it to settle, however it does. */
export async function briefly(work: Promise<unknown> | undefined, clock: Clock): Promise<void> {
  if (work !== undefined) await within(work, { ms: SETTLING_MS, clock }).catch(() => {})
}
