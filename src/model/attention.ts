/** Something a session needs from a person. */
export interface Attention {
  /** Ours, minted when it was opened. */
  readonly id: string
  readonly sessionId: string
  readonly openedAt: string
  readonly ask: Ask
  /** Of everything that was shown. An answer repeats it, so nobody agrees to something else than what they saw. */
  readonly hash: string
  readonly state: AttentionState
  /** It is asked on another machine, and not all of it is shown here: from here it can be denied, and nothing else. */
  readonly masked?: true | undefined
}

/** What is asked. It is shown whole, and what is shown is what runs. */
export type Ask = PermissionAsk | QuestionAsk

/** May this tool run with this input? A plan to be approved is one too (`ExitPlanMode`). */
export interface PermissionAsk {
  readonly kind: 'permission'
  readonly tool: string
  readonly input: unknown
  readonly workdir: string
  readonly toolUseId?: string | undefined
  /** The subagent that asks. */
  readonly agentId?: string | undefined
  /** Why the agent asks, in its own words. */
  readonly reason?: string | undefined
  /** Why it is asked again: what has changed since it was asked before. In words for a person. */
  readonly changed?: string | undefined
  /** What an answer beyond this once could allow. Shown in full; nothing of it holds unless a person chose it. */
  readonly rules: readonly PermissionRule[]
  /** Whether the agent can take another input than the one it asked with. */
  readonly canEdit: boolean
}

/** What "for this session" and "always" would mean, in the agent's own terms. */
export interface PermissionRule {
  /** Names it in an answer. */
  readonly id: string
  readonly scope: 'session' | 'always'
  /** `Bash(npm test:*)`, `Edits in /home/user/shop`. For a person. */
  readonly words: string
  /** What the agent wants back, unchanged. */
  readonly value: unknown
}

export interface QuestionAsk {
  readonly kind: 'question'
  readonly workdir: string
  readonly toolUseId?: string | undefined
  readonly changed?: string | undefined
  readonly questions: readonly Question[]
}

export interface Question {
  readonly question: string
  readonly header?: string | undefined
  readonly options: readonly { readonly label: string; readonly description?: string | undefined }[]
  readonly multiple: boolean
  /** Whether words of one's own are an answer too. */
  readonly free: boolean
}

/** Open until exactly one thing happens to it. There is no way back to `open`. */
export type AttentionState =
  | { readonly state: 'open' }
  | { readonly state: 'resolved'; readonly resolution: Resolution; readonly by: string; readonly at: string }
  /** The agent stopped waiting, or is gone, or a deadline passed, or it is asked anew. Never read as consent. */
  | { readonly state: 'lapsed'; readonly reason: LapseReason; readonly at: string }

export type LapseReason = 'agent-gone' | 'withdrawn' | 'deadline' | 'session-ended' | 'changed'

/** What a person answered. */
export type Resolution =
  /** `rules`: ids of those that were chosen; none: this once. `input`: what to run instead. */
  | { readonly kind: 'allow'; readonly rules: readonly string[]; readonly input?: unknown }
  | { readonly kind: 'deny'; readonly words?: string | undefined; readonly interrupt?: boolean | undefined }
  /** One answer per question, in their order. */
  | { readonly kind: 'answer'; readonly answers: readonly (readonly string[])[] }

/** What a person says to an attention, and of which one. */
export interface Answer {
  readonly id: string
  /** Of what the person was shown. */
  readonly hash: string
  readonly resolution: Resolution
  /** Who answers: a device, a command. */
  readonly by: string
}

/** `won`: this answer is the one that counts. `late`: another thing happened before, and this is what it was. */
export interface AnswerOutcome {
  readonly kind: 'won' | 'late'
  readonly state: AttentionState
}
