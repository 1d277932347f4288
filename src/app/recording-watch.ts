import type { SessionView } from '#model'

/** Notices live sessions whose agent answers and writes nothing down. */
export interface RecordingWatch {
  /** A turn was answered. */
  answered(view: SessionView): void
  close(): void
}

export interface RecordingWatchOptions {
  /** When a session last wrote something that can be read, in milliseconds. */
  readonly lastWrite: (sessionId: string) => number | undefined
  /** Runs something later, unless the function that it gives is called before. */
  readonly after: (ms: number, run: () => void) => () => void
  /** What is wrong with a session, for a person; nothing: it is right again. */
  readonly onVerdict: (sessionId: string, trouble: string | undefined) => void
}

/** How long an agent may take to write down what it said. */
const LATE_MS = 3_000
/** So many answers in a row without a line, and somebody is told. */
const ALARM_TURNS = 2

export function createRecordingWatch({ lastWrite, after, onVerdict }: RecordingWatchOptions): RecordingWatch {
  const missed = new Map<string, number>()
  const waiting = new Set<() => void>()

  function check(sessionId: string, ids: readonly string[], begun: number): void {
    if (ids.some((id) => (lastWrite(id) ?? 0) >= begun)) {
      if ((missed.get(sessionId) ?? 0) >= ALARM_TURNS) onVerdict(sessionId, undefined)
      missed.delete(sessionId)
      return
    }
    const count = (missed.get(sessionId) ?? 0) + 1
    missed.set(sessionId, count)
    if (count === ALARM_TURNS) {
      onVerdict(sessionId, `Not recording: ${count} answers, and nothing of them is in the transcript.`)
    }
  }

  return {
    answered({ sessionId, agentSessionId, turn, can }) {
      if (!can.writesTranscript || turn === undefined) return
      const begun = Date.parse(turn.startedAt)
      const stop = after(LATE_MS, () => {
        waiting.delete(stop)
        // Who goes on under another id writes there; what is recorded for an agent stands under ours.
        check(sessionId, [sessionId, agentSessionId ?? sessionId], begun)
      })
      waiting.add(stop)
    },
    close() {
      for (const stop of waiting) stop()
      waiting.clear()
    },
  }
}
