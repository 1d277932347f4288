import type { SessionEvent } from '#model'

/** What is kept for somebody who comes back. Further back they are told how things stand instead. */
const KEPT_BYTES = 8 * 1024 * 1024
const KEPT_EVENTS = 20_000

/** An event, and how it is written: once, however many are told. */
export interface LoggedEvent {
  readonly event: SessionEvent
  readonly json: string
}

export interface EventLog {
  add(event: SessionEvent): LoggedEvent
  /** Everything after `seq`, or `undefined` when that is not all there any more, or `seq` is none of ours. */
  findAfter(seq: number): readonly LoggedEvent[] | undefined
}

/** The last events of a session, in order and without a gap. */
export function createEventLog(): EventLog {
  const kept: LoggedEvent[] = []
  let bytes = 0
  let last = 0

  return {
    add(event) {
      const logged = { event, json: JSON.stringify(event) }
      kept.push(logged)
      bytes += logged.json.length
      last = event.seq
      while (bytes > KEPT_BYTES || kept.length > KEPT_EVENTS) bytes -= kept.shift()?.json.length ?? 0
      return logged
    },
    findAfter(seq) {
      if (seq > last || seq < last - kept.length) return undefined
      return kept.slice(kept.length - (last - seq))
    },
  }
}
