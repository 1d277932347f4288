import type { SessionSummary } from '#model'
import type { LineFormat } from '#sources'
import type { SubscribeOptions, Subscription, Topic } from '#wire'
import { getSession } from './get-session.ts'
import type { Keeper } from './keeper.ts'
import type { SessionsTopic } from './list-topics.ts'
import type { Live } from './open-live.ts'
import { subagentPath } from './page.ts'

export interface SubscriberOptions {
  /** What follows all sessions; opened when somebody wants to hear of them. */
  readonly keep: () => Promise<Keeper>
  readonly live: () => Promise<Live>
  readonly format: LineFormat
}

/** Subscribes to any topic. What it needs is opened first, and what fails is told to the subscriber. */
export function createSubscriber(
  options: SubscriberOptions,
): (topic: Topic, how: SubscribeOptions) => Subscription {
  let sessionsTopic: SessionsTopic | undefined

  async function open(topic: Topic, how: SubscribeOptions): Promise<Subscription> {
    if (topic.kind === 'live' || topic.kind === 'board') {
      return await (await options.live()).subscribe(topic, how)
    }
    const keeper = await options.keep()
    const [{ subscribeToSession }, { createSessionsTopic, subscribeToQuery }] = await Promise.all([
      import('./session-topic.ts'),
      import('./list-topics.ts'),
    ])
    switch (topic.kind) {
      case 'sessions':
        sessionsTopic ??= createSessionsTopic(keeper)
        return sessionsTopic.subscribe(how)
      case 'query':
        return await subscribeToQuery(keeper, topic.q, how)
      case 'session': {
        const find = async (): Promise<{ session: SessionSummary; path: string }> => {
          const session = getExactly(keeper.sessions(), topic.id)
          return {
            session,
            path: topic.subagent === undefined ? session.path : subagentPath(session, topic.subagent),
          }
        }
        return subscribeToSession(topic, { ...how, keeper, format: options.format, find })
      }
    }
  }

  return (topic, how) => {
    let inner: Subscription | undefined
    let closed = false
    const begin = async (): Promise<void> => {
      const opened = await open(topic, {
        ...how,
        onEvent: (event) => (closed ? undefined : how.onEvent(event)),
      })
      inner = opened
      if (closed) opened.close()
    }
    begin().catch((error: unknown) => {
      if (!closed) how.onError?.(error instanceof Error ? error : new Error(String(error)))
    })
    return {
      get cursor() {
        return inner === undefined ? how.cursor : inner.cursor
      },
      close() {
        closed = true
        inner?.close()
      },
    }
  }
}

function getExactly(sessions: readonly SessionSummary[], id: string): SessionSummary {
  return sessions.find((session) => session.id === id) ?? getSession(sessions, id)
}
