import type {
  DocumentQuery,
  MemoryDocument,
  Reading,
  SessionEvent,
  SessionSummary,
  SessionView,
} from '#model'
import type { BoardCard } from './live-calls.ts'
import type { SearchHit } from './search.ts'

/** What a device can listen to. */
export type Topic =
  /** The entries of one session, or of one of its subagents. Without a cursor: from the last `last` entries on, else all. */
  | {
      readonly kind: 'session'
      readonly id: string
      readonly subagent?: string
      readonly last?: number
      readonly raw?: boolean
    }
  /** The list: every session as it is, then each one that changes. */
  | { readonly kind: 'sessions' }
  /** Entries that match a search and are indexed after the cursor. Without a cursor: from now on. */
  | { readonly kind: 'query'; readonly q: string }
  /** What happens in one live session, word by word: how it stands, then every event. Also when it is not live yet. */
  | { readonly kind: 'live'; readonly id: string }
  /** All live sessions and everything that waits for a person: the cards, then each one that changes. */
  | { readonly kind: 'board' }
  /** Documents that match: all of them, then whatever is different. Who comes back is told all of it again. */
  | { readonly kind: 'documents'; readonly query: DocumentQuery }

/** What a device is told. `cursor` is how far it has seen once it has taken the event in. */
export type LiveEvent =
  | {
      readonly kind: 'entry.added'
      readonly session: string
      readonly subagent?: string
      readonly readings: readonly Reading[]
      readonly cursor: string
    }
  | { readonly kind: 'session.changed'; readonly session: SessionSummary; readonly cursor: string }
  /** The session is nowhere any more, not even in the archive. */
  | { readonly kind: 'session.removed'; readonly id: string; readonly cursor: string }
  /** How a live session stands. Whatever was told of it before is void. */
  | { readonly kind: 'live.view'; readonly view: SessionView; readonly cursor: string }
  | {
      readonly kind: 'live.event'
      readonly session: string
      readonly event: SessionEvent
      readonly cursor: string
    }
  /** Nobody runs this session now. It is told when somebody does. */
  | { readonly kind: 'live.none'; readonly session: string; readonly cursor: string }
  | { readonly kind: 'board.changed'; readonly card: BoardCard; readonly cursor: string }
  | { readonly kind: 'board.removed'; readonly session: string; readonly cursor: string }
  /** What is new, is different, or matches no longer. After a `reset`, `added` begins anew. */
  | {
      readonly kind: 'documents.changed'
      readonly added: readonly MemoryDocument[]
      readonly changed: readonly MemoryDocument[]
      readonly removed: readonly string[]
      readonly cursor: string
    }
  | { readonly kind: 'hit.found'; readonly hit: SearchHit; readonly cursor: string }
  /** Everything told so far is void; it is told again from here. */
  | { readonly kind: 'reset'; readonly reason: ResetReason; readonly cursor: string }
  /** Everything there was has been told; what comes now is news. */
  | { readonly kind: 'caught-up'; readonly cursor: string }

export type ResetReason = 'truncated' | 'replaced' | 'rewritten' | 'gone' | 'index-rebuilt' | 'restarted'

export interface Subscription {
  /** How far the subscriber has seen. */
  readonly cursor: string | undefined
  close(): void
}
