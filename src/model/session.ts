import type { SessionCounts } from './counts.ts'
import type { Damage } from './place.ts'
import type { SessionOrigin } from './team.ts'
import type { Usage } from './usage.ts'

/** What is known of a session that a process holds right now: from its agent's own registry, or because it is run here. */
export interface LiveState {
  readonly pid: number
  /** `waiting`: for a person. `gone`: the process died without saying goodbye, and nobody took the session up again. */
  readonly status: 'idle' | 'busy' | 'waiting' | 'gone' | 'unknown'
  /** What it waits for, in the agent's words: `permission prompt`, `input needed`. */
  readonly waitingFor?: string | undefined
  readonly updatedAt?: string | undefined
  /** It is run by Throughline, and can be talked to from here. */
  readonly here?: true | undefined
}

/** Whether a process holds the session. One that is gone does not. */
export function isLive(live: LiveState | undefined): boolean {
  return live !== undefined && live.status !== 'gone'
}

/**
 * Whether the session cannot go on without a person: a permission, or an answer. One that is `idle` is done, and waits
 * for nobody.
 */
export function isWaitingForYou(live: LiveState | undefined): boolean {
  return live?.status === 'waiting'
}

/** What a list shows of a session. Found with a glance at both ends of the file, whatever its size. */
export interface SessionSummary {
  readonly id: string
  readonly agent: string
  /** Empty for a session that is run and has no transcript yet. */
  readonly path: string
  readonly size: number
  /** The name a person gave it here, else the custom name, else the agent's own title, else the first prompt. */
  readonly name?: string | undefined
  /** `person`: given in Throughline; it wins over all others. */
  readonly nameFrom?: 'person' | 'custom' | 'agent' | 'prompt' | undefined
  readonly starred?: boolean | undefined
  readonly firstPrompt?: string | undefined
  /** Every working directory seen, first one first. */
  readonly workdirs: readonly string[]
  /** False when the middle of the file was not looked at: it may hold further working directories. */
  readonly workdirsComplete: boolean
  readonly gitBranch?: string | undefined
  /** From the lines, never from the file's times. */
  readonly createdAt?: string | undefined
  readonly lastActivityAt?: string | undefined
  readonly subagents: readonly SubagentSummary[]
  /** Outputs of tools that were too long for their line, whole, in files of their own. */
  readonly toolResults: readonly SideFile[]
  readonly live?: LiveState | undefined
  readonly archived: boolean
  /** It was made of another session, which is the one to count and to list until this one has gone on. */
  readonly copiedFrom?: CopiedFrom | undefined
  /** The agent's file is gone: what is shown is read from the archive. */
  readonly sourceGone?: boolean | undefined
  /** Not the agent's own transcript: a recording, or the copy that Entire keeps. */
  readonly recorded?: RecordedSession | undefined
  /** Where it is, when it is on another machine of the team. Absent: it is here. */
  readonly origin?: SessionOrigin | undefined
  /** A sample that came with Throughline: nobody worked there. */
  readonly demo?: true | undefined
  /** What the glance already knows to be wrong. A full read finds the rest. */
  readonly state: 'ok' | 'empty' | 'damaged' | 'unreadable'
  /** Why it is unreadable, for a person. */
  readonly problem?: string | undefined
  /** From the index; absent until the session is in it. */
  readonly counts?: SessionCounts | undefined
  /** Needs a full read; absent until then. */
  readonly facts?: SessionFacts | undefined
}

/** What was written down of a session by somebody else than its agent. */
export interface RecordedSession {
  readonly as: 'recording' | 'copy'
  /** The agent's own id of the session, where whoever recorded it knew it. */
  readonly of?: string | undefined
}

/** The order of a list: most recently active first. Sessions without a time come last. */
export function byActivity(
  a: Pick<SessionSummary, 'id' | 'lastActivityAt'>,
  b: Pick<SessionSummary, 'id' | 'lastActivityAt'>,
): number {
  const [left, right] = [a.lastActivityAt ?? '', b.lastActivityAt ?? '']
  if (left !== right) return left < right ? 1 : -1
  return a.id === b.id ? 0 : a.id < b.id ? -1 : 1
}

/** The files of a session that hold conversations: its own and its subagents'. */
export function transcriptsOf({ path, subagents }: SessionSummary): readonly string[] {
  return [path, ...subagents.map((subagent) => subagent.path)].filter((each) => each !== '')
}

/** The session that one was copied from. */
export interface CopiedFrom {
  readonly agent: string
  readonly id: string
  readonly path?: string | undefined
  /** `imported`: its agent took it over from another one by itself. The others were made here. */
  readonly kind: 'imported' | 'converted' | 'repaired' | 'handed-over' | 'forked'
  /** What was said up to this moment was copied, what came later is its own. Absent: nobody knows, so all of it was. */
  readonly until?: string | undefined
  /** The session that it was copied from is there too. */
  readonly here?: true | undefined
  /** The name of that session. */
  readonly name?: string | undefined
}

/** A file beside a transcript. */
export interface SideFile {
  readonly path: string
  readonly size: number
}

export interface SubagentSummary {
  readonly id: string
  readonly path: string
  readonly size: number
  readonly agentType?: string | undefined
  readonly description?: string | undefined
  /** The call that started it. */
  readonly toolUseId?: string | undefined
  readonly parentAgentId?: string | undefined
}

/** What only a full read can tell. */
export interface SessionFacts {
  readonly lines: number
  readonly entries: number
  readonly prompts: number
  /** Messages of the model, each counted once however many lines it has. */
  readonly replies: number
  readonly toolCalls: number
  readonly turns: number
  readonly compactions: number
  /** Ends of the conversation beside the one that is active. */
  readonly branches: number
  readonly models: readonly string[]
  /** Billed in all, subagents included, each message once. */
  readonly usage: Usage
  /** Billed by messages that this file copied from another session. Part of `usage`. */
  readonly inherited: Usage
  /** How full the model's window was at the last reply. */
  readonly contextTokens?: number | undefined
  readonly damage: readonly Damage[]
  readonly unknownTypes: Readonly<Record<string, number>>
}
