import type { FeedStatus, IndexTask } from '#ingest'
import type { ErrorBody } from '#wire'

/** What the thread that feeds the team's index is told. Those with an `id` are answered. */
export type ToFeed =
  | { readonly kind: 'sync'; readonly tasks: readonly IndexTask[] }
  | { readonly kind: 'touch'; readonly task: IndexTask }
  | { readonly kind: 'forget'; readonly path: string }
  | { readonly kind: 'move'; readonly from: string; readonly to: string }
  | { readonly kind: 'settled' | 'close'; readonly id: number }

/** What it says. */
export type FromFeed =
  | { readonly kind: 'done'; readonly id: number }
  | { readonly kind: 'status'; readonly status: ToldStatus }

/** How far it is, with errors in words. */
export type ToldStatus = Omit<FeedStatus, 'trouble'> & { readonly trouble?: ErrorBody | undefined }
