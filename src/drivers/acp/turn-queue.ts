import type { ContentBlock } from '@agentclientprotocol/sdk'
import type { ThroughlineError } from '#base'
import type { AgentPrompt } from '../driver.ts'

/** A prompt on its way to the agent, which takes one at a time. */
export interface WaitingPrompt {
  readonly prompt: AgentPrompt
  readonly content: ContentBlock[]
  /** The agent has it. */
  readonly take: () => void
}

/** Prompts in the order in which they came, each id once. */
export interface TurnQueue {
  /** Resolves when the agent has it. An id that was there already gets the same promise. */
  push(prompt: AgentPrompt, content: ContentBlock[]): Promise<void>
  next(): WaitingPrompt | undefined
  /** No more prompts. Whoever still waits is told why. */
  end(reason: ThroughlineError): void
}

export function createTurnQueue(): TurnQueue {
  const known = new Map<string, Promise<void>>()
  const waiting: (WaitingPrompt & { readonly refuse: (reason: ThroughlineError) => void })[] = []
  let ended: ThroughlineError | undefined

  return {
    push(prompt, content) {
      if (ended) return Promise.reject(ended)
      const before = known.get(prompt.id)
      if (before) return before
      const done = new Promise<void>((take, refuse) => {
        waiting.push({ prompt, content, take, refuse })
      })
      // Whoever pushed it may not listen any more.
      done.catch(() => {})
      known.set(prompt.id, done)
      return done
    },
    next: () => (ended ? undefined : waiting.shift()),
    end(reason) {
      ended ??= reason
      for (const each of waiting.splice(0)) each.refuse(ended)
    },
  }
}
