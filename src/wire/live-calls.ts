import type {
  Abilities,
  Answer,
  AnswerOutcome,
  Ask,
  Attention,
  AuditReport,
  Block,
  FolderSettings,
  PermissionMode,
  PromptReceipt,
  Resolution,
  SessionOrigin,
  SessionState,
  SessionView,
  TrustState,
} from '#model'
import type { PreviousTranscript } from './memory-calls.ts'

/**
 * Live sessions: begin them, talk to them, answer them, end them. They are held by processes of their own, so none of
 * this ends with whoever asked for it.
 */
export interface LiveCalls {
  /** The agents that can be run here, and what keeps the others from it. */
  agents(): Promise<readonly AgentOffer[]>
  /** The folders that sessions worked in, latest first, and whether each can still be worked in. */
  workdirs(): Promise<readonly KnownWorkdir[]>
  /** What an agent would load in a folder, and whether a person has trusted that. */
  folder(workdir: string): Promise<FolderReport>
  /** Trusts a folder as it is: with the `hash` of what was shown. Another hash is refused (`attention-mismatch`). */
  trust(workdir: string, choice: TrustChoice): Promise<FolderReport>
  /** Begins a session. It is there at once, `pending`, under the id that it keeps. */
  start(request: StartRequest): Promise<SessionView>
  /** Goes on with a session. Throws `session-held` with who holds it, when it is alive elsewhere. */
  resume(id: string, request?: ResumeRequest): Promise<SessionView>
  /** Begins a session with a copy of another one, up to an entry. */
  fork(id: string, request?: ForkRequest): Promise<SessionView>
  /** Ends a live session and begins a fresh one in the same folder that comes after it. */
  renew(id: string, request?: RenewRequest): Promise<SessionView>
  /** Ends the agent and everything it started. The transcript stays. */
  end(id: string): Promise<void>
  /** Stops the turn; the session goes on. */
  interrupt(id: string): Promise<void>
  /** Hands over a prompt. It is on disk when this resolves. Throws `session-ended` when there is nobody to take it. */
  prompt(id: string, prompt: PromptRequest): Promise<PromptReceipt>
  setMode(id: string, mode: PermissionMode, by?: string): Promise<void>
  setModel(id: string, model: string, by?: string): Promise<void>
  /** A live session as it is now. Throws `session-ended` when it is not live. */
  view(id: string): Promise<SessionView>
  /** Every live session, and every other one that waits for a person. */
  board(): Promise<readonly BoardCard[]>
  /** Everything that is open, in all sessions, oldest first. */
  attentions(): Promise<readonly Attention[]>
  /** Answers an attention. The first answer counts; a later one is told which it was. */
  resolve(answer: AnswerRequest): Promise<AnswerOutcome>
  /** Everything that was called and decided in a session that was run here, and whether the record is whole. */
  audit(id: string): Promise<AuditReport>
  /** Sessions that have such a record. */
  audits(): Promise<readonly AuditFile[]>
  /**
   * Asks a person on behalf of a session that is not run here, for as long as somebody waits for the answer.
   */
  ask(request: AskRequest): PendingAsk
}

/** A question that somebody waits for. */
export interface PendingAsk {
  /** Nothing when there was no answer. */
  readonly answer: Promise<Resolution | undefined>
  /** Nobody waits any more. */
  withdraw(): void
}

/** Where a session's record is kept, without what is in it. */
export interface AuditFile {
  readonly sessionId: string
  readonly bytes: number
  readonly changedAt: string
}

/** An agent that may be run. */
export interface AgentOffer {
  readonly agent: string
  /** For people: `Claude Code`. */
  readonly name: string
  readonly can: Abilities
  readonly modes: readonly PermissionMode[]
  /** What each mode means with this agent, where that is not what its name says. */
  readonly modeWords?: Readonly<Partial<Record<PermissionMode, string>>> | undefined
  /** Where it may be tried without harm, for one that is only for trying. */
  readonly demoFolder?: string | undefined
  /** Why it cannot be run now, and what to do about it. Not there when it can. */
  readonly problem?: { readonly message: string; readonly hint: string } | undefined
}

export interface KnownWorkdir {
  /** As the session names it. */
  readonly workdir: string
  /** Whether it exists and is inside `ALLOWED_ROOTS`. */
  readonly exists: boolean
}

export interface FolderReport {
  /** With all links resolved. */
  readonly workdir: string
  readonly trust: TrustState
  readonly settings: FolderSettings
}

export interface TrustChoice {
  readonly hash: string
  /** With `false` the folder is not trusted any more. */
  readonly trusted: boolean
  /** Who says so. A daemon knows, and says it itself. */
  readonly by?: string | undefined
}

/** What every beginning may say. */
export interface RunRequest {
  readonly model?: string | undefined
  /** Default: as the session had it, else `default`. */
  readonly mode?: PermissionMode | undefined
  /** The first prompt. */
  readonly prompt?: PromptRequest | undefined
  /** Who asks for it. A daemon knows, and says it itself. */
  readonly by?: string | undefined
}

export interface StartRequest extends RunRequest {
  readonly agent: string
  readonly workdir: string
  /** A new UUID; minted where it is not given. The same one again is the same start. */
  readonly sessionId?: string | undefined
  /** Whether the session begins with what the last one in this folder knew. Default: as configured. */
  readonly wakeUp?: boolean | undefined
  /** A transcript that the device kept itself, in place of the one that would be found. */
  readonly previousTranscript?: PreviousTranscript | undefined
}

export interface ResumeRequest extends RunRequest {
  /** Ends whoever holds the session first. */
  readonly takeOver?: boolean | undefined
  /** Where it goes on, when its folder is not there any more. */
  readonly workdir?: string | undefined
}

export interface ForkRequest extends RunRequest {
  /** The id of the last entry that is copied. Default: all. */
  readonly at?: string | undefined
  readonly workdir?: string | undefined
}

export interface RenewRequest extends RunRequest {
  readonly wakeUp?: boolean | undefined
}

export interface PromptRequest {
  /** Minted by the device: the same id twice is the same prompt. */
  readonly id: string
  readonly blocks: readonly Block[]
  /** Who says it. A daemon knows, and says it itself. */
  readonly by?: string | undefined
}

export interface AnswerRequest extends Omit<Answer, 'by'> {
  /** Who answers. A daemon knows, and says it itself. */
  readonly by?: string | undefined
}

/** A question of an agent that runs in a terminal of its own. */
export interface AskRequest {
  readonly sessionId: string
  readonly agent: string
  readonly ask: Ask
}

/** What a board shows of a session: everything but its words. */
export interface BoardCard {
  readonly sessionId: string
  readonly agent: string
  readonly workdir: string
  /** `elsewhere`: it runs in a terminal; only its attentions can be answered from here. */
  readonly where: 'here' | 'elsewhere'
  readonly state: SessionState
  readonly startedAt: string
  /** When its state last changed. */
  readonly changedAt: string
  readonly mode?: PermissionMode | undefined
  readonly model?: string | undefined
  readonly attentions: readonly Attention[]
  /** Prompts that were admitted and not delivered. */
  readonly waitingPrompts: number
  /** How the last turn came to its end. */
  readonly lastTurn?: 'answered' | 'interrupted' | 'failed' | undefined
  /** What is wrong, for a person. */
  readonly trouble?: string | undefined
  /** Where it is, when it is on another machine of the team. Absent: it is on this one. */
  readonly origin?: SessionOrigin | undefined
  /** What its owner lets be done with it from here. Absent: everything. */
  readonly may?: 'read' | 'answer' | undefined
}
