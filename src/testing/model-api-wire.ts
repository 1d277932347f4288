import type { ServerResponse } from 'node:http'

/** What an answer is told of the request. */
export interface StreamFacts {
  readonly model: string
  /** Counts requests: makes the ids of an answer its own. */
  readonly number: number
}

export function inHalves(text: string): readonly string[] {
  const middle = text.length >> 1
  return [text.slice(0, middle), text.slice(middle)]
}

/** Waits, but not for a client that is gone. */
export async function sleep(ms: number, outgoing: ServerResponse): Promise<void> {
  if (outgoing.destroyed) return
  await new Promise<void>((resolve) => {
    const done = (): void => {
      clearTimeout(timer)
      outgoing.off('close', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    outgoing.once('close', done)
  })
}

/** Resolves when the client went away. */
export function gone(outgoing: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    if (outgoing.destroyed) return resolve()
    outgoing.once('close', () => resolve())
  })
}
