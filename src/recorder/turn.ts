import type { JsonObject } from '#base'

/** Whose messages a turn was made of, before they were written down in one form. */
export type Provider = 'anthropic' | 'openai' | 'gemini'

/** What was said: words, or blocks as Anthropic's Messages API has them. A block of any other kind is kept as it is. */
export type Content = string | readonly object[]

/** An answer of a model, with what the provider told of it. */
export interface AssistantMessage {
  /** The provider's id of it. One is made where there is none: what is counted is counted by it. */
  readonly id?: string | undefined
  readonly model?: string | undefined
  readonly content: Content
  readonly stop_reason?: string | null | undefined
  readonly stop_sequence?: string | null | undefined
  /** In the fields of Anthropic: `input_tokens`, `output_tokens`, both cache figures; what else is there is kept. */
  readonly usage?: object | undefined
}

/** What a call of a tool gave. */
export interface ToolResult {
  readonly tool_use_id: string
  readonly content?: Content | undefined
  readonly is_error?: boolean | undefined
}

/** What may be known of a turn beside what was said. */
export interface TurnFacts {
  readonly provider?: Provider | undefined
  /** The provider's id of the request that was answered. */
  readonly requestId?: string | undefined
  /** The line it follows, by its uuid; by default the one before. Another one begins a branch; `null` begins anew. */
  readonly parentUuid?: string | null | undefined
  /** What the tool itself gave: `stdout`, `stderr`, `interrupted`, `isImage`. */
  readonly toolUseResult?: unknown
  /** Further fields for the line. None of the named ones can be replaced. */
  readonly extra?: JsonObject | undefined
}

/** A turn that is on disk. */
export interface RecordedTurn {
  readonly uuid: string
  readonly timestamp: string
}
