import type { ReadonlySignal } from '@preact/signals'
import type { VNode } from 'preact'
import type { Passage, Reading, SessionSummary } from '#model'
import type { Digest } from '#wire'

/** What of a session is held from disk. */
interface HeldStretch {
  readonly readings: readonly Reading[]
  readonly atStart: boolean
  readonly atEnd: boolean
}

/** What a session page has of a session that lives, once that part of the app is loaded. */
export interface LivePart {
  /** What is written with what is said and not written yet, each once and in order. */
  extend(stretch: HeldStretch): readonly Reading[]
  /** Tells what was found on disk. */
  note(stretch: HeldStretch): void
  /** What a call without an answer is doing. Empty when nobody is at work. */
  readonly pace: ReadonlySignal<string>
  /** The session as far as it is known without a transcript. */
  readonly summary: ReadonlySignal<SessionSummary | undefined>
  /** Begins another session with everything up to an entry. */
  readonly fork: (entryId: string) => void
  /** What stands at the end of the conversation. */
  renderEnd(stretch: HeldStretch): VNode
  /** What there is to say of a passage that is not on disk. */
  renderNote(passage: Passage): VNode
  /** What stands below the conversation. */
  renderDock(session: SessionSummary, digest: Digest | undefined): VNode
  close(): void
}
