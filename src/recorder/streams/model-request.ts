import type { Provider } from '../turn.ts'
import type { Api } from './answer.ts'

/** A turn in the list of messages that a request carries, in the one form of recordings. */
export interface RequestTurn {
  readonly role: 'user' | 'assistant'
  /** Blocks as Anthropic's Messages API has them. Results of tools are blocks of a user. */
  readonly content: readonly object[]
  /** The provider's id of the message, where the request has it. */
  readonly id?: string | undefined
}

/** What a request for an answer says, whatever the provider. */
export interface ModelRequest {
  readonly api: Api
  readonly provider: Provider
  readonly model: string | undefined
  /** What the system says: not a turn, but it tells conversations apart. */
  readonly system: string
  readonly turns: readonly RequestTurn[]
  readonly stream: boolean
  /** `previous_response_id` of OpenAI: the turns before it are known there and not sent again. */
  readonly follows?: string | undefined
}
