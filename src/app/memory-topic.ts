import { randomUUID } from 'node:crypto'
import { watch, type FSWatcher } from 'node:fs'
import type { Documents } from '#memory'
import {
  tellsSomething,
  toDelivery,
  type DocumentDelivery,
  type DocumentQuery,
  type MemoryDocument,
} from '#model'
import {
  readDocumentQuery,
  type LiveEvent,
  type MemoryCalls,
  type SubscribeOptions,
  type Subscription,
} from '#wire'
import type { Keeper } from './keeper.ts'
import { readsSessions } from './memory-sessions.ts'

/** Documents that match, as they change. */
export interface DocumentsTopic {
  /** Tells all that matches, then whatever is different. Who was here before is told that it begins anew. */
  subscribe(query: DocumentQuery, options: SubscribeOptions): Subscription
  close(): void
}

export interface DocumentsTopicOptions {
  readonly documents: Documents
  readonly now: () => number
  readonly home: string
  readonly calls: Pick<MemoryCalls, 'query'>
  /** Called when what others share is different. Returns how to stop it. */
  readonly onOthers?: ((listener: () => void) => () => void) | undefined
  /** What follows all sessions; opened when somebody listens to what they say. */
  readonly keep: () => Promise<Keeper>
}

/** How often the file is looked at while somebody listens, for what other processes wrote and no watch told. */
const POLL_MS = 1_000
/** A session that is written to changes with every line. */
const GATHER_MS = 200
/** What takes long is looked at less often: so many times as long is waited. */
const PATIENCE = 4
const LONGEST_TIMER_MS = 2 ** 31 - 1
/** So many characters are told in one event. */
const PIECE = 256 * 1024

type Listener = {
  readonly query: DocumentQuery
  readonly look: () => void
  /** How long the last look took, in milliseconds. */
  readonly cost: () => number
}

export function createDocumentsTopic(options: DocumentsTopicOptions): DocumentsTopic {
  const { documents, now, calls } = options
  const run = randomUUID().slice(0, 8)
  const listeners = new Set<Listener>()
  let number = 0
  let stopAll: (() => void) | undefined
  let stopSessions: (() => void) | undefined
  let expiry: NodeJS.Timeout | undefined

  function lookAll(): void {
    for (const { look } of listeners) look()
    awaitExpiry()
  }

  /** What ends by itself is told when it does. */
  function awaitExpiry(): void {
    clearTimeout(expiry)
    const ends = documents
      .query({})
      .flatMap(({ expiresAt }) => (expiresAt === undefined ? [] : [Date.parse(expiresAt)]))
      .filter((end) => end > now())
    if (ends.length === 0 || listeners.size === 0) return
    const delay = ends.reduce((first, end) => Math.min(first, end)) - now()
    expiry = setTimeout(lookAll, Math.min(LONGEST_TIMER_MS, delay + 1)).unref()
  }

  function begin(): void {
    if (stopAll !== undefined) return
    const refresh = (): void => void documents.refresh().catch(() => {})
    const stopListening = documents.subscribe({ state: ANY_STATE }, lookAll)
    const stopOthers = options.onOthers?.(lookAll)
    const poll = setInterval(refresh, POLL_MS).unref()
    const watching = watchHome(options.home, refresh)
    stopAll = () => {
      stopListening()
      stopOthers?.()
      clearInterval(poll)
      watching?.close()
      clearTimeout(expiry)
    }
  }

  async function beginSessions(): Promise<void> {
    if (stopSessions !== undefined) return
    let gathering: NodeJS.Timeout | undefined
    let stopChanges: (() => void) | undefined
    stopSessions = () => {
      clearTimeout(gathering)
      stopChanges?.()
    }
    const keeper = await options.keep()
    stopChanges = keeper.onChange(() => {
      const pause = Math.max(GATHER_MS, PATIENCE * Math.max(0, ...[...listeners].map(({ cost }) => cost())))
      gathering ??= setTimeout(() => {
        gathering = undefined
        for (const { query, look } of listeners) if (readsSessions(query)) look()
      }, pause).unref()
    })
  }

  function endIfQuiet(): void {
    if (listeners.size > 0) return
    stopAll?.()
    stopSessions?.()
    stopAll = undefined
    stopSessions = undefined
  }

  return {
    subscribe(asked, how) {
      const query = readDocumentQuery(asked)
      let { cursor } = how
      const isBack = cursor !== undefined
      let told: readonly MemoryDocument[] = []
      let isCaughtUp = false
      let isClosed = false
      let isLooking = false
      let isDirty = false
      let cost = 0

      async function tell(event: LiveEvent): Promise<void> {
        if (isClosed) return
        ;({ cursor } = event)
        await how.onEvent(event)
      }

      async function lookOnce(): Promise<void> {
        if (readsSessions(query)) await beginSessions()
        const begun = performance.now()
        const after = await calls.query(query)
        cost = performance.now() - begun
        const delivery = toDelivery(told, after)
        told = after
        for (const piece of toPieces(delivery)) {
          await tell({ kind: 'documents.changed', ...piece, cursor: `${run}.${++number}` })
        }
        if (isCaughtUp) return
        isCaughtUp = true
        await tell({ kind: 'caught-up', cursor: `${run}.${number}` })
      }

      function look(): void {
        isDirty = true
        if (isLooking) return
        isLooking = true
        void goOn()
      }

      const isWanted = (): boolean => isDirty && !isClosed

      async function goOn(): Promise<void> {
        try {
          while (isWanted()) {
            isDirty = false
            await lookOnce()
          }
        } catch (error) {
          if (!isClosed) how.onError?.(error instanceof Error ? error : new Error(String(error)))
          close()
        } finally {
          isLooking = false
        }
      }

      const listener: Listener = { query, look, cost: () => cost }
      function close(): void {
        isClosed = true
        listeners.delete(listener)
        endIfQuiet()
      }

      if (isBack) void tell({ kind: 'reset', reason: 'restarted', cursor: `${run}.${number}` })
      listeners.add(listener)
      begin()
      look()
      awaitExpiry()
      return {
        get cursor() {
          return cursor
        },
        close,
      }
    },
    close() {
      listeners.clear()
      endIfQuiet()
    },
  }
}

const ANY_STATE = ['active', 'quarantined', 'expired', 'superseded', 'retired'] as const

/** Word of a change comes at once where the system gives it; the poll finds the rest. */
function watchHome(home: string, onChange: () => void): FSWatcher | undefined {
  try {
    const watcher = watch(home, { persistent: false }, (_kind, name) => {
      if (name === null || name === 'documents.jsonl') onChange()
    })
    watcher.on('error', () => watcher.close())
    return watcher
  } catch {
    return undefined
  }
}

/** What is told, in events of bearable length. */
function* toPieces(delivery: DocumentDelivery): Generator<Omit<DocumentDelivery, 'documents'>> {
  if (!tellsSomething(delivery)) return
  const { removed } = delivery
  let piece = { added: [] as MemoryDocument[], changed: [] as MemoryDocument[] }
  let isFirst = true
  let size = 0
  for (const kind of ['added', 'changed'] as const) {
    for (const document of delivery[kind]) {
      if (size > PIECE) {
        yield { ...piece, removed: isFirst ? removed : [] }
        piece = { added: [], changed: [] }
        isFirst = false
        size = 0
      }
      piece[kind].push(document)
      size += document.content.length + OVERHEAD
    }
  }
  yield { ...piece, removed: isFirst ? removed : [] }
}

/** What the other fields of a document take, about. */
const OVERHEAD = 400
