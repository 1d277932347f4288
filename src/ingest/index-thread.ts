import { Worker } from 'node:worker_threads'
import { isErrorCode, isObject, ThroughlineError } from '#base'
import type { ErrorBody, IndexState, UsageReport } from '#wire'
import type { FromIndex, IndexWorkerData, ToIndex } from './index-messages.ts'
import type { IndexTask } from './index-task.ts'
import type { IndexedPage, SessionIndex, SessionIndexOptions, WatchOptions } from './session-index.ts'

/** A search that takes longer is broken off: the thread is ended and another one begun. */
const PATIENCE_MS = 10_000
/** The memory that indexing may take. What it needs for one batch and one long line fits well. */
const HEAP_MB = 192
/** Lines become entries and are gone: a nursery that is too small makes them old. */
const NURSERY_MB = 48

/** After so many deaths within a minute, another thread is begun after a minute's rest. */
const MANY = 10
const REST_MS = 60_000

interface Waiting {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: Error) => void
  readonly timer: NodeJS.Timeout | undefined
}

/**
 * The index in a thread of its own. It may die, of memory or of a search that never ends: then another one takes its
 * place, is told everything again, and goes on where the file on disk is.
 */
export function openIndexThread(options: SessionIndexOptions): SessionIndex {
  const waiting = new Map<number, Waiting>()
  const watches = new Map<
    number,
    { readonly q: string; readonly options: WatchOptions; cursor: string | undefined }
  >()
  const tasks = new Map<string, IndexTask>()
  let state: IndexState = { state: 'building', files: NOTHING, bytes: NOTHING, size: 0 }
  let ids = 0
  let closed = false
  let deaths = 0
  let diedAt: readonly number[] = []
  let resting: NodeJS.Timeout | undefined
  let worker = begin()

  function begin(): Worker {
    const { path, origin, restMs, now } = options
    const workerData: IndexWorkerData = { path, origin, restMs, begunAt: now() }
    const started = new Worker(WORKER, {
      workerData,
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB, maxYoungGenerationSizeMb: NURSERY_MB },
      execArgv: [],
    })
    started.on('message', (message: FromIndex) => {
      // What one that was ended still says is void: the next one is told everything again.
      if (started === worker) take(message)
    })
    started.on('error', (error) => {
      if (started === worker) die(error.message)
    })
    started.on('exit', (code) => {
      if (started === worker && !closed) die(`it ended with ${code}`)
    })
    started.unref()
    return started
  }

  function die(reason: string): void {
    if (closed) return
    deaths++
    for (const { reject, timer } of waiting.values()) {
      clearTimeout(timer)
      reject(notNow())
    }
    waiting.clear()
    if (deaths > 1) {
      options.onNotice({
        message: `The thread of the index died (${reason}) and was started again.`,
        hint: 'If it happens again, delete the index: it is built anew. Sessions can be read all the while.',
      })
    }
    void worker.terminate()
    // One that dies again and again would take a processor for itself.
    diedAt = [...diedAt, options.now()].slice(-MANY)
    const isHopeless = diedAt.length === MANY && options.now() - (diedAt[0] ?? 0) < REST_MS
    if (isHopeless) resting = setTimeout(beginAgain, REST_MS).unref()
    else beginAgain()
  }

  function beginAgain(): void {
    resting = undefined
    if (closed) return
    worker = begin()
    send({ kind: 'sync', tasks: [...tasks.values()] })
    for (const [watch, { q, cursor }] of watches)
      send({ kind: 'watch', watch, q, cursor, now: options.now() })
  }

  function send(message: ToIndex): void {
    // A thread has no origin.
    // eslint-disable-next-line unicorn/require-post-message-target-origin
    worker.postMessage(message)
  }

  function take(message: FromIndex): void {
    switch (message.kind) {
      case 'answer':
      case 'refusal': {
        const found = waiting.get(message.id)
        waiting.delete(message.id)
        clearTimeout(found?.timer)
        if (waiting.size === 0) worker.unref()
        if (message.kind === 'answer') found?.resolve(message.value)
        else found?.reject(toError(message.error))
        break
      }
      case 'counts':
        options.onCounts(message.counts)
        break
      case 'state':
        ;({ state } = message)
        options.onState?.(state)
        break
      case 'notice':
        options.onNotice(message.notice)
        break
      case 'hit':
      case 'reset':
      case 'caught-up':
        takeNews(message)
        break
    }
  }

  function takeNews(message: Extract<FromIndex, { watch: number }>): void {
    const watch = watches.get(message.watch)
    if (watch === undefined) return
    watch.cursor = message.cursor
    if (message.kind === 'hit') watch.options.onHit(message.hit, message.cursor)
    else if (message.kind === 'reset') watch.options.onReset(message.cursor)
    else watch.options.onCaughtUp(message.cursor)
  }

  function ask<T>(
    make: (id: number) => ToIndex,
    isAnswer: (value: unknown) => value is T,
    patience?: number,
  ): Promise<T> {
    if (resting !== undefined) return Promise.reject(notNow())
    return new Promise<T>((resolve, reject) => {
      const id = ++ids
      const timer = patience === undefined ? undefined : setTimeout(breakOff, patience)
      waiting.set(id, {
        resolve: (value) => (isAnswer(value) ? resolve(value) : reject(notNow())),
        reject,
        timer,
      })
      worker.ref()
      send(make(id))

      function breakOff(): void {
        waiting.delete(id)
        reject(tooLong())
        void worker.terminate()
      }
    })
  }

  return {
    sync(all) {
      tasks.clear()
      for (const task of all) tasks.set(task.path, task)
      send({ kind: 'sync', tasks: all })
    },
    touch(task) {
      tasks.set(task.path, task)
      send({ kind: 'touch', task })
    },
    forget(path) {
      tasks.delete(path)
      send({ kind: 'forget', path })
    },
    move(from, to) {
      const task = tasks.get(from)
      if (task !== undefined) tasks.set(to, { ...task, path: to })
      tasks.delete(from)
      send({ kind: 'move', from, to })
    },
    search: (request) =>
      ask((id) => ({ kind: 'search', id, request, now: options.now() }), isPage, PATIENCE_MS),
    usage({ onProgress: _progress, ...request }, leftOut = []) {
      return ask((id) => ({ kind: 'usage', id, request, leftOut }), isReport)
    },
    watch(q, how) {
      const watch = ++ids
      watches.set(watch, { q, options: how, cursor: how.cursor })
      send({ kind: 'watch', watch, q, cursor: how.cursor, now: options.now() })
      return {
        close() {
          watches.delete(watch)
          if (!closed) send({ kind: 'unwatch', watch })
        },
      }
    },
    state: () => state,
    settled: () => ask((id) => ({ kind: 'settled', id }), isNothing),
    async close() {
      if (closed) return
      await ask((id) => ({ kind: 'close', id }), isNothing, CLOSE_MS).catch(() => undefined)
      closed = true
      await worker.terminate()
    },
  }
}

const NOTHING = { done: 0, total: 0 }
const CLOSE_MS = 4_000

/** Tests run the sources, and Node runs what was built of them. */
const WORKER = new URL(
  import.meta.url.endsWith('.ts') ? '../../dist/ingest/index-worker.js' : './index-worker.js',
  import.meta.url,
)

/** Both ends of the thread are this room: what is looked at is that it is the answer to this question. */
function isPage(value: unknown): value is IndexedPage {
  return isObject(value) && Array.isArray(value['hits']) && isObject(value['total'])
}

function isReport(value: unknown): value is UsageReport {
  return isObject(value) && Array.isArray(value['rows']) && isObject(value['total'])
}

function isNothing(value: unknown): value is undefined {
  return value === undefined
}

function notNow(): ThroughlineError {
  return new ThroughlineError('index-unavailable', 'the index was interrupted', {
    hint: 'Try again in a moment; the sessions themselves can be read all the while.',
  })
}

function tooLong(): ThroughlineError {
  return new ThroughlineError(
    'index-unavailable',
    `the search took longer than ${PATIENCE_MS / 1000} s and was broken off`,
    {
      hint: 'Search for longer words, or narrow it down with a facet such as workdir: or after:.',
    },
  )
}

function toError({ code, message, hint }: ErrorBody): ThroughlineError {
  return new ThroughlineError(isErrorCode(code) ? code : 'internal', message, { hint })
}
