import { ThroughlineError } from '#base'
import type { AgentFact, Driver, StartOptions } from '#drivers'
import type { Journal } from '#journal'
import type {
  Answer,
  AnswerOutcome,
  EndReason,
  NewPrompt,
  PermissionMode,
  PromptReceipt,
  SessionCursor,
  SessionFact,
  SessionView,
  TurnOutcome,
} from '#model'
import type { WatchGrounds } from './ask-grounds.ts'
import type { Audit } from './audit.ts'
import type { Clock } from './clock.ts'
import type { LoggedEvent } from './event-log.ts'
import { OWN_NOTES } from '#model'
import { isWithin } from './permission-mode.ts'
import type { JournalState } from './session-journal.ts'

/** What somebody who looks on is told: how things stand, and then each event once. */
export type SessionNews = { readonly view: SessionView } | LoggedEvent

/** One live session around the driver of its agent. */
export interface LiveSession {
  view(): SessionView
  /** Takes a prompt; see `PromptQueue`. Rejects with `session-ended` when it is over. */
  prompt(prompt: NewPrompt): Promise<PromptReceipt>
  resolve(answer: Answer): Promise<AnswerOutcome>
  /** Stops the turn; the session goes on. Without a turn it does nothing. */
  interrupt(): Promise<void>
  /** Rejects with `mode-not-allowed` where a person would be asked less than the session may. */
  setMode(mode: PermissionMode, by: string): Promise<void>
  setModel(model: string, by: string): Promise<void>
  /** Ends the agent and everything it started. What is open lapses, what waits stays undelivered. */
  end(reason: EndReason): Promise<void>
  /**
   * Tells everything after a cursor, or how things stand when there is none or too much has happened since, and then
   * every event. In order, each once. Gives the function that ends it.
   */
  listen(listener: (news: SessionNews) => void, after?: SessionCursor): () => void
  /** Resolves when it is over, everything is on disk, and everybody was told. */
  readonly ended: Promise<void>
}

/** What it is opened with. */
export interface LiveSessionOptions {
  readonly driver: Driver
  /** What the driver is started with. */
  readonly start: Omit<StartOptions, 'onFact' | 'ask'>
  /** How far the mode may be widened, as the local configuration says. */
  readonly widest?: PermissionMode | undefined
  /** Names this run of the host. */
  readonly run: string
  readonly pid: number
  readonly journal: Pick<Journal, 'append'>
  readonly audit: Omit<Audit, 'close'>
  /** The hash of what the folder would load, as the person saw it who trusted it. */
  readonly folderHash?: string | undefined
  /** What the journal says of earlier hosts. */
  readonly before: JournalState
  readonly clock: Clock
  readonly mintId: () => string
  /** Ends the session when nothing happens for so long: no turn runs and nothing is open. Never where it is not given. */
  readonly idleMs?: number | undefined
  readonly deadlineMs?: number | undefined
  /** Says whether the folder of an ask is still the one that it was. */
  readonly watchFolder?: WatchGrounds | undefined
  /** Makes sure that nothing is left of the agent, after it was closed. */
  readonly sweep: () => Promise<unknown>
}

/** Why a session is over, and what to do about it. */
export interface EndWords {
  readonly message?: string | undefined
  readonly hint?: string | undefined
}

/** How a session stands before anything has happened in it. */
export function firstView(
  { driver, start, run, pid, before }: LiveSessionOptions,
  startedAt: string,
): SessionView {
  const model = start.model ?? before.model
  return {
    sessionId: start.sessionId,
    run,
    seq: 0,
    pid,
    agent: driver.agent,
    can: driver.can,
    workdir: start.workdir,
    startedAt,
    state: { state: 'pending' },
    mode: start.mode,
    ...(model === undefined ? {} : { model }),
    tools: [],
    commands: [],
    prompts: before.prompts.flatMap(({ id, blocks, by, at, state }) =>
      state === 'delivered' || by === OWN_NOTES ? [] : [{ id, blocks: blocks ?? [], by, at, state }],
    ),
    attentions: [],
  }
}

/** What everybody hears of an agent that has started: the modes are those that this session may be put into. */
export function toStarted(
  { tools, commands, can, modes, models }: Extract<AgentFact, { readonly kind: 'started' }>,
  widest: PermissionMode,
): SessionFact {
  return {
    kind: 'agent.started',
    tools,
    commands,
    can,
    ...(modes === undefined ? {} : { modes: modes.filter((mode) => isWithin(mode, widest)) }),
    ...(models === undefined ? {} : { models }),
  }
}

/** Says what to do about a turn that failed for what is in the session: the same words will fail again. */
export function withNextStep(outcome: TurnOutcome, sessionId: string): TurnOutcome {
  if (outcome.kind !== 'failed' || outcome.fault !== 'session') return outcome
  const hint = `The provider refused this request. If it refuses the next one too, the session itself is the cause: run \`throughline repair ${sessionId}\` and continue with the copy that it writes.`
  return { ...outcome, hint }
}

/** What everybody hears who comes too late. */
export function sessionOver(): ThroughlineError {
  return new ThroughlineError('session-ended', 'this session has ended', {
    hint: 'Resume it, or begin a new one.',
  })
}

/** What somebody hears who comes too early. */
export function sessionPending(): ThroughlineError {
  return new ThroughlineError('session-pending', 'the agent is still being started', {
    hint: 'Try again in a moment.',
  })
}
