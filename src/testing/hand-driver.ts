import type { AgentFact, AgentPrompt, Driver, StartOptions } from '#drivers'
import type { Ask, PermissionMode, Resolution } from '#model'

/** An agent that does what a test makes it do. */
export interface HandDriver {
  readonly driver: Driver
  /** What it was started with. Throws before that. */
  started(): StartOptions
  tell(fact: AgentFact): void
  ask(ask: Ask, signal?: AbortSignal): Promise<Resolution>
  readonly prompts: AgentPrompt[]
  /** Everything else that was asked of it. */
  readonly calls: string[]
  /** Fails the next prompts, until it is taken away. */
  failure: Error | undefined
  /** What the start waits for. */
  gate: Promise<void>
}

export function createHandDriver({
  midTurn = true,
  denialWords = true,
}: { readonly midTurn?: boolean; readonly denialWords?: boolean } = {}): HandDriver {
  let options: StartOptions | undefined
  const hand: HandDriver = {
    driver: {
      agent: 'hand',
      can: {
        resume: true,
        fork: true,
        interrupt: true,
        editInput: true,
        denialWords,
        midTurn,
        images: true,
        writesTranscript: false,
      },
      async start(given) {
        options = given
        await hand.gate
        return {
          pids: () => [],
          prompt(prompt) {
            if (hand.failure) return Promise.reject(hand.failure)
            hand.prompts.push(prompt)
            return Promise.resolve()
          },
          interrupt: () => note('interrupt'),
          setMode: (mode: PermissionMode) => note(`mode ${mode}`),
          setModel: (model) => note(`model ${model}`),
          close: () => note('close'),
        }
      },
    },
    started() {
      if (!options) throw new Error('it was not started')
      return options
    },
    tell: (fact) => hand.started().onFact(fact),
    ask: (ask, signal = new AbortController().signal) => hand.started().ask(ask, signal),
    prompts: [],
    calls: [],
    failure: undefined,
    gate: Promise.resolve(),
  }

  function note(call: string): Promise<void> {
    hand.calls.push(call)
    return Promise.resolve()
  }

  return hand
}
