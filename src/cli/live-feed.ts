import type { LiveEvent, Throughline, Topic } from '#wire'

/** What happens in a topic, one event after another, for as long as somebody wants it. */
export interface LiveFeed extends AsyncIterable<LiveEvent> {
  /** Ends the iteration, also one that waits. */
  close(): void
}

/** Subscribes at once. What comes is kept until it is taken; an error of the subscription is thrown there. */
export function openFeed(throughline: Throughline, topic: Topic): LiveFeed {
  const waiting: LiveEvent[] = []
  let failure: Error | undefined
  let isClosed = false
  let wake: (() => void) | undefined
  const subscription = throughline.subscribe(topic, {
    onEvent(event) {
      waiting.push(event)
      wake?.()
    },
    onError(error) {
      failure = error
      wake?.()
    },
  })

  /** The next event, or nothing when there will be none. */
  async function next(): Promise<LiveEvent | undefined> {
    for (;;) {
      if (isClosed) return undefined
      const event = waiting.shift()
      if (event !== undefined) return event
      if (failure !== undefined) throw failure
      await new Promise<void>((resolve) => (wake = resolve))
    }
  }

  return {
    close() {
      isClosed = true
      subscription.close()
      wake?.()
    },
    async *[Symbol.asyncIterator]() {
      for (let event = await next(); event !== undefined; event = await next()) yield event
    },
  }
}
