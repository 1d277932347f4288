import type { PermissionMode } from '#model'
import type { AgentFact, StartOptions } from '../driver.ts'
import type { ScriptedTranscript } from './transcript.ts'

/** Everything a turn is played with. */
export interface Stage {
  readonly start: StartOptions
  readonly transcript: ScriptedTranscript
  readonly tell: (fact: AgentFact) => void
  /** The turn is to stop. */
  readonly signal: AbortSignal
  /** The id under which the processes of this agent are found. */
  readonly mark: string
  readonly model: string
  readonly mode: () => PermissionMode
  readonly setMode: (mode: PermissionMode) => void
  /** What need not be asked for again, in words. */
  readonly granted: Set<string>
}
