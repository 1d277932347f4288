import type {
  Abilities,
  AgentModel,
  Ask,
  Block,
  DeltaFact,
  MessageFact,
  PermissionMode,
  Resolution,
  RetryingFact,
  TurnOutcome,
} from '#model'

/** Runs one agent live. Drivers differ in what they can do, and say so. */
export interface Driver {
  /** `claude`, `scripted`, `codex`… */
  readonly agent: string
  readonly can: Abilities
  /**
   * Starts the agent. Resolves when its process takes prompts; throws a `ThroughlineError` (`driver-unavailable`,
   * `not-logged-in`) with the next step when there is none.
   */
  start(options: StartOptions): Promise<RunningAgent>
}

export interface StartOptions {
  /** Ours: the agent runs under it. When a session goes on without a fork, it is that session's. */
  readonly sessionId: string
  readonly workdir: string
  /** Goes on with a session; as a new one that begins with a copy of it when `fork` is given. */
  readonly resume?: ResumedSession | undefined
  readonly model?: string | undefined
  readonly mode: PermissionMode
  /** Whether settings, hooks and MCP servers of the folder may be loaded: only after a person trusted it. */
  readonly trusted: boolean
  /** For a moment's use: it leaves no transcript and has no tools, as far as the agent can be told so. */
  readonly isAside?: boolean | undefined
  /** What the agent's process sees of the environment: this, and one mark by which its processes are found again. */
  readonly env: Readonly<Record<string, string>>
  /** Everything that happens, in order. Must not throw. */
  readonly onFact: (fact: AgentFact) => void
  /**
   * Asks a person, however long that takes. Aborted when the agent stopped waiting. Whatever is not an answer means
   * no: a rejection, an abort, an answer of the wrong kind.
   */
  readonly ask: (ask: Ask, signal: AbortSignal) => Promise<Resolution>
}

/** A session that is gone on with. */
export interface ResumedSession {
  readonly sessionId: string
  readonly fork?: { readonly at?: string }
  /** How many prompts were said in it, where that is known: an agent that has loaded none of them is refused. */
  readonly prompts?: number
}

export interface RunningAgent {
  /** Processes that must be gone when it is closed: the agent's and those of its tools. */
  readonly pids: () => readonly number[]
  /** Hands over a prompt. Resolves when the agent has it. */
  prompt(prompt: AgentPrompt): Promise<void>
  /** Stops the turn; the session goes on. */
  interrupt(): Promise<void>
  setMode(mode: PermissionMode): Promise<void>
  setModel(model: string): Promise<void>
  /** Ends the agent and everything it started. Resolves when all of it is gone. */
  close(): Promise<void>
}

export interface AgentPrompt {
  /** Minted by the client that sent it: the same id twice is the same prompt. */
  readonly id: string
  readonly blocks: readonly Block[]
}

/** What an agent does, as far as it is told while it happens. */
export type AgentFact =
  /** Told before `start` resolves, and again when any of it is known better or has changed. The last one holds. */
  | {
      readonly kind: 'started'
      readonly sessionId: string
      readonly model?: string | undefined
      readonly mode?: PermissionMode | undefined
      readonly tools: readonly string[]
      readonly commands: readonly string[]
      /** What this agent can, where that is less than its driver can with others. */
      readonly can?: Abilities | undefined
      /** The modes that this session can be put into, and the models that the agent offers, where it says so. */
      readonly modes?: readonly PermissionMode[] | undefined
      readonly models?: readonly AgentModel[] | undefined
    }
  /** The agent goes on under another id, as after `/clear`. */
  | { readonly kind: 'renamed'; readonly sessionId: string }
  /** Without a prompt when the agent went on by itself, as when a task in the background is done. */
  | { readonly kind: 'turn.started'; readonly promptId?: string | undefined }
  /** The agent asks less or more from now on: because it was told to, or because an answer said so. */
  | { readonly kind: 'mode.changed'; readonly mode: PermissionMode }
  | DeltaFact
  | MessageFact
  | RetryingFact
  | { readonly kind: 'turn.ended'; readonly outcome: TurnOutcome }
  /** Something is not as it should be, and the session goes on. In words for a person. */
  | { readonly kind: 'trouble'; readonly message: string }
  /** The agent is gone: nothing comes after it. */
  | {
      readonly kind: 'ended'
      readonly reason: 'closed' | 'crashed' | 'failed'
      readonly message?: string | undefined
    }
  /** Something the driver does not know. Kept, never dropped. */
  | { readonly kind: 'unknown'; readonly value: unknown }
