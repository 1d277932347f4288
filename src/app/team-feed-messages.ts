import type { FeedStatus, FileNews } from '#ingest'
import type { ErrorBody } from '#wire'

/** What the thread that feeds the team's index is told. Those with an `id` are answered. */
export type ToFeed = FileNews | { readonly kind: 'settled' | 'close'; readonly id: number }

/** What it says. */
export type FromFeed =
  | { readonly kind: 'done'; readonly id: number }
  | { readonly kind: 'status'; readonly status: ToldStatus }

/** How far it is, with errors in words. */
export type ToldStatus = Omit<FeedStatus, 'trouble'> & { readonly trouble?: ErrorBody | undefined }
