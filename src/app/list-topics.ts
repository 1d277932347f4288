import { randomUUID } from 'node:crypto'
import type { SessionSummary } from '#model'
import type { LiveEvent, SubscribeOptions, Subscription } from '#wire'
import type { Keeper } from './keeper.ts'

/** How long changes of one session are gathered before they are told: a session that is written to changes with every line. */
const GATHER_MS = 100

/** The list as it changes. Whoever was here before is told what changed since, and nothing else. */
export interface SessionsTopic {
  subscribe(options: SubscribeOptions): Subscription
  close(): void
}

export function createSessionsTopic(keeper: Keeper): SessionsTopic {
  /** Numbers mean something within one run of one process only. */
  const run = randomUUID().slice(0, 8)
  const changed = new Map<string, { readonly number: number; readonly event: LiveEvent }>()
  const pending = new Map<string, NodeJS.Timeout>()
  const subscribers = new Set<(event: LiveEvent) => void>()
  let number = 0

  // The oldest first: whoever saw up to some number has seen everything before it.
  for (const session of keeper.sessions().toReversed()) record(session)

  function record(session: SessionSummary): LiveEvent {
    number++
    const event: LiveEvent = { kind: 'session.changed', session, cursor: `${run}.${number}` }
    changed.delete(session.id)
    changed.set(session.id, { number, event })
    return event
  }

  function recordRemoved(id: string): LiveEvent {
    number++
    const event: LiveEvent = { kind: 'session.removed', id, cursor: `${run}.${number}` }
    changed.delete(id)
    changed.set(id, { number, event })
    return event
  }

  function tell(event: LiveEvent): void {
    for (const subscriber of subscribers) subscriber(event)
  }

  const latest = new Map<string, SessionSummary>()
  const stop = keeper.onChange((change) => {
    const { id } = change.session
    if (change.kind === 'removed') {
      clearTimeout(pending.get(id))
      pending.delete(id)
      latest.delete(id)
      tell(recordRemoved(id))
      return
    }
    latest.set(id, change.session)
    if (pending.has(id)) return
    tell(record(change.session))
    latest.delete(id)
    pending.set(
      id,
      setTimeout(() => {
        pending.delete(id)
        const session = latest.get(id)
        latest.delete(id)
        if (session !== undefined) tell(record(session))
      }, GATHER_MS).unref(),
    )
  })

  return {
    subscribe(options) {
      let cursor = options.cursor
      let closed = false
      const [cursorRun, seen] = (cursor ?? '').split('.')
      const from = cursorRun === run && seen !== undefined && /^\d+$/.test(seen) ? Number(seen) : undefined
      const send = (event: LiveEvent): void | Promise<void> => {
        ;({ cursor } = event)
        return options.onEvent(event)
      }
      const hear = (event: LiveEvent): void => void send(event)

      async function catchUp(): Promise<void> {
        const begun = number
        if (cursor !== undefined && from === undefined)
          await send({ kind: 'reset', reason: 'restarted', cursor: `${run}.0` })
        // What changes meanwhile moves to the end, so it is told before this is over.
        for (const { number: at, event } of changed.values()) {
          if (closed) return
          const isTold = event.kind === 'session.changed' || from !== undefined || at > begun
          const told = at > (from ?? 0) && isTold ? send(event) : undefined
          if (told !== undefined) await told
        }
        if (closed) return
        subscribers.add(hear)
        await send({ kind: 'caught-up', cursor: `${run}.${number}` })
      }

      catchUp().catch((error: unknown) => {
        if (!closed) options.onError?.(error instanceof Error ? error : new Error(String(error)))
      })
      return {
        get cursor() {
          return cursor
        },
        close() {
          closed = true
          subscribers.delete(hear)
        },
      }
    },
    close() {
      stop()
      for (const timer of pending.values()) clearTimeout(timer)
    },
  }
}
