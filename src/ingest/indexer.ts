import { ThroughlineError } from '#base'
import { endOfLines, formatOf, readForward, type Meter, type TranscriptFile } from '#sources'
import type { Change, IndexedFile, Store } from '#store'
import { createFileFold, foldReadings, readFold } from './file-fold.ts'
import { guardAt, isGuarded } from './file-guard.ts'
import { openIfThere, seenOf, sortOut, type IndexTask } from './index-task.ts'
import { toProgress, type IndexProgress } from './index-progress.ts'
import { createOpenBatch } from './open-batch.ts'

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
  files(): ReadonlyMap<string, IndexedFile>
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
}

/** Holds memory down, and the wait of a search that comes in between. */
const BATCH = 5_000_000
/** Entries that are written at a time. */
const BATCH_ROWS = 5_000

interface How {
  readonly as: 'past' | 'news'
  /** Whether the time stamp of a file says enough. */
  readonly trusted: boolean
}

export function createIndexer(options: IndexerOptions): Indexer {
  const { store, origin } = options
  const known = new Map<string, IndexedFile>()
  /** The past, newest first, and what happened since, which goes first. */
  let past: IndexTask[] = []
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
  const sizes = new Map<string, number>()
  let built = false
  let stopped = false
  let running: Promise<void> | undefined
  let open = createOpenBatch(origin)

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
        if (news.size > 0 || past.length > 0 || forgotten.size > 0 || moved.length > 0) run()
        else options.onIdle?.()
      })
  }

  /** Nothing is read before it is known how far everything is. */
  async function loadOnce(): Promise<void> {
    for (const file of await store.files()) known.set(file.path, file)
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
    if (reading === path) reading = undefined
  }

  async function work(): Promise<void> {
    await (loading ??= loadOnce())
    for (;;) {
      if (stopped) return
      if (forgotten.size > 0 || moved.length > 0) await flush()
      const [fresh] = news.values()
      const task = fresh ?? past[0]
      if (task === undefined) break
      if (fresh === undefined) past.shift()
      else news.delete(task.path)
      // What was added to a file since it was read is news, also when nobody was there to hear of it.
      const isNews = fresh !== undefined || (known.get(task.path)?.seen ?? '') !== ''
      await index(task, { as: isNews ? 'news' : 'past', trusted: fresh === undefined })
      // News is shown at once; the past is written in large pieces.
      if (fresh !== undefined && news.size === 0) await flush()
    }
    built = true
    await flush()
  }

  async function index(task: IndexTask, how: How): Promise<void> {
    const file = openIfThere(task.path, options)
    if (file === undefined) return
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
    const before = known.get(task.path)
    const seen = seenOf(file)
    sizes.set(task.path, file.size)
    // Two writes can share a time stamp of the file system: of news, the text is looked at.
    const isKnown = before?.seen === seen && before.createdAt === task.createdAt
    if (isKnown && trusted) return
    const isSame =
      before !== undefined && before.offset <= file.size && isGuarded(file, before.offset, before.guard)
    if (isSame && isKnown) return
    const fold = isSame ? readFold(before.fold, before.workdirs) : createFileFold()
    let offset = isSame ? before.offset : 0
    let anew = before !== undefined && !isSame
    // Before it is read: of a file that is written anew meanwhile, what was read is void at the next look.
    const end = endOfLines(file)
    const guard = guardAt(file, end)
    for await (const batch of readForward(file, formatOf(task.path), { from: offset, to: end })) {
      if (reading !== task.path) return
      const isLast = batch.next >= end
      fold.tally.lines += batch.lineStarts.length
      const change = open.take(task, { as, anew, before: isSame ? before : undefined })
      anew = false
      const rows = change.entries.length
      const characters = foldReadings(fold, batch.readings, { entries: change.entries, bills: change.billed })
      open.count(characters, change.entries.length - rows)
      offset = batch.next
      if (open.characters > (options.batch ?? BATCH) || open.rows > BATCH_ROWS) {
        open.put(task, {
          fold,
          offset,
          seen: isLast ? seen : '',
          guard: isLast ? guard : guardAt(file, offset),
        })
        await flush()
        if (stopped || isLast || reading !== task.path) return
      }
    }
    if (reading !== task.path) return
    open.take(task, { as, anew, before: isSame ? before : undefined })
    open.put(task, { fold, offset, seen, guard })
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
      const file = known.get(path)
      if (file !== undefined) sessions.add(file.session)
      known.delete(path)
    }
    writing = new Set(advances.map(({ file }) => file.path))
    const { newest, rows } = await store.apply([
      ...moves.map(([from, to]): Change => ({ kind: 'move', from, to })),
      ...paths.map((path): Change => ({ kind: 'forget', path })),
      ...advances,
    ])
    for (const { file } of advances) known.set(file.path, file)
    writing = new Set()
    options.onCommit?.({ sessions: [...sessions], newest, rows })
  }

  function takeAll(tasks: readonly IndexTask[]): void {
    const there = new Set(tasks.map(({ path }) => path))
    for (const path of there) forgotten.delete(path)
    for (const path of [...known.keys(), ...open.paths(), reading]) {
      if (path === undefined || there.has(path)) continue
      drop(path)
      forgotten.add(path)
    }
    const toRead = sortOut(tasks, known, sizes)
    past = toRead.past.filter(({ path }) => !news.has(path))
    for (const task of toRead.begun.toReversed()) news.set(task.path, task)
  }

  function forget(path: string): void {
    news.delete(path)
    past = past.filter((task) => task.path !== path)
    sizes.delete(path)
    drop(path)
    forgotten.add(path)
  }

  function touch(task: IndexTask): void {
    // While the past is being read a file of it that grows is simply read further, as what it is known for by now.
    const nth = built || known.has(task.path) ? -1 : past.findIndex(({ path }) => path === task.path)
    if (nth >= 0) {
      past[nth] = task
      return
    }
    forgotten.delete(task.path)
    news.set(task.path, task)
  }

  function move(from: string, to: string): void {
    const file = known.get(from)
    const isUnderWay = open.has(from) || reading === from || writing.has(from)
    if (file === undefined || isUnderWay) {
      forget(from)
      return
    }
    drop(to)
    forgotten.delete(to)
    moved.push([from, to])
    known.delete(from)
    known.set(to, { ...file, path: to })
    sizes.set(to, sizes.get(from) ?? file.offset)
    sizes.delete(from)
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
    },
    progress() {
      const waiting = new Set([...past.map(({ path }) => path), ...news.keys()]).size
      return toProgress(sizes, known, { waiting, complete: built && waiting === 0 && running === undefined })
    },
    files: () => known,
    async stop() {
      stopped = true
      await running
    },
  }
}

/** Files whose last lines wait to be written, at most. */
const FILES_HELD = 200
