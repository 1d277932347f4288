import type { VNode } from 'preact'
import type { Message, SessionSummary } from '#model'
import type { ReadonlySignal } from '@preact/signals'
import type { MemoryPart } from '../memory-part.ts'

/** What a passage needs to know beside itself. The same object as long as nothing in it changes. */
export interface PassageContext {
  readonly session: SessionSummary
  /** The subagent whose conversation this is. */
  readonly subagent?: string
  /** Copies text, says so. */
  readonly copy: (text: string, what: string) => void
  /** The address of an entry of this session. */
  readonly hrefOf: (entryId: string) => string
  /** Copies that address, and says so. */
  readonly copyLink: (entryId: string) => void
  /** Words to mark, lower case. */
  readonly marks: readonly string[]
  /** A subagent's conversation, nested, when its disclosure opens. */
  readonly renderSubagent: (id: string, work?: readonly Message[]) => VNode
  /** These are the messages of a subagent that has no file of its own. */
  readonly isWork?: true
  readonly cwd: string | undefined
  /** Who said a prompt, when that was not the person here. */
  readonly authorOf?: ((entryId: string) => string | undefined) | undefined
  /** What a call without an answer is doing while the agent is at work: `running`. Empty when it is not. */
  readonly pace?: ReadonlySignal<string>
  /** Begins another session with everything up to an entry, where that can be done. */
  readonly fork?: (entryId: string) => void
  /** Remembers what is picked, where that can be done. */
  readonly memory?: MemoryPart
}
