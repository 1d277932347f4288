import { toQuery, type FoundEntry, type Query } from '#store'
import type { IndexedHit, Watch, WatchOptions } from './session-index.ts'

/** Searches that go on: those who wait are told each entry that matches, once, in the order of the index. */
export interface Watches {
  add(q: string, options: WatchOptions): Watch
  /** An index begins to answer. `newest`: what is in it already is no news. */
  open(epoch: string, newest: number): void
  /** Entries up to this number are in the index. */
  committed(newest: number): Promise<void>
}

interface Waiting {
  readonly query: Query
  readonly options: WatchOptions
  /** Entries up to this number were told, or are older than the question. */
  told: number | undefined
  epoch: string | undefined
  busy: Promise<void>
}

export function createWatches(seams: {
  readonly search: (query: Query, newerThan: number) => Promise<readonly FoundEntry[]>
  readonly show: (found: readonly FoundEntry[], query: Query) => Promise<readonly IndexedHit[]>
  readonly now: () => number
}): Watches {
  const waiting = new Set<Waiting>()
  let epoch = ''
  let newest: number | undefined

  async function catchUp(watch: Waiting): Promise<void> {
    if (watch.told === undefined || newest === undefined || !waiting.has(watch)) return
    const upTo = newest
    if (upTo <= watch.told) return
    const found = (await seams.search(watch.query, watch.told)).filter(({ number }) => number <= upTo)
    const ordered = found.toSorted((a, b) => a.number - b.number)
    for (const hit of await seams.show(ordered, watch.query)) {
      if (!waiting.has(watch)) return
      watch.options.onHit(hit, `${epoch}.${hit.number}`)
    }
    watch.told = upTo
    watch.options.onCaughtUp(`${epoch}.${upTo}`)
  }

  function take(watch: Waiting): Promise<void> {
    watch.busy = watch.busy.then(() => catchUp(watch))
    return watch.busy
  }

  function begin(watch: Waiting): void {
    if (newest === undefined) return
    const [cursorEpoch, number] = (watch.options.cursor ?? '').split('.')
    if (watch.epoch === undefined && cursorEpoch === epoch && /^\d+$/.test(number ?? ''))
      watch.told = Number(number)
    else {
      if (watch.epoch !== undefined || watch.options.cursor !== undefined)
        watch.options.onReset(`${epoch}.${newest}`)
      watch.told = newest
      watch.options.onCaughtUp(`${epoch}.${newest}`)
    }
    watch.epoch = epoch
  }

  return {
    add(q, options) {
      const watch: Waiting = {
        query: toQuery(q, seams.now()),
        options,
        told: undefined,
        epoch: undefined,
        busy: Promise.resolve(),
      }
      waiting.add(watch)
      begin(watch)
      void take(watch)
      return { close: () => waiting.delete(watch) }
    },
    open(name, number) {
      epoch = name
      newest = number
      for (const watch of waiting) {
        begin(watch)
        void take(watch)
      }
    },
    async committed(number) {
      newest = number
      await Promise.all([...waiting].map(take))
    },
  }
}
