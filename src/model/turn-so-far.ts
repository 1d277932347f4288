import type { DeltaFact, MessageFact, TurnOutcome } from './agent-fact.ts'
import type { TurnSoFar } from './live-session.ts'

/** What is kept of one turn. Older messages are in the agent's transcript by then. */
const KEPT_BYTES = 4 * 1024 * 1024
/** Of a message that is being said so much is put together. It is told whole when it is. */
const KEPT_PIECES = 2 * 1024 * 1024

export interface GrowingTurn {
  delta(delta: DeltaFact): void
  message(message: MessageFact): void
  end(outcome: TurnOutcome): void
  read(): TurnSoFar
}

/** Puts a turn together from what is told while it runs. Goes on from `begun`, where that is given. */
export function createTurn(
  begun: Pick<TurnSoFar, 'promptId' | 'startedAt'> & Partial<TurnSoFar>,
): GrowingTurn {
  const messages: MessageFact[] = [...(begun.messages ?? [])]
  const sizes = messages.map(sizeOf)
  let bytes = sizes.reduce((sum, size) => sum + size, 0)
  let dropped = begun.dropped ?? 0
  let outcome = begun.outcome
  /** By message and block. Strings grow by reference, so a delta costs its own length. */
  const streaming = new Map<string, DeltaFact>()
  for (const delta of begun.streaming ?? []) streaming.set(keyOf(delta), delta)
  /** Whole blocks that a message has by now. */
  const whole = new Map<string, number>()
  for (const message of messages) count(message)

  /** Where the whole blocks of a message end by now. Who does not say where they stand tells them in order. */
  function count({ messageId, block, blocks }: MessageFact): number {
    if (messageId === undefined) return 0
    const counted = (block ?? whole.get(messageId) ?? 0) + blocks.length
    whole.set(messageId, counted)
    return counted
  }

  return {
    delta(delta) {
      const key = keyOf(delta)
      const before = streaming.get(key)
      const others = [...streaming.values()].reduce((sum, { text }) => sum + text.length, 0)
      const text = delta.text.slice(0, Math.max(0, KEPT_PIECES - others))
      streaming.set(key, before ? { ...before, text: before.text + text } : { ...delta, text })
    },
    message(message) {
      const end = count(message)
      const start = message.block ?? 0
      for (const [key, { messageId, block }] of streaming) {
        if (messageId === message.messageId && block >= start && block < end) streaming.delete(key)
      }
      messages.push(message)
      const size = sizeOf(message)
      sizes.push(size)
      bytes += size
      while (bytes > KEPT_BYTES && messages.length > 1) {
        messages.shift()
        bytes -= sizes.shift() ?? 0
        dropped += 1
      }
    },
    end(ended) {
      outcome = ended
    },
    read: () => ({
      ...(begun.promptId === undefined ? {} : { promptId: begun.promptId }),
      startedAt: begun.startedAt,
      ...(outcome === undefined ? {} : { outcome }),
      messages: [...messages],
      dropped,
      streaming: [...streaming.values()],
    }),
  }
}

function keyOf({ messageId, block, what }: DeltaFact): string {
  return `${messageId} ${block} ${what}`
}

function sizeOf(message: MessageFact): number {
  return JSON.stringify(message).length
}
