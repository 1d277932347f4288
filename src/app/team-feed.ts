import { Worker } from 'node:worker_threads'
import type { IndexTask } from '#ingest'
import type { SessionSummary } from '#model'
import type { PostgresAddress } from '#store'
import { moveFiles, toTasks } from './kept-files.ts'
import type { Keeper } from './keeper.ts'
import type { FromFeed, ToFeed, ToldStatus } from './team-feed-messages.ts'

/** Brings this machine's own sessions into the index of the team, masked, and keeps it up with them. */
export interface TeamFeed {
  status(): ToldStatus
  /** Which sessions go to the team is different now: all of them are looked at again. */
  resync(): void
  /** Resolves when everything that was known so far is in the index. */
  settled(): Promise<void>
  close(): Promise<void>
}

export interface TeamFeedOptions {
  readonly address: PostgresAddress
  readonly keeper: Pick<Keeper, 'onChange'> & { readonly catalogue: Pick<Keeper['catalogue'], 'sessions'> }
  /** Whether a session of this machine goes to the team. Samples and sessions of other machines never do. */
  readonly ships?: ((session: SessionSummary) => boolean) | undefined
  readonly onStatus?: ((status: ToldStatus) => void) | undefined
}

/** The memory that feeding may take, as indexing may. */
const HEAP_MB = 192
const NURSERY_MB = 48
const FIRST_PAUSE_MS = 1000
const LONGEST_PAUSE_MS = 60_000
const CLOSE_MS = 4000

/** Begins at once, in a thread of its own. One that dies is begun again, and goes on from what the database has. */
export function openTeamFeed(options: TeamFeedOptions): TeamFeed {
  const { keeper, ships = () => true } = options
  const waiting = new Map<number, { readonly resolve: () => void; readonly again: ToFeed }>()
  let status: ToldStatus = { complete: false, waiting: 0, held: 0 }
  let ids = 0
  let closed = false
  let pause = FIRST_PAUSE_MS
  let pausing: NodeJS.Timeout | undefined
  let worker: Worker | undefined = begin()

  function begin(): Worker {
    const started = new Worker(WORKER, {
      workerData: { address: options.address.reveal() },
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB, maxYoungGenerationSizeMb: NURSERY_MB },
      execArgv: [],
    })
    started.on('message', (message: FromFeed) => {
      if (started === worker) take(message)
    })
    started.on('error', () => died(started))
    started.on('exit', () => died(started))
    started.unref()
    return started
  }

  function died(which: Worker): void {
    if (which !== worker || closed) return
    worker = undefined
    pausing = setTimeout(() => {
      worker = begin()
      resync()
      for (const { again } of waiting.values()) send(again)
    }, pause).unref()
    pause = Math.min(pause * 2, LONGEST_PAUSE_MS)
  }

  function take(message: FromFeed): void {
    switch (message.kind) {
      case 'status':
        ;({ status } = message)
        if (status.complete) pause = FIRST_PAUSE_MS
        options.onStatus?.(status)
        break
      case 'done':
        waiting.get(message.id)?.resolve()
        waiting.delete(message.id)
        if (waiting.size === 0) worker?.unref()
        break
    }
  }

  function send(message: ToFeed): void {
    // A thread has no origin.
    // eslint-disable-next-line unicorn/require-post-message-target-origin
    worker?.postMessage(message)
  }

  function ask(kind: 'settled' | 'close'): Promise<void> {
    return new Promise((resolve) => {
      const id = ++ids
      const again: ToFeed = { kind, id }
      waiting.set(id, { resolve, again })
      worker?.ref()
      send(again)
    })
  }

  function isFed(session: SessionSummary): boolean {
    return session.demo !== true && session.origin === undefined && ships(session)
  }

  function resync(): void {
    send({ kind: 'sync', tasks: keeper.catalogue.sessions().filter(isFed).flatMap(toTasks) })
  }

  const sink = {
    touch: (task: IndexTask) => send({ kind: 'touch', task }),
    forget: (path: string) => send({ kind: 'forget', path }),
    move: (from: string, to: string) => send({ kind: 'move', from, to }),
  }
  const stop = keeper.onChange((change) => {
    const { session } = change
    if (session.demo === true || session.origin !== undefined) return
    if (change.kind === 'removed' || !isFed(session)) {
      for (const { path } of toTasks(session)) sink.forget(path)
      return
    }
    if (change.kind === 'moved') return moveFiles(sink, change.from, session)
    const files = new Set(change.files)
    for (const task of toTasks(session)) if (files.has(task.path)) sink.touch(task)
  })
  resync()

  return {
    status: () => status,
    resync,
    settled: () => ask('settled'),
    async close() {
      if (closed) return
      stop()
      clearTimeout(pausing)
      let patience: NodeJS.Timeout | undefined
      const tired = new Promise<void>((resolve) => {
        patience = setTimeout(resolve, CLOSE_MS)
      })
      await Promise.race([worker === undefined ? undefined : ask('close'), tired])
      clearTimeout(patience)
      closed = true
      for (const { resolve } of waiting.values()) resolve()
      await worker?.terminate()
    },
  }
}

/** Tests run the sources, and Node runs what was built of them. */
const WORKER = new URL(
  import.meta.url.endsWith('.ts') ? '../../dist/app/team-feed-worker.js' : './team-feed-worker.js',
  import.meta.url,
)
