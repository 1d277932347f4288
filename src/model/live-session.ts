import type {
  Abilities,
  AgentModel,
  DeltaFact,
  MessageFact,
  PermissionMode,
  RetryingFact,
  TurnOutcome,
} from './agent-fact.ts'
import type { Attention, AttentionState } from './attention.ts'
import type { Block } from './block.ts'
import type { ChangedCall } from './changed-call.ts'

/** Why a live session is over. */
export type EndReason =
  /** A person ended it. */
  | 'ended'
  /** Nothing happened for as long as was configured. */
  | 'idle'
  /** No daemon came for as long as was configured. */
  | 'orphaned'
  | 'agent-closed'
  | 'agent-crashed'
  | 'agent-failed'
  /** The agent could not be started. */
  | 'start-failed'
  /** The host was told to stop, as when the machine shuts down. */
  | 'host-stopped'
  /** The host died without a word. Somebody else wrote this. */
  | 'host-gone'

/**
 * How far a prompt has come. `in-doubt`: it was on its way to the agent when the host or the agent died, and the agent
 * has not said that it took it up. Its transcript tells; it is never sent a second time by itself.
 */
export type PromptState = 'undelivered' | 'in-doubt' | 'delivered'

/** Who sends what Throughline itself says to an agent. When it was not heard, nobody needs to send it again. */
export const OWN_NOTES = 'throughline'

/** A prompt from a device. */
export interface NewPrompt {
  /** Minted by the device: the same id twice is the same prompt. */
  readonly id: string
  readonly blocks: readonly Block[]
  readonly by: string
}

/** How far a prompt has come that was asked to be taken. */
export type PromptReceipt = { readonly id: string; readonly state: LivePrompt['state'] }

/** What a live session is doing. `pending`: the agent is being started. */
export type SessionState =
  | { readonly state: 'pending' }
  | { readonly state: 'idle' }
  | { readonly state: 'running' }
  /** For a person. */
  | { readonly state: 'waiting' }
  | {
      readonly state: 'ended'
      readonly reason: EndReason
      readonly message?: string | undefined
      /** What to do about it, where that is known. */
      readonly hint?: string | undefined
    }

/**
 * A prompt on its way. `queued`: admitted, and for the agent at the next moment at which it can take it. `sent`: handed
 * over, and not taken up yet.
 */
export interface LivePrompt {
  readonly id: string
  readonly blocks: readonly Block[]
  readonly by: string
  readonly at: string
  readonly state: 'queued' | 'sent' | PromptState
}

/** What happens in a live session, for everybody who looks at it. */
export type SessionFact =
  | { readonly kind: 'state.changed'; readonly state: SessionState }
  | { readonly kind: 'prompt.admitted'; readonly prompt: LivePrompt }
  | { readonly kind: 'prompt.moved'; readonly id: string; readonly state: LivePrompt['state'] }
  | { readonly kind: 'attention.opened'; readonly attention: Attention }
  | { readonly kind: 'attention.settled'; readonly id: string; readonly state: AttentionState }
  | { readonly kind: 'mode.changed'; readonly mode: PermissionMode }
  | { readonly kind: 'model.changed'; readonly model: string }
  | { readonly kind: 'session.renamed'; readonly agentSessionId: string }
  | {
      readonly kind: 'agent.started'
      readonly tools: readonly string[]
      readonly commands: readonly string[]
      /** What this agent can, where that is less than its driver can with others. */
      readonly can?: Abilities | undefined
      /** The modes that the session may be put into, and the models that the agent offers, where that is known. */
      readonly modes?: readonly PermissionMode[] | undefined
      readonly models?: readonly AgentModel[] | undefined
    }
  | { readonly kind: 'turn.started'; readonly promptId?: string | undefined }
  | DeltaFact
  | MessageFact
  | RetryingFact
  | { readonly kind: 'turn.ended'; readonly outcome: TurnOutcome }
  /** Something went wrong that the session survives. */
  | { readonly kind: 'trouble.noticed'; readonly message: string }
  /** Something the driver does not know. */
  | { readonly kind: 'unknown'; readonly value: unknown }

/** A fact with its place: `seq` counts from 1 without a gap, for as long as the host runs. */
export type SessionEvent = SessionFact & { readonly seq: number; readonly at: string }

/** How far somebody has seen. Good for one run of a host. */
export interface SessionCursor {
  readonly run: string
  readonly seq: number
}

/** A turn as far as it is known, for somebody who joins in the middle of it. The last one stays until the next begins. */
export interface TurnSoFar {
  readonly promptId?: string | undefined
  readonly startedAt: string
  /** Not there while it runs. */
  readonly outcome?: TurnOutcome | undefined
  /** Whole messages, in order. */
  readonly messages: readonly MessageFact[]
  /** How many before them are not kept any more. */
  readonly dropped: number
  /** Pieces of messages that are not whole yet, put together. */
  readonly streaming: readonly DeltaFact[]
}

/** A live session as it is now: everything that its events have told so far. */
export interface SessionView {
  readonly sessionId: string
  /** Names the run of the host; another one after it was started again. */
  readonly run: string
  readonly seq: number
  /** The process that holds it. */
  readonly pid: number
  readonly agent: string
  readonly can: Abilities
  readonly workdir: string
  readonly startedAt: string
  readonly state: SessionState
  readonly mode: PermissionMode
  readonly model?: string | undefined
  /** The modes that it may be put into, and the models that its agent offers. Not there before the agent has said so. */
  readonly modes?: readonly PermissionMode[] | undefined
  readonly models?: readonly AgentModel[] | undefined
  /** The id that the agent goes on under, when it took another one. */
  readonly agentSessionId?: string | undefined
  readonly tools: readonly string[]
  readonly commands: readonly string[]
  /** Those that are not delivered, and the last that were. */
  readonly prompts: readonly LivePrompt[]
  /** Those that are open, oldest first. */
  readonly attentions: readonly Attention[]
  readonly turn?: TurnSoFar | undefined
  /** Calls that a person changed before they allowed them, the last of them. */
  readonly changedCalls?: readonly ChangedCall[] | undefined
}
