import type { Block } from './block.ts'
import type { TurnFault } from './turn-fault.ts'
import type { Usage } from './usage.ts'

/** What an agent can do, beyond talking. */
export interface Abilities {
  readonly resume: boolean
  readonly fork: boolean
  readonly interrupt: boolean
  /** A permission can be answered with another input. */
  readonly editInput: boolean
  /** A denial can carry words for the agent. Otherwise they are its next prompt. */
  readonly denialWords: boolean
  /** Prompts may come while a turn runs. */
  readonly midTurn: boolean
  readonly images: boolean
  /** Whether the agent writes a transcript that can be read here, which then is the truth. */
  readonly writesTranscript: boolean
}

/** How much a person is asked. `bypass` exists in agents; here only local configuration can ask for it. */
export type PermissionMode = 'default' | 'accept-edits' | 'plan' | 'bypass'

/** From the one that allows least to the one that allows most. */
export const PERMISSION_MODES: readonly PermissionMode[] = ['plan', 'default', 'accept-edits', 'bypass']

/** A model that an agent offers. */
export interface AgentModel {
  readonly id: string
  readonly name: string
}

/** Reads a mode. An unknown one is none: nothing is guessed about what a person would be asked. */
export function findMode(value: unknown): PermissionMode | undefined {
  switch (value) {
    case 'plan':
    case 'default':
    case 'accept-edits':
    case 'bypass':
      return value
    default:
      return undefined
  }
}

/** A piece of a reply in flight. */
export interface DeltaFact {
  readonly kind: 'delta'
  readonly messageId: string
  readonly block: number
  readonly what: 'text' | 'thinking' | 'input'
  readonly text: string
}

/**
 * A whole message, or a whole part of one, before it is anywhere else. `id` is that of its entry on disk, where the
 * agent names it; that of a person's message is the id of the prompt. `block` says where its blocks stand among the
 * deltas of `messageId`. A person's message is told when the agent takes it up, which may be in the middle of a turn.
 */
export interface MessageFact {
  readonly kind: 'message'
  readonly id?: string | undefined
  readonly messageId?: string | undefined
  readonly block?: number | undefined
  readonly role: 'person' | 'agent' | 'tool'
  readonly blocks: readonly Block[]
  readonly model?: string | undefined
  readonly usage?: Usage | undefined
  readonly parentToolUseId?: string | undefined
}

/** The model could not be asked; the agent tries again by itself. */
export interface RetryingFact {
  readonly kind: 'retrying'
  readonly message: string
  readonly status?: number | undefined
  readonly attempt: number
  readonly attempts: number
  readonly inMs: number
}

/** How full the model's window was after a turn, and how large it is. */
export interface TurnContext {
  readonly used: number
  readonly window?: number | undefined
}

/** How a turn came to its end. */
export type TurnOutcome =
  | {
      readonly kind: 'answered'
      readonly usage?: Usage | undefined
      readonly costUsd?: number | undefined
      /** The model that took most of it, where it is told with the usage. */
      readonly model?: string | undefined
      readonly context?: TurnContext | undefined
    }
  | { readonly kind: 'interrupted' }
  /** The API or the agent failed. `retry`: whether the same may work later. */
  | {
      readonly kind: 'failed'
      readonly message: string
      readonly status?: number | undefined
      readonly retry: boolean
      readonly fault?: TurnFault | undefined
      /** What to do about it, where that is known. */
      readonly hint?: string | undefined
    }
