import type { Attention } from './attention.ts'
import type { LivePrompt, SessionEvent, SessionState, SessionView } from './live-session.ts'
import { toChangedCall } from './changed-call.ts'
import { createTurn } from './turn-so-far.ts'
import type { GrowingTurn } from './turn-so-far.ts'

/** Delivered prompts that are still shown beside those that are not. */
const DELIVERED_KEPT = 5
/** Calls that were changed are in the journal too. These are for those who look on while they run. */
const CHANGED_KEPT = 50

export interface GrowingView {
  add(event: SessionEvent): void
  read(): SessionView
}

/**
 * A live session as its events tell it. The host keeps one and so does everybody who looks on, so that they agree. Goes
 * on from `begun`, which may be a view that was read elsewhere.
 */
export function createView(begun: SessionView): GrowingView {
  let rest: Omit<SessionView, 'prompts' | 'attentions' | 'turn'> = begun
  const prompts = new Map<string, LivePrompt>(begun.prompts.map((prompt) => [prompt.id, prompt]))
  const attentions = new Map<string, Attention>(
    begun.attentions.map((attention) => [attention.id, attention]),
  )
  let turn: GrowingTurn | undefined = begun.turn && createTurn(begun.turn)

  function addPrompt(prompt: LivePrompt): void {
    prompts.set(prompt.id, prompt)
    const delivered = [...prompts.values()].filter(({ state }) => state === 'delivered')
    for (const { id } of delivered.slice(0, -DELIVERED_KEPT)) prompts.delete(id)
  }

  return {
    add(event) {
      rest = { ...rest, seq: event.seq }
      switch (event.kind) {
        case 'state.changed':
          rest = { ...rest, state: event.state }
          return
        case 'prompt.admitted':
          addPrompt(event.prompt)
          return
        case 'prompt.moved': {
          const prompt = prompts.get(event.id)
          if (prompt) addPrompt({ ...prompt, state: event.state })
          return
        }
        case 'attention.opened':
          attentions.set(event.attention.id, event.attention)
          return
        case 'attention.settled': {
          const changed = toChangedCall(attentions.get(event.id)?.ask, event.state)
          if (changed)
            rest = { ...rest, changedCalls: [...(rest.changedCalls ?? []), changed].slice(-CHANGED_KEPT) }
          attentions.delete(event.id)
          return
        }
        case 'mode.changed':
          rest = { ...rest, mode: event.mode }
          return
        case 'model.changed':
          rest = { ...rest, model: event.model }
          return
        case 'session.renamed':
          rest = { ...rest, agentSessionId: event.agentSessionId }
          return
        case 'agent.started':
          rest = {
            ...rest,
            tools: event.tools,
            commands: event.commands,
            can: event.can ?? rest.can,
            ...(event.modes === undefined ? {} : { modes: event.modes }),
            ...(event.models === undefined ? {} : { models: event.models }),
          }
          return
        case 'turn.started':
          turn = createTurn({ promptId: event.promptId, startedAt: event.at })
          return
        case 'delta':
          turn ??= createTurn({ startedAt: event.at })
          turn.delta(event)
          return
        case 'message':
          turn ??= createTurn({ startedAt: event.at })
          turn.message(event)
          return
        case 'turn.ended':
          turn?.end(event.outcome)
          return
        case 'retrying':
        case 'trouble.noticed':
        case 'unknown':
      }
    },
    read: () => ({
      ...rest,
      prompts: [...prompts.values()],
      attentions: [...attentions.values()],
      ...(turn === undefined ? {} : { turn: turn.read() }),
    }),
  }
}

/** What a session is doing, from what is known of it. */
export function toState(known: {
  readonly isStarted: boolean
  readonly isInTurn: boolean
  readonly openAttentions: number
}): SessionState {
  if (known.openAttentions > 0) return { state: 'waiting' }
  if (!known.isStarted) return { state: 'pending' }
  return known.isInTurn ? { state: 'running' } : { state: 'idle' }
}
