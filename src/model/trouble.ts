import type { Origin } from './loss.ts'
import type { Place } from './place.ts'

/** What makes a provider refuse a conversation. */
export type TroubleKind =
  | 'call-unanswered'
  | 'result-orphaned'
  | 'result-repeated'
  | 'result-late'
  | 'call-repeated'
  | 'thinking-edited'
  | 'reasoning-alone'
  | 'text-empty'
  | 'text-broken'
  | 'image-broken'
  | 'image-too-large'
  | 'media-unknown'
  | 'block-malformed'
  | 'role-unknown'
  | 'context-too-long'
  | 'workdir-gone'

/** Something that would fail the next request, where it stands, and what mends it. */
export interface Trouble {
  readonly kind: TroubleKind
  readonly origin: Origin
  /** The line, in its file. */
  readonly place: Place
  /** For a person: what is wrong. */
  readonly reason: string
  /** For a person: what mending would do. */
  readonly fix: string
  /** The session's own agent puts it right when it resumes: only other programs fail with it. */
  readonly isHandled?: boolean | undefined
  /** What mending does to the lines. Absent: it takes more than a change of a line. */
  readonly mend?: Mend | undefined
}

/** The smallest change that mends something. */
export type Mend =
  | { readonly kind: 'drop-block' }
  | { readonly kind: 'replace-block'; readonly block: object }
  /** The answer to a call that never came, in a line of its own behind the call's. */
  | { readonly kind: 'add-result'; readonly toolUseId: string }
  /** The line is moved behind the one that made the call. */
  | { readonly kind: 'move-line'; readonly behind: string }
