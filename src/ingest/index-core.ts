import { ThroughlineError } from '#base'
import {
  embeddedPrices,
  isDamage,
  openSqliteStore,
  toHitCursors,
  toQuery,
  toUsageReport,
  type SqliteStore,
  toDamage,
} from '#store'
import type { IndexState } from '#wire'
import { readHits } from './found-hits.ts'
import type { IndexTask } from './index-task.ts'
import { findAside } from './index-aside.ts'
import { notNow, toMessage } from './index-errors.ts'
import { countSessions, exceptSessions, listCompactions } from './index-counts.ts'
import { toState } from './index-progress.ts'
import { createIndexer, type Indexer } from './indexer.ts'
import type { SessionIndex, SessionIndexOptions } from './session-index.ts'
import { createWatches } from './watches.ts'

export interface IndexCoreOptions extends SessionIndexOptions {
  /** How often to look whether the index is still there. */
  readonly checkMs?: number
  /** Between two tries when the index cannot be written. */
  readonly retryMs?: number
  /** How long after it was opened an index that nobody closed is looked at. */
  readonly lookMs?: number
  /** The time by which files are stamped, where questions have another one. */
  readonly clock?: () => number
}

/** How many hits a page has unless somebody says so, and at most. */
const PAGE = 20
const LARGEST_PAGE = 200
const CHECK_MS = 2_000
const LOOK_MS = 30_000
/** Hits that are told to somebody who waits at a time. */
const NEWS = 500
const RETRY_MS = 5_000

/** The index, in this thread. */
export function openIndexCore(options: IndexCoreOptions): SessionIndex {
  const { path, now } = options
  let store: SqliteStore | undefined
  let indexer: Indexer | undefined
  let size = 0
  let closed = false
  let failed = false
  /** Somebody was told that it cannot be written, and it has not been written since. */
  let complained = false
  let retry: NodeJS.Timeout | undefined
  let looking: NodeJS.Timeout | undefined
  /** Everything there is to index, so that a new index can be filled. */
  const tasks = new Map<string, IndexTask>()
  const watches = createWatches({
    search: async (query, newerThan) =>
      store === undefined ? [] : (await store.search({ query, limit: NEWS, newerThan })).hits,
    show: async (found, query) => (await readHits(found, query)).hits,
    now,
  })

  const tellState = (): void => options.onState?.(state())
  function open(): void {
    try {
      store = openSqliteStore({
        path,
        onSetAside: (reason, kept) => {
          options.onNotice({
            message: `The index could not be used (${reason}) and is built again.`,
            hint: `Nothing is lost. The old one is kept at ${kept} until the next time.`,
          })
        },
      })
      failed = false
    } catch (error) {
      fail(error)
      return
    }
    const opened = store
    indexer = createIndexer({
      store: opened,
      origin: options.origin,
      now: options.clock ?? now,
      restMs: options.restMs,
      onCommit({ sessions, newest }) {
        void tellCommitted(opened, sessions, newest)
      },
      onIdle: tellState,
      onFailure: (error) => recover(opened, error),
    })
    void beginWatching(opened)
    if (!opened.wasClosed) {
      looking = setTimeout(() => void look(opened), options.lookMs ?? LOOK_MS)
      looking.unref()
    }
  }

  /** Nobody closed it, so it may be anything: when the first rush is over, all of it is looked at once. */
  async function look(opened: SqliteStore): Promise<void> {
    if (opened !== store) return
    const told = await opened.verify()
    if (told.length > 0) recover(opened, toDamage(told))
  }

  async function beginWatching(opened: SqliteStore): Promise<void> {
    try {
      const newest = await opened.newest()
      if (opened === store) watches.open(opened.epoch, newest)
    } catch (error) {
      recover(opened, error)
    }
  }

  /** The file is not sound, or not there, or the disk is full. Everything it held can be read again. */
  function recover(broken: SqliteStore, error: unknown): void {
    if (closed || broken !== store) return
    void indexer?.stop()
    store = undefined
    indexer = undefined
    void broken.close().catch(() => undefined)
    const kept = isDamage(error) ? findAside(path) : undefined
    if (kept === undefined) {
      fail(error)
      return
    }
    options.onNotice({
      message: `The index was damaged (${toMessage(error)}) and is built again.`,
      hint: `Nothing is lost. The old one is kept at ${kept} until the next time.`,
    })
    start()
  }

  function fail(error: unknown): void {
    if (!complained) {
      options.onNotice({
        message: `The index cannot be written: ${toMessage(error)}.`,
        hint: 'Check free space and permissions of the folder. Sessions can still be read; searching is slower.',
      })
    }
    complained = true
    failed = true
    tellState()
    retry = setTimeout(start, options.retryMs ?? RETRY_MS)
    retry.unref()
  }

  function start(): void {
    if (closed) return
    open()
    syncAll()
  }

  function syncAll(): void {
    const [from, to] = [store, indexer]
    if (from === undefined || to === undefined) return
    to.sync([...tasks.values()])
      .then(tellAll)
      .catch((error: unknown) => recover(from, error))
  }

  async function tellAll(): Promise<void> {
    if (store === undefined) return
    await tellCounts(store, undefined)
    tellState()
  }

  async function tellCommitted(
    from: SqliteStore,
    sessions: readonly string[],
    newest: number,
  ): Promise<void> {
    if (from !== store) return
    try {
      await tellCounts(from, sessions)
      await watches.committed(newest)
      complained = false
      tellState()
    } catch (error) {
      recover(from, error)
    }
  }

  async function tellCounts(from: SqliteStore, sessions: readonly string[] | undefined): Promise<void> {
    if (indexer === undefined) return
    const counts = await countSessions(from, indexer.files(), sessions)
    size = await from.size()
    options.onCounts(counts)
  }

  function state(): IndexState {
    return toState(indexer?.progress(), { failed, waiting: tasks.size, size })
  }

  /** Somebody deleted the index: it is begun again where it was. */
  function checkPlace(): void {
    if (store === undefined || store.isInPlace()) return
    options.onNotice({
      message: 'The index was deleted and is built again.',
      hint: 'Nothing is lost; searching is complete again when it is done.',
    })
    const old = store
    const oldIndexer = indexer
    store = undefined
    indexer = undefined
    // Closed first: SQLite deletes by name what belongs to a file, and a new one has the same names.
    void Promise.resolve(oldIndexer?.stop())
      .then(() => old.close())
      .catch(() => undefined)
      .then(start)
  }

  const checking = setInterval(checkPlace, options.checkMs ?? CHECK_MS)
  checking.unref()
  open()

  return {
    sync(all) {
      tasks.clear()
      for (const task of all) tasks.set(task.path, task)
      syncAll()
    },
    touch(task) {
      tasks.set(task.path, task)
      indexer?.touch(task)
    },
    forget(forgotten) {
      tasks.delete(forgotten)
      indexer?.forget(forgotten)
    },
    move(from, to) {
      const task = tasks.get(from)
      if (task === undefined) return
      tasks.delete(from)
      tasks.set(to, { ...task, path: to })
      indexer?.move(from, to)
    },
    async search({ q, limit = PAGE, cursor }) {
      const asked = getStore(store)
      const query = toQuery(q, now())
      if (query.isEmpty) return { hits: [], total: { count: 0, exact: true }, notes: query.notes }
      const page = { limit: Math.min(limit, LARGEST_PAGE), ...(cursor === undefined ? {} : { cursor }) }
      const found = await guarded(asked, () => asked.search({ query, ...page }))
      const cursors = toHitCursors(found.hits, query, cursor)
      const { hits, wrong } = await readHits(found.hits, query, cursors)
      for (const wrongPath of wrong) reread(wrongPath)
      return {
        hits,
        ...(found.next === undefined ? {} : { next: found.next }),
        total: found.total,
        notes: [...query.notes, ...found.notes],
      }
    },
    async usage(request, leftOut = []) {
      const asked = getStore(store)
      const bills = await guarded(asked, () => asked.bills())
      const files = indexer?.files().byPath.values() ?? []
      return toUsageReport(exceptSessions(leftOut, bills), request, {
        prices: embeddedPrices(),
        complete: state().state === 'complete',
        compactions: listCompactions(exceptSessions(leftOut, files)),
      })
    },
    watch: (q, how) => watches.add(q, how),
    state,
    async settled() {
      await indexer?.settled()
    },
    async close() {
      closed = true
      clearInterval(checking)
      clearTimeout(retry)
      clearTimeout(looking)
      await indexer?.stop()
      await store?.close()
    },
  }

  async function guarded<T>(asked: SqliteStore, ask: () => Promise<T>): Promise<T> {
    try {
      return await ask()
    } catch (error) {
      if (error instanceof ThroughlineError || !isDamage(error)) throw error
      recover(asked, error)
      throw notNow(error)
    }
  }

  /** The file does not say what the index says it does: it changed a moment ago, or the index is wrong about it. */
  function reread(wrongPath: string): void {
    const task = tasks.get(wrongPath)
    if (task !== undefined) indexer?.touch(task)
  }
}

function getStore(store: SqliteStore | undefined): SqliteStore {
  if (store === undefined) throw notNow(undefined)
  return store
}
