import type { SessionSummary } from '#model'
import type { SubscribeOptions, Subscription, Topic } from '#wire'
import type { ChangedCalls } from './changed-calls.ts'
import { getSession } from './get-session.ts'
import type { Keeper } from './keeper.ts'
import type { SessionsTopic } from './list-topics.ts'
import type { Live } from './open-live.ts'
import type { Memory } from './open-memory.ts'
import { subagentPath } from './page.ts'
import type { TeamSearch } from './team-search.ts'

export interface SubscriberOptions {
  /** What follows all sessions; opened when somebody wants to hear of them. */
  readonly keep: () => Promise<Keeper>
  readonly live: () => Promise<Live>
  readonly memory: () => Promise<Memory>
  /** Which calls a person changed before they allowed them. */
  readonly changes: ChangedCalls['find']
  /** What other machines write. */
  readonly team?: (() => Pick<TeamSearch, 'watch'> | undefined) | undefined
}

export interface Subscriber {
  subscribe(topic: Topic, how: SubscribeOptions): Subscription
  /** From now on nobody is told anything. */
  close(): void
}

/** Subscribes to any topic. What it needs is opened first, and what fails is told to the subscriber. */
export function createSubscriber(options: SubscriberOptions): Subscriber {
  let sessionsTopic: SessionsTopic | undefined
  const open = new Set<Subscription>()

  async function begin(topic: Topic, how: SubscribeOptions): Promise<Subscription> {
    if (topic.kind === 'live' || topic.kind === 'board') {
      return await (await options.live()).subscribe(topic, how)
    }
    if (topic.kind === 'documents') return (await options.memory()).subscribe(topic, how)
    const keeper = await options.keep()
    const [{ subscribeToSession }, { createSessionsTopic }, { subscribeToQuery }] = await Promise.all([
      import('./session-topic.ts'),
      import('./list-topics.ts'),
      import('./query-topic.ts'),
    ])
    switch (topic.kind) {
      case 'sessions':
        sessionsTopic ??= createSessionsTopic(keeper)
        return sessionsTopic.subscribe(how)
      case 'query':
        return await subscribeToQuery({ keeper, team: options.team?.() }, topic.q, how)
      case 'session': {
        const find = async (): Promise<{ session: SessionSummary; path: string }> => {
          const session = getExactly(keeper, topic.id)
          return {
            session,
            path: topic.subagent === undefined ? session.path : subagentPath(session, topic.subagent),
          }
        }
        return subscribeToSession(topic, { ...how, keeper, find, changes: options.changes })
      }
    }
  }

  return {
    subscribe(topic, how) {
      let inner: Subscription | undefined
      let closed = false
      const start = async (): Promise<void> => {
        const opened = await begin(topic, {
          ...how,
          onEvent: (event) => (closed ? undefined : how.onEvent(event)),
        })
        inner = opened
        if (closed) opened.close()
      }
      start().catch((error: unknown) => {
        if (!closed) how.onError?.(error instanceof Error ? error : new Error(String(error)))
      })
      const subscription: Subscription = {
        get cursor() {
          return inner === undefined ? how.cursor : inner.cursor
        },
        close() {
          closed = true
          open.delete(subscription)
          inner?.close()
        },
      }
      open.add(subscription)
      return subscription
    },
    close() {
      for (const subscription of open) subscription.close()
      sessionsTopic?.close()
    },
  }
}

function getExactly(keeper: Keeper, id: string): SessionSummary {
  const sessions = keeper.sessions()
  const found = sessions.find((session) => session.id === id)
  return found ?? getSession({ sessions, copies: keeper.catalogue.copies() }, id)
}
