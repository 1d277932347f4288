/**
 * Knows which files nobody has written to for a moment. A last line without its newline is taken for whole only then:
 * before, it may still be coming. One timer serves all files.
 */
export interface Rests<Of> {
  /** Whether the file, written to at that time, has come to rest. If not, `of` is told of when it has. */
  isAtRest(path: string, modifiedMs: number, of: Of): boolean
  /** Nobody wants to know of it any more. */
  forget(path: string): void
  /** The files that are waited for. */
  waiting(): readonly string[]
  /** Resolves when none of them is waited for as it is now: it came to rest, was written to, or is forgotten. */
  settled(): Promise<void>
  stop(): void
}

export interface RestsOptions<Of> {
  readonly onRest: (of: Of) => void
  readonly restMs?: number | undefined
  /** Milliseconds, by the clock that files are stamped with. Not there: every file is at rest. */
  readonly now: (() => number) | undefined
}

/** How long nobody writes to a file before what stands in it is taken for all of it. */
const REST_MS = 1000

interface Waiting<Of> {
  readonly of: Of
  readonly dueAt: number
  /** Told when it is not waited for any more. */
  readonly waiters: (() => void)[]
}

export function createRests<Of>({ onRest, restMs = REST_MS, now }: RestsOptions<Of>): Rests<Of> {
  const waiting = new Map<string, Waiting<Of>>()
  let timer: NodeJS.Timeout | undefined
  let timerAt = Infinity

  function arm(time: number): void {
    const next = [...waiting.values()].reduce((first, { dueAt }) => Math.min(first, dueAt), Infinity)
    if (next === timerAt) return
    clearTimeout(timer)
    timerAt = next
    timer = next === Infinity ? undefined : setTimeout(tell, Math.max(1, Math.ceil(next - time))).unref()
  }

  function tell(): void {
    timerAt = Infinity
    const time = now?.() ?? Infinity
    const rested = [...waiting].filter(([, { dueAt }]) => dueAt <= time)
    for (const [path] of rested) waiting.delete(path)
    for (const [, { of, waiters }] of rested) {
      onRest(of)
      for (const done of waiters) done()
    }
    arm(time)
  }

  function forget(path: string): void {
    const known = waiting.get(path)
    waiting.delete(path)
    for (const done of known?.waiters ?? []) done()
  }

  return {
    isAtRest(path, modifiedMs, of) {
      const time = now?.() ?? Infinity
      forget(path)
      // A time that lies ahead is that of another clock, and says nothing.
      const age = Math.abs(time - modifiedMs)
      if (age >= restMs) return true
      waiting.set(path, { of, dueAt: time + restMs - age, waiters: [] })
      arm(time)
      return false
    },
    forget,
    waiting: () => [...waiting.keys()],
    async settled() {
      await Promise.all(
        [...waiting.values()].map(
          ({ waiters }) =>
            new Promise<void>((resolve) => {
              waiters.push(resolve)
            }),
        ),
      )
    },
    stop() {
      clearTimeout(timer)
      timerAt = Infinity
      for (const path of waiting.keys()) forget(path)
    },
  }
}
