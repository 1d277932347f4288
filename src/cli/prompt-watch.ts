import type { SessionEvent, SessionState, SessionView, TurnOutcome } from '#model'

/** How the wait for an answer ended. */
export type PromptEnd =
  | { readonly kind: 'turn'; readonly outcome: TurnOutcome }
  | { readonly kind: 'ended'; readonly state: Extract<SessionState, { state: 'ended' }> }

/** Waits for the end of the turn in which a prompt was answered. */
export interface PromptWatch {
  view(view: SessionView): PromptEnd | undefined
  event(event: SessionEvent): PromptEnd | undefined
}

/** The agent may take a prompt up in a turn that runs already: what counts is that it did. */
export function createPromptWatch(promptId: string): PromptWatch {
  let isTaken = false
  return {
    view({ state, prompts, turn }) {
      if (state.state === 'ended') return { kind: 'ended', state }
      // One that is not listed any more was delivered long ago.
      const ours = prompts.find(({ id }) => id === promptId)
      isTaken ||= ours === undefined || ours.state === 'delivered'
      const isOver = isTaken && state.state === 'idle' && turn?.outcome !== undefined
      return isOver ? { kind: 'turn', outcome: turn.outcome } : undefined
    },
    event(event) {
      switch (event.kind) {
        case 'turn.started':
          isTaken ||= event.promptId === promptId
          return undefined
        case 'prompt.moved':
          isTaken ||= event.id === promptId && event.state === 'delivered'
          return undefined
        case 'message':
          isTaken ||= event.role === 'person' && event.id === promptId
          return undefined
        case 'turn.ended':
          return isTaken ? { kind: 'turn', outcome: event.outcome } : undefined
        case 'state.changed':
          return event.state.state === 'ended' ? { kind: 'ended', state: event.state } : undefined
        case 'prompt.admitted':
        case 'attention.opened':
        case 'attention.settled':
        case 'mode.changed':
        case 'model.changed':
        case 'session.renamed':
        case 'agent.started':
        case 'delta':
        case 'retrying':
        case 'trouble.noticed':
        case 'unknown':
          return undefined
      }
    },
  }
}
