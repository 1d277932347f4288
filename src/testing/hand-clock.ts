/** A clock that a test turns by hand. */
export interface HandClock {
  readonly now: () => number
  readonly after: (ms: number, run: () => void) => () => void
  /** Lets time pass, and everything that is due happen in its order. */
  pass(ms: number): void
}

export function createHandClock(): HandClock {
  let time = Date.UTC(2026, 0, 1)
  let alarms: { readonly at: number; readonly run: () => void }[] = []
  return {
    now: () => time,
    after(ms, run) {
      const alarm = { at: time + ms, run }
      alarms.push(alarm)
      return () => {
        alarms = alarms.filter((other) => other !== alarm)
      }
    },
    pass(ms) {
      const end = time + ms
      for (;;) {
        const [next] = alarms.filter(({ at }) => at <= end).toSorted((a, b) => a.at - b.at)
        if (!next) break
        alarms = alarms.filter((other) => other !== next)
        time = next.at
        next.run()
      }
      time = end
    },
  }
}
