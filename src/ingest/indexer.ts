import { ThroughlineError } from '#base'
import { formatOf, type Meter, type TranscriptFile } from '#sources'
import type { Change, Store } from '#store'
import { createFileFold, readFold } from './file-fold.ts'
import { openIfThere, seenOf, sortOut, toUnfinished, type IndexTask } from './index-task.ts'
import { toProgress, type IndexProgress } from './index-progress.ts'
import { createKnownFiles, type KnownFiles } from './indexing/known-files.ts'
import { createPastTasks } from './indexing/past-tasks.ts'
import { readNewLines, whereToGoOn } from './new-lines.ts'
import { createOpenBatch } from './open-batch.ts'
import { createRests } from './rests.ts'

/** What was committed, for those who show it. */
export interface Committed {
  /** Sessions whose files moved on. */
  readonly sessions: readonly string[]
  readonly newest: number
  readonly rows: number
}

/**
 * Brings files into the store, newest first, a batch at a time. Only what is new of a file is read. May stop at any
 * moment: what is committed is whole, and the rest is taken up where it was left.
 */
export interface Indexer {
  /** These are all the files there are, the most recently active first. What else is in the index is forgotten. */
  sync(tasks: readonly IndexTask[]): Promise<void>
  /** A file grew, or is new. */
  touch(task: IndexTask): void
  forget(path: string): void
  /** The same file has another name now. */
  move(from: string, to: string): void
  /** Resolves when nothing is left to do. */
  settled(): Promise<void>
  progress(): IndexProgress
  files(): Pick<KnownFiles, 'byPath' | 'ofSession'>
  stop(): Promise<void>
}

export interface IndexerOptions {
  readonly store: Pick<Store, 'files' | 'apply'>
  /** The machine the files are on. */
  readonly origin: string
  readonly onCommit?: (committed: Committed) => void
  /** Nothing is left to do. */
  readonly onIdle?: () => void
  /** A file could not be read or written. It is tried again when it changes. */
  readonly onProblem?: (path: string, error: unknown) => void
  /** The store failed: nothing more can be done with it. */
  readonly onFailure: (error: unknown) => void
  readonly meter?: Meter
  /** Characters of search text that are written at a time. */
  readonly batch?: number
  /** The time, in milliseconds. Not there: a last line without its newline is taken at once. */
  readonly now?: (() => number) | undefined
  /** How long nobody writes to a file before its last line is taken without a newline. */
  readonly restMs?: number | undefined
}

/** Characters and entries that are written at a time: holds memory down, and the wait of a search that comes in between. */
const BATCH = 5_000_000
const BATCH_ROWS = 5_000

interface How {
  readonly as: 'past' | 'news'
  /** Whether the time stamp of a file says enough. */
  readonly trusted: boolean
}

export function createIndexer(options: IndexerOptions): Indexer {
  const { store, origin } = options
  const known = createKnownFiles()
  /** The past, newest first, and what happened since, which goes first. */
  let past = createPastTasks([])
  const news = new Map<string, IndexTask>()
  const forgotten = new Set<string>()
  const moved: (readonly [from: string, to: string])[] = []
  /** Files whose rows are being written. */
  let writing: ReadonlySet<string> = new Set()
  /** The file that is being read, unless what it says was made void meanwhile. */
  let reading: string | undefined
  let loading: Promise<void> | undefined
  /** What was told before it was known how far everything is. It is done then, in the order in which it was told. */
  let told: (() => void)[] | undefined = []
  let built = false
  let stopped = false
  let running: Promise<void> | undefined
  let open = createOpenBatch(origin)
  /** Files whose last line has no newline, and may still be coming. */
  const rests = createRests<IndexTask>({
    onRest: (task) => inTurn(() => touch(task)),
    restMs: options.restMs,
    now: options.now,
  })

  function run(): void {
    if (running !== undefined || stopped) return
    running = work()
      .catch((error: unknown) => {
        stopped = true
        options.onFailure(error)
      })
      .finally(() => {
        running = undefined
        if (stopped) return
        if (news.size > 0 || past.size > 0 || forgotten.size > 0 || moved.length > 0) run()
        else options.onIdle?.()
      })
  }

  /** Nothing is read before it is known how far everything is. */
  async function loadOnce(): Promise<void> {
    for (const file of await store.files()) known.put(file)
    const waiting = told ?? []
    told = undefined
    for (const act of waiting) act()
  }

  function inTurn(act: () => void): void {
    if (told === undefined) act()
    else told.push(act)
    run()
  }

  /** What was read of a file and is not written yet is void. */
  function drop(path: string): void {
    open.drop(path)
    rests.forget(path)
    if (reading === path) reading = undefined
  }

  async function work(): Promise<void> {
    await (loading ??= loadOnce())
    for (;;) {
      if (stopped) return
      if (forgotten.size > 0 || moved.length > 0) await flush()
      const [fresh] = news.values()
      const task = fresh ?? past.take()
      if (task === undefined) break
      if (fresh !== undefined) news.delete(task.path)
      // What was added to a file since it was read is news, also when nobody was there to hear of it.
      const isNews = fresh !== undefined || (known.byPath.get(task.path)?.seen ?? '') !== ''
      await index(task, { as: isNews ? 'news' : 'past', trusted: fresh === undefined })
      // News is shown at once; the past is written in large pieces.
      if (fresh !== undefined && news.size === 0) await flush()
    }
    built = true
    await flush()
  }

  async function index(task: IndexTask, how: How): Promise<void> {
    const file = openIfThere(task.path, options)
    if (file === undefined) return rests.forget(task.path)
    try {
      await readNew(task, file, how)
    } catch (error) {
      if (!(error instanceof ThroughlineError)) throw error
      options.onProblem?.(task.path, error)
    } finally {
      reading = undefined
      file.close()
    }
  }

  async function readNew(task: IndexTask, file: TranscriptFile, { as, trusted }: How): Promise<void> {
    // What is read of it twice in one batch would be in the index twice.
    if (open.has(task.path)) await flush()
    reading = task.path
    rests.forget(task.path)
    const before = known.byPath.get(task.path)
    const seen = seenOf(file)
    known.size(task.path, file.size)
    // Two writes can share a time stamp of the file system: of news, the text is looked at.
    const isKnown = before?.seen === seen && before.createdAt === task.createdAt
    if (isKnown && trusted) return
    const from = whereToGoOn(file, before)
    if (from !== undefined && isKnown) return
    const base = from === undefined ? undefined : before
    const fold = base === undefined ? createFileFold() : readFold(base.fold, base.workdirs)
    let anew = before !== undefined && base === undefined
    const isAtRest = (): boolean => rests.isAtRest(task.path, file.modifiedMs, task)
    for await (const piece of readNewLines(file, formatOf(task.path), { from: from ?? 0, isAtRest })) {
      if (reading !== task.path) return
      open.add(task, { fold, piece, as, anew, before: base })
      anew = false
      const isFull = open.characters > (options.batch ?? BATCH) || open.rows > BATCH_ROWS
      if (isFull || piece.isLast) {
        const { offset, isLast, isUnfinished } = piece
        const looked = isUnfinished === true ? toUnfinished(seen) : seen
        open.put(task, { fold, offset, seen: isLast ? looked : '', guard: piece.guard() })
      }
      if (isFull) await flush()
      if (stopped || reading !== task.path) return
    }
    if (open.size >= FILES_HELD) await flush()
  }

  async function flush(): Promise<void> {
    if (open.size === 0 && forgotten.size === 0 && moved.length === 0) return
    const paths = [...forgotten]
    const moves = moved.splice(0)
    forgotten.clear()
    const advances = open.changes()
    open = createOpenBatch(origin)
    const sessions = new Set(advances.map(({ file }) => file.session))
    for (const path of paths) {
      const file = known.byPath.get(path)
      if (file !== undefined) sessions.add(file.session)
      known.drop(path)
    }
    writing = new Set(advances.map(({ file }) => file.path))
    const { newest, rows } = await store.apply([
      ...moves.map(([from, to]): Change => ({ kind: 'move', from, to })),
      ...paths.map((path): Change => ({ kind: 'forget', path })),
      ...advances,
    ])
    for (const { file } of advances) known.put(file)
    writing = new Set()
    options.onCommit?.({ sessions: [...sessions], newest, rows })
  }

  function takeAll(tasks: readonly IndexTask[]): void {
    const there = new Set(tasks.map(({ path }) => path))
    for (const path of there) forgotten.delete(path)
    for (const path of [...known.byPath.keys(), ...open.paths(), reading]) {
      if (path === undefined || there.has(path)) continue
      drop(path)
      forgotten.add(path)
    }
    const toRead = sortOut(tasks, known)
    past = createPastTasks(toRead.past.filter(({ path }) => !news.has(path)))
    for (const task of toRead.begun.toReversed()) news.set(task.path, task)
  }

  function forget(path: string): void {
    news.delete(path)
    past.drop(path)
    known.size(path, undefined)
    drop(path)
    forgotten.add(path)
  }

  function touch(task: IndexTask): void {
    // While the past is being read a file of it that grows is simply read further, as what it is known for by now.
    if (!built && !known.byPath.has(task.path) && past.has(task.path)) {
      past.replace(task)
      return
    }
    forgotten.delete(task.path)
    news.set(task.path, task)
  }

  function move(from: string, to: string): void {
    const file = known.byPath.get(from)
    const isUnderWay = open.has(from) || reading === from || writing.has(from)
    if (file === undefined || isUnderWay) {
      forget(from)
      return
    }
    drop(to)
    rests.forget(from)
    forgotten.delete(to)
    moved.push([from, to])
    known.drop(from)
    known.put({ ...file, path: to })
    known.size(to, known.sizeOf(from) ?? file.offset)
    known.size(from, undefined)
  }

  return {
    sync(tasks) {
      inTurn(() => takeAll(tasks))
      return (loading ??= loadOnce())
    },
    touch: (task) => inTurn(() => touch(task)),
    forget: (path) => inTurn(() => forget(path)),
    move: (from, to) => inTurn(() => move(from, to)),
    async settled() {
      for (let current = running; current !== undefined; current = running) await current
      await rests.settled()
      for (let current = running; current !== undefined; current = running) await current
    },
    progress() {
      const beside = new Set([...news.keys(), ...rests.waiting()].filter((path) => !past.has(path)))
      const waiting = past.size + beside.size
      const complete = built && waiting === 0 && running === undefined
      return toProgress(known.total, { waiting, complete })
    },
    files: () => known,
    async stop() {
      stopped = true
      rests.stop()
      await running
    },
  }
}

/** Files whose last lines wait to be written, at most. */
const FILES_HELD = 200
