export { asksForFiles, entryMatches, fileMatches } from './facet-match.ts'
export { createMatcher } from './match.ts'
export type { Matcher } from './match.ts'
export { toPostgresAddress } from './postgres/address.ts'
export type { PostgresAddress } from './postgres/address.ts'
export { openPostgresStore } from './postgres/open.ts'
export type { PostgresOptions } from './postgres/open.ts'
export type { Member } from './postgres/members.ts'
export { openTeamLog } from './postgres/open-team-log.ts'
export type { TeamLogOptions } from './postgres/open-team-log.ts'
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
  Share,
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
export { toUsageReport } from './usage.ts'
export type { UsageOptions } from './usage.ts'
