import { Worker } from 'node:worker_threads'

/** What is needed of a file to sync it: its own way, and its descriptor for a way beside it. */
interface Syncable {
  readonly fd: number
  datasync(): Promise<void>
}

/** Syncs files. Each promise settles as fdatasync of that file did. */
export interface SyncThreads {
  datasync(file: Syncable): Promise<void>
}

type Job = { readonly file: Syncable; readonly done: (error?: Error) => void }
/** `starting` until it has said that it can be used: one that cannot be had takes nobody's sync along. */
type Thread = {
  readonly worker: Worker
  state: 'starting' | 'idle' | 'ending' | Job
  timer: NodeJS.Timeout | undefined
}

const PATIENCE_MS = 30_000
/** How much the last sync counts in what a sync is thought to take. */
const WEIGHT = 0.2
const PROGRAM = `
const { parentPort } = require('node:worker_threads')
const { fdatasyncSync } = require('node:fs')
parentPort.on('message', (fd) => {
  let failure = null
  try { fdatasyncSync(fd) } catch (error) { failure = { code: error.code, message: error.message } }
  parentPort.postMessage(failure)
})
parentPort.postMessage('ready')`

/**
 * Lets many files be synced at once. Node has four threads for everything that is done with files, and a disk that
 * takes 5 ms for a sync would so acknowledge 800 lines a second, whoever waits, although the file system puts all
 * that wait at the same time on disk together. Up to `own` at once go Node's way. When as many again wait, and a
 * sync takes longer than `slowMs`, there are threads that do nothing but sync, at most `threads`; they are gone when
 * they were not needed for a while. On a disk that is faster a thread would cost more than it brings.
 */
export function createSyncThreads(limits: {
  readonly own: number
  readonly threads: number
  readonly slowMs: number
}): SyncThreads {
  const { own, threads, slowMs } = limits
  const waiting: Job[] = []
  const made = new Set<Thread>()
  let busy = 0
  let tookMs = 0
  let areThreadsToBeHad = true

  function pump(): void {
    while (busy < own && waiting.length > 0) syncHere(waiting.shift())
    if (waiting.length <= own || tookMs < slowMs) return
    for (const thread of made) if (thread.state === 'idle') syncThere(thread, waiting.shift())
    if (waiting.length > own && made.size < threads && areThreadsToBeHad) start()
  }

  function syncHere(job: Job | undefined): void {
    if (!job) return
    busy += 1
    const begun = performance.now()
    job.file
      .datasync()
      .then(
        () => job.done(),
        (error: unknown) => job.done(error instanceof Error ? error : new Error(String(error))),
      )
      .finally(() => {
        busy -= 1
        tookMs += (performance.now() - begun - tookMs) * WEIGHT
        pump()
      })
  }

  function syncThere(thread: Thread, job: Job | undefined): void {
    if (!job) return
    thread.state = job
    clearTimeout(thread.timer)
    // Somebody waits for it: it keeps the process alive as any other operation on a file does.
    thread.worker.ref()
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is for windows
    thread.worker.postMessage(job.file.fd)
  }

  function start(): void {
    const worker = findWorker()
    areThreadsToBeHad = worker !== undefined
    if (!worker) return
    const thread: Thread = { worker, state: 'starting', timer: undefined }
    made.add(thread)
    worker.unref()
    worker.on('message', (failure: 'ready' | { readonly code: string; readonly message: string } | null) => {
      const { state } = thread
      thread.state = 'idle'
      worker.unref()
      thread.timer = setTimeout(() => end(thread), PATIENCE_MS).unref()
      if (typeof state === 'object') state.done(toError(failure))
      pump()
    })
    worker.on('error', () => {})
    worker.on('exit', () => {
      made.delete(thread)
      clearTimeout(thread.timer)
      if (thread.state === 'starting') areThreadsToBeHad = false
      if (typeof thread.state === 'object')
        thread.state.done(new Error('the thread that synced the file is gone'))
      pump()
    })
  }

  function end(thread: Thread): void {
    thread.state = 'ending'
    void thread.worker.terminate()
  }

  return {
    datasync: async (file) =>
      await new Promise((resolve, reject) => {
        waiting.push({ file, done: (error) => (error ? reject(error) : resolve()) })
        pump()
      }),
  }
}

/** Not everybody lets a library have threads. What the process was started with is of no concern to them. */
function findWorker(): Worker | undefined {
  try {
    return new Worker(PROGRAM, { eval: true, execArgv: [], env: {} })
  } catch {
    return undefined
  }
}

function toError(
  failure: 'ready' | { readonly code: string; readonly message: string } | null,
): Error | undefined {
  if (failure === null || failure === 'ready') return undefined
  return Object.assign(new Error(failure.message), { code: failure.code })
}
