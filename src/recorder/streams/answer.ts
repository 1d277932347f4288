import type { AssistantMessage, Provider } from '../turn.ts'

/** An interface of a provider over which conversations go: Messages, Responses, Chat Completions, Gemini. */
export type Api = 'messages' | 'responses' | 'chat' | 'gemini'

/** What a model answered, whatever the provider, as far as it was heard. */
export interface Answer {
  readonly provider: Provider
  readonly message: AssistantMessage
  readonly requestId?: string | undefined
  /** `cut`: the stream ended before the answer did. `failed`: the provider broke it off and said why. */
  readonly outcome: 'whole' | 'cut' | 'failed'
  /** What the provider said of its failure. */
  readonly failure?: string | undefined
}

/** Puts an answer together from the bytes of a response, however they are cut. Never throws on content. */
export interface AnswerReader {
  /** The next bytes, already unpacked. */
  add(bytes: Uint8Array): void
  /** The answer is over; nothing when no message began. */
  end(): Answer | undefined
}
