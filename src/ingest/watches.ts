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
  /** The next hits that are numbered higher, in the order of their numbers. */
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
    for (;;) {
      const found = await seams.search(watch.query, watch.told)
      const last = found.at(-1)
      if (last === undefined) break
      for (const hit of await seams.show(found, watch.query)) {
        if (!waiting.has(watch)) return
        watch.options.onHit(hit, `${epoch}.${hit.number}`)
      }
      watch.told = last.number
    }
    watch.told = Math.max(watch.told, upTo)
    watch.options.onCaughtUp(`${epoch}.${watch.told}`)
  }

  function take(watch: Waiting): Promise<void> {
    const turn = watch.busy.then(() => catchUp(watch))
    // One look that failed must not keep the next from looking.
    watch.busy = turn.catch(() => undefined)
    return turn
  }

  /** Nobody waits for it: what fails now is tried again with the next commit. */
  function takeLater(watch: Waiting): void {
    take(watch).catch(() => undefined)
  }

  function begin(watch: Waiting): void {
    if (newest === undefined) return
    const [cursorEpoch, number] = (watch.options.cursor ?? '').split('.')
    const isKnown = cursorEpoch === epoch && /^\d{1,15}$/.test(number ?? '') && Number(number) <= newest
    if (watch.epoch === undefined && isKnown) {
      watch.told = Number(number)
      // Nothing came meanwhile, so nothing else will say so.
      if (watch.told === newest) watch.options.onCaughtUp(`${epoch}.${newest}`)
    } else {
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
      takeLater(watch)
      return { close: () => waiting.delete(watch) }
    },
    open(name, number) {
      epoch = name
      newest = number
      for (const watch of waiting) {
        begin(watch)
        takeLater(watch)
      }
    },
    async committed(number) {
      newest = number
      await Promise.all([...waiting].map(take))
    },
  }
}
