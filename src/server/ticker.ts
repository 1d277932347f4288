/** Calls many things back together, at most once per tick, and at once when the last time is long enough ago. */
export interface Ticker<T> {
  /** Has `flush` called for it with the next tick. */
  add(one: T): void
  close(): void
}

export function createTicker<T>(options: {
  readonly tickMs: number
  readonly flush: (all: ReadonlySet<T>) => void
}): Ticker<T> {
  let waiting = new Set<T>()
  let last = Number.NEGATIVE_INFINITY
  let timer: NodeJS.Timeout | undefined
  let immediate: NodeJS.Immediate | undefined

  function run(): void {
    timer = undefined
    immediate = undefined
    last = performance.now()
    const all = waiting
    waiting = new Set()
    options.flush(all)
  }

  return {
    add(one) {
      waiting.add(one)
      if (timer !== undefined || immediate !== undefined) return
      const due = last + options.tickMs - performance.now()
      if (due <= 0) immediate = setImmediate(run)
      else timer = setTimeout(run, due)
    },
    close() {
      clearTimeout(timer)
      clearImmediate(immediate)
      waiting.clear()
    },
  }
}
