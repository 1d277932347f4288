import type { MessageFact, TurnOutcome, Usage } from '#model'

/** Which message of a turn is billed for what. */
export interface BilledMessage {
  readonly messageId: string
  readonly usage: Usage
  readonly model: string | undefined
}

/** What agents tell of a turn as a whole, given to messages of it: each is billed once, and the last one fills the window. */
export interface TurnSpending {
  hear(message: MessageFact & { readonly id: string }): void
  /** The turn is over. In the order in which they were said. */
  end(outcome: TurnOutcome): readonly BilledMessage[]
}

export function createTurnSpending(): TurnSpending {
  let said: string[] = []
  /** How often the model was asked: whenever the agent speaks after a tool has. */
  let requests = 0
  let last: MessageFact['role'] | undefined

  return {
    hear({ id, messageId = id, role, parentToolUseId }) {
      if (parentToolUseId !== undefined) return
      if (role === 'agent') {
        said.push(messageId)
        if (last !== 'agent') requests += 1
      }
      last = role
    },
    end(outcome) {
      const [first, final, asked] = [said[0], said.at(-1), requests]
      said = []
      requests = 0
      last = undefined
      if (outcome.kind !== 'answered' || outcome.usage === undefined || final === undefined) return []
      const { usage, model, context } = outcome
      const whole = { messageId: final, usage, model }
      if (first === undefined || first === final || asked < 2) return [whole]
      // An agent that tells only what all of a turn took has filled the window by about what one request takes.
      const { inLast, before } = splitUsage(usage, context?.used ?? Math.round(sizeOf(usage) / asked))
      if (sizeOf(before) === 0) return [whole]
      return [
        { messageId: first, usage: before, model },
        { messageId: final, usage: inLast, model },
      ]
    },
  }
}

function sizeOf({ input, cacheRead, cacheCreation, output }: Usage): number {
  return input + cacheRead + cacheCreation + output
}

/** A usage in two, of which the last fills the window so far. Together they are the whole. */
function splitUsage(usage: Usage, used: number): { readonly inLast: Usage; readonly before: Usage } {
  let room = used
  const take = (amount: number): number => {
    const taken = Math.min(amount, room)
    room -= taken
    return taken
  }
  const cacheRead = take(usage.cacheRead)
  const input = take(usage.input)
  const cacheCreation5m = take(usage.cacheCreation5m)
  const cacheCreation1h = take(usage.cacheCreation1h)
  const output = take(usage.output)
  const cacheCreation = cacheCreation5m + cacheCreation1h
  return {
    inLast: { input, output, cacheRead, cacheCreation, cacheCreation5m, cacheCreation1h },
    before: {
      input: usage.input - input,
      output: usage.output - output,
      cacheRead: usage.cacheRead - cacheRead,
      cacheCreation: usage.cacheCreation - cacheCreation,
      cacheCreation5m: usage.cacheCreation5m - cacheCreation5m,
      cacheCreation1h: usage.cacheCreation1h - cacheCreation1h,
    },
  }
}
