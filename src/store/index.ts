export { asksForFiles, entryMatches, fileMatches } from './facet-match.ts'
export { toHitCursors } from './hit-cursors.ts'
export { createMatcher } from './match.ts'
export type { Matcher } from './match.ts'
export {
  initTeam,
  openDesk,
  openPostgresStore,
  openTeamBook,
  openTeamLog,
  updateTeamTables,
} from './postgres/door.ts'
export { toPostgresAddress } from './postgres/address.ts'
export type { PostgresAddress } from './postgres/address.ts'
export type { DeskOptions } from './postgres/desk-open.ts'
export type {
  Desk,
  DeskCall,
  DeskPlace,
  DeskPublication,
  DeskSession,
  KeptLease,
  LeaseHolder,
  LeaseState,
  TakenCall,
} from './postgres/desk.ts'
export type { PostgresOptions, PostgresStore } from './postgres/open.ts'
export type { ConnectionOptions } from './postgres/connection.ts'
export type { TeamInit } from './postgres/init-team.ts'
export type { Invitation, TeamBook } from './postgres/team-book.ts'
export type {
  Appended,
  FilesRequest,
  Listening,
  ListenRequest,
  LogFile,
  LoggedLine,
  LogLine,
  LogNews,
  LogPage,
  NumberedLine,
  PageRequest,
  Scope,
  StoredFile,
  TeamLog,
} from './postgres/team-log.ts'
export { embeddedPrices } from './price.ts'
export type { Price, Prices } from './price.ts'
export { findLiterals } from './query-literals.ts'
export { toQuery } from './query.ts'
export type { Query } from './query.ts'
export { toSearchText } from './search-text.ts'
export type { SearchText } from './search-text.ts'
export { toSnippet } from './snippet.ts'
export { isDamage, openSqliteStore, setAside, toDamage } from './sqlite/open.ts'
export type { SqliteOptions, SqliteStore } from './sqlite/open.ts'
export { INDEX_VERSION } from './sqlite/schema.ts'
export type {
  Applied,
  BillRow,
  Change,
  CompactionRow,
  EntryRow,
  Found,
  FoundEntry,
  IndexedFile,
  SessionTotals,
  Speaker,
  Store,
  StoredBill,
  StoredCompaction,
  StoreRequest,
} from './store.ts'
export { leadsOf } from './tokens.ts'
export { toSpentReport, toUsageReport } from './usage.ts'
export type { Spent, UsageOptions } from './usage.ts'
