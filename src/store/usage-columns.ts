import type { Usage } from '#model'

/** What was used, as both databases have it. */
export interface UsageColumns {
  readonly input: number
  readonly output: number
  readonly cache_read: number
  readonly cache_creation: number
  readonly cache_creation_5m: number
  readonly cache_creation_1h: number
}

export function toUsage(row: UsageColumns): Usage {
  return {
    input: row.input,
    output: row.output,
    cacheRead: row.cache_read,
    cacheCreation: row.cache_creation,
    cacheCreation5m: row.cache_creation_5m,
    cacheCreation1h: row.cache_creation_1h,
  }
}
