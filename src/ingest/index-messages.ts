import type { ErrorBody, IndexState, Notice, SearchRequest, UsageRequest } from '#wire'
import type { SessionCounts } from '#model'
import type { IndexTask } from './index-task.ts'
import type { IndexedHit } from './session-index.ts'

/** What a thread that reads files is told of them. */
export type FileNews =
  | { readonly kind: 'sync'; readonly tasks: readonly IndexTask[] }
  | { readonly kind: 'touch'; readonly task: IndexTask }
  | { readonly kind: 'forget'; readonly path: string }
  | { readonly kind: 'move'; readonly from: string; readonly to: string }

/** Who takes such news. */
export interface FileReader {
  sync(tasks: readonly IndexTask[]): void
  touch(task: IndexTask): void
  forget(path: string): void
  move(from: string, to: string): void
}

export function takeNews(reader: FileReader, news: FileNews): void {
  switch (news.kind) {
    case 'sync':
      reader.sync(news.tasks)
      break
    case 'touch':
      reader.touch(news.task)
      break
    case 'forget':
      reader.forget(news.path)
      break
    case 'move':
      reader.move(news.from, news.to)
      break
  }
}

/** What the index's own thread is asked. Those with an `id` are answered. */
export type ToIndex =
  | FileNews
  | { readonly kind: 'search'; readonly id: number; readonly request: SearchRequest; readonly now: number }
  | {
      readonly kind: 'usage'
      readonly id: number
      readonly request: Omit<UsageRequest, 'onProgress'>
      readonly leftOut: readonly string[]
    }
  | { readonly kind: 'settled'; readonly id: number }
  | {
      readonly kind: 'watch'
      readonly watch: number
      readonly q: string
      readonly cursor: string | undefined
      readonly now: number
    }
  | { readonly kind: 'unwatch'; readonly watch: number }
  | { readonly kind: 'close'; readonly id: number }

/** What it says. */
export type FromIndex =
  | { readonly kind: 'answer'; readonly id: number; readonly value: unknown }
  | { readonly kind: 'refusal'; readonly id: number; readonly error: ErrorBody }
  | { readonly kind: 'counts'; readonly counts: ReadonlyMap<string, SessionCounts> }
  | { readonly kind: 'state'; readonly state: IndexState }
  | { readonly kind: 'notice'; readonly notice: Omit<Notice, 'at'> }
  | { readonly kind: 'hit'; readonly watch: number; readonly hit: IndexedHit; readonly cursor: string }
  | { readonly kind: 'reset' | 'caught-up'; readonly watch: number; readonly cursor: string }

/** What the thread is started with. */
export interface IndexWorkerData {
  readonly path: string
  readonly origin: string
  /** What time it was then. */
  readonly begunAt: number
  readonly restMs: number | undefined
}
