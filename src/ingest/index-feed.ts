import { setTimeout as sleep } from 'node:timers/promises'
import type { IndexTask } from './index-task.ts'
import { createIndexer, type Indexer } from './indexer.ts'
import { toMaskedStore, type FedStore } from './masked-store.ts'

/**
 * Feeds an index that is far away from the files of this machine, in the background. While it does not answer nothing
 * waits for it; when it does again, what is there is asked for, and it goes on from that.
 */
export interface IndexFeed {
  /** These are all the files there are, the most recently active first. */
  sync(tasks: readonly IndexTask[]): void
  touch(task: IndexTask): void
  forget(path: string): void
  /** The same bytes have another name now. */
  move(from: string, to: string): void
  status(): FeedStatus
  /** Resolves when everything it was told is in the index. */
  settled(): Promise<void>
  close(): Promise<void>
}

export interface FeedStatus {
  /** Everything that it was told is in the index. */
  readonly complete: boolean
  /** How many files have something that is not in it. */
  readonly waiting: number
  /** Why nothing goes on at the moment. */
  readonly trouble?: Error | undefined
  /** How many texts stayed here since it was opened, because they could not be looked through for secrets. */
  readonly held: number
}

export interface IndexFeedOptions {
  /** Opened when there is something to tell, and again after it broke. */
  readonly openStore: () => Promise<FedStore>
  /** A text without its secrets. Throws where it cannot be looked through: then it stays here. */
  readonly mask: (text: string) => string
  readonly onStatus?: ((status: FeedStatus) => void) | undefined
  /** The time. Not there: a last line without its newline is taken at once. */
  readonly now?: (() => number) | undefined
  /** How long what was written is gathered: a session that is written to changes with every line. */
  readonly gatherMs?: number | undefined
}

const GATHER_MS = 500
/** Characters that are written at a time: others who write wait while the database takes them in. */
const BATCH = 1_000_000
const FIRST_PAUSE_MS = 200
const LONGEST_PAUSE_MS = 30_000

export function openIndexFeed(options: IndexFeedOptions): IndexFeed {
  const { mask, gatherMs = GATHER_MS } = options
  /** Everything there is, so that another store can be filled. */
  const tasks = new Map<string, IndexTask>()
  const touched = new Map<string, IndexTask>()
  const closing = new AbortController()
  const waiters: (() => void)[] = []
  let store: FedStore | undefined
  let indexer: Indexer | undefined
  let connecting: Promise<void> | undefined
  let gathering: NodeJS.Timeout | undefined
  let trouble: Error | undefined
  /** What went wrong the last time: before the next try there is a pause. */
  let failure: unknown
  let held = 0
  let pause = FIRST_PAUSE_MS
  let isWanted = false

  function tell(): void {
    options.onStatus?.(status())
    if (!status().complete) return
    for (const done of waiters.splice(0)) done()
  }

  function status(): FeedStatus {
    const progress = indexer?.progress()
    const isBehind = touched.size > 0 || (isWanted && indexer === undefined)
    const waiting = progress === undefined ? tasks.size : progress.files.total - progress.files.done
    return {
      complete: !isBehind && (progress?.complete ?? !isWanted),
      waiting: Math.max(waiting, touched.size),
      ...(trouble === undefined ? {} : { trouble }),
      held,
    }
  }

  /** Tries until it is connected. */
  function connect(): void {
    isWanted = true
    if (closing.signal.aborted || indexer !== undefined) return
    connecting ??= connectOnce().finally(() => {
      connecting = undefined
      connect()
    })
  }

  async function connectOnce(): Promise<void> {
    try {
      if (failure !== undefined) await rest(failure)
      failure = undefined
      const opened = await options.openStore()
      if (closing.signal.aborted) return await opened.close()
      begin(opened)
    } catch (error) {
      failure = error
    }
  }

  async function rest(reason: unknown): Promise<void> {
    const cause = reason instanceof Error && reason.cause instanceof Error ? reason.cause : reason
    trouble = cause instanceof Error ? cause : new Error(String(cause))
    tell()
    await waited(pause)
    pause = Math.min(pause * 2, LONGEST_PAUSE_MS)
  }

  async function waited(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: closing.signal, ref: false }).catch(() => {})
  }

  function begin(opened: FedStore): void {
    store = opened
    touched.clear()
    const masked = toMaskedStore(opened, { mask, onHeld: () => held++ })
    const begun = createIndexer({
      store: masked,
      origin: opened.origin,
      batch: BATCH,
      now: options.now,
      onCommit() {
        trouble = undefined
        pause = FIRST_PAUSE_MS
        tell()
      },
      onIdle() {
        trouble = undefined
        tell()
      },
      onFailure: (error) => fail(opened, error),
    })
    indexer = begun
    begun.sync([...tasks.values()]).catch((error: unknown) => fail(opened, error))
  }

  function fail(broken: FedStore, error: unknown): void {
    if (broken !== store || closing.signal.aborted) return
    store = undefined
    indexer = undefined
    void broken.close().catch(() => undefined)
    failure = error
    connect()
  }

  function tellTouched(): void {
    gathering = undefined
    const all = [...touched.values()]
    touched.clear()
    for (const task of all) indexer?.touch(task)
  }

  return {
    sync(all) {
      tasks.clear()
      touched.clear()
      for (const task of all) tasks.set(task.path, task)
      const [to, from] = [indexer, store]
      if (to === undefined || from === undefined) return connect()
      to.sync(all).catch((error: unknown) => fail(from, error))
    },
    touch(task) {
      tasks.set(task.path, task)
      if (indexer === undefined) return connect()
      touched.set(task.path, task)
      gathering ??= setTimeout(tellTouched, gatherMs).unref()
    },
    forget(path) {
      tasks.delete(path)
      touched.delete(path)
      indexer?.forget(path)
    },
    move(from, to) {
      const task = tasks.get(from)
      tasks.delete(from)
      touched.delete(from)
      if (task !== undefined) tasks.set(to, { ...task, path: to })
      indexer?.move(from, to)
    },
    status,
    settled: () =>
      status().complete || closing.signal.aborted
        ? Promise.resolve()
        : new Promise((resolve) => {
            waiters.push(resolve)
          }),
    async close() {
      closing.abort()
      clearTimeout(gathering)
      await connecting
      await indexer?.stop()
      await store?.close().catch(() => undefined)
      for (const done of waiters.splice(0)) done()
    },
  }
}
