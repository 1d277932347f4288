export { openArchive } from './archive.ts'
export type { Archive, ArchiveOptions, KeepOutcome } from './archive.ts'
export type { LostSession, Pruned, PrunedFile, PruneOptions } from './archive-survey.ts'
export { openCatalogue } from './catalogue.ts'
export type { Catalogue } from './catalogue.ts'
export type { CatalogueChange, CatalogueOptions, CatalogueSource } from './catalogue-row.ts'
export { guardAt } from './file-guard.ts'
export type { FollowedFile } from './followed-file.ts'
export type { GrowthEvent } from './growth.ts'
export { openIndexCore } from './index-core.ts'
export type { IndexCoreOptions } from './index-core.ts'
export { openIndexThread } from './index-thread.ts'
export { createIndexer } from './indexer.ts'
export type { IndexTask } from './index-task.ts'
export type { IndexProgress } from './index-progress.ts'
export type { Committed, Indexer, IndexerOptions } from './indexer.ts'
export { openLiveRegistry } from './live-registry.ts'
export type { LiveChange, LiveRegistry, LiveRegistryOptions } from './live-registry.ts'
export type {
  IndexedHit,
  IndexedPage,
  SessionIndex,
  SessionIndexOptions,
  Watch,
  WatchOptions,
} from './session-index.ts'
export { openOutbox } from './outbox.ts'
export type { OfferedFile, Outbox, OutboxOptions, OutboxStatus } from './outbox.ts'
export type { Held } from './outbox-state.ts'
export { openWatcher } from './watcher.ts'
export type { Watcher, WatcherOptions, WatchFolder } from './watcher.ts'
