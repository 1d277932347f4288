import type { Provider } from '../turn.ts'

/** What is known of a request beside what it says: most of it from its headers. */
export interface ConversationHint {
  /** What the client calls its session. Requests of one belong together, whatever they repeat. */
  readonly clientSessionId?: string | undefined
  /** What the client calls the subagent that asks; absent: its main conversation asks. */
  readonly agentId?: string | undefined
  /** `aside`: likely a title or a summary, for the client itself. Never believed against what the turns say. */
  readonly purpose?: 'turn' | 'aside' | undefined
  readonly agent?: string | undefined
  readonly version?: string | undefined
  /** Where the client works, as it says. */
  readonly cwd?: string | undefined
}

/** What a recording is opened for. */
export interface ConversationFacts extends ConversationHint {
  readonly provider: Provider
  /** Its turns stand below those of this recording. */
  readonly subagentOf?: { readonly sessionId: string; readonly agentId: string } | undefined
}

/** A line of a recording that is gone on with. */
export interface RepeatedLine {
  readonly uuid: string
  readonly parentUuid: string | undefined
  readonly role: 'user' | 'assistant'
  readonly content: readonly object[]
  readonly messageId?: string | undefined
}

/** What could not be written down. */
export interface Trouble {
  /** Why, for a person. */
  readonly message: string
  readonly agent: string | undefined
  /** The recording that it is missing from, when there is one. */
  readonly sessionId: string | undefined
  /** How many turns of the conversation are missing by now. */
  readonly turns: number
}

/** How a conversation stands. */
export interface ConversationView {
  readonly sessionId: string
  readonly folder: string
  readonly path: string
  readonly agent: string | undefined
  readonly clientSessionId: string | undefined
  /** The recording of which it is a subagent. */
  readonly subagentOf: string | undefined
  /** Turns that are on disk because of this process. */
  readonly turns: number
  /** Turns that could not be written. A client repeats what was said, so that they may still be. */
  readonly lost: number
  readonly lastTurnAt: string | undefined
  /** What the answers cost that are on disk. */
  readonly tokens: Tokens
}

export interface Tokens {
  readonly input: number
  readonly output: number
  readonly cacheRead: number
  readonly cacheCreation: number
}
