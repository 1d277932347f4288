import type { BillRow, Change, EntryRow, FoundEntry, IndexedFile, Store } from '#store'
import { toQuery } from '#store'
import { NO_USAGE, type Usage } from '#model'

/** Rows for a store, of which only what matters is said. */
export function fileRow(path: string, fields: Partial<IndexedFile> = {}): IndexedFile {
  return {
    path,
    origin: 'here',
    agent: 'claude',
    session: `session-of-${path}`,
    subagent: undefined,
    createdAt: '2026-11-15T08:00:00.000Z',
    workdirs: ['/home/user/work/made'],
    offset: 0,
    guard: 'guard',
    seen: 'seen',
    fold: '{}',
    ...fields,
  }
}

export function entryRow(text: string | EntryRow['text'], fields: Partial<EntryRow> = {}): EntryRow {
  return {
    offset: 0,
    length: 10,
    kind: 'prompt',
    speaker: 'human',
    at: Date.UTC(2026, 10, 15, 8),
    tool: undefined,
    isError: false,
    hasDirective: false,
    text: typeof text === 'string' ? { said: text } : text,
    ...fields,
  }
}

export function billRow(key: string, usage: Partial<Usage> = {}, fields: Partial<BillRow> = {}): BillRow {
  return {
    key,
    at: Date.UTC(2026, 10, 15, 8),
    model: 'claude-opus-5-5',
    workdir: '/home/user/work/made',
    usage: { ...NO_USAGE, ...usage },
    ...fields,
  }
}

export type Advance = Extract<Change, { kind: 'advance' }>

export function advance(
  file: IndexedFile | string,
  entries: readonly EntryRow[],
  fields: Partial<Advance> = {},
): Advance {
  return {
    kind: 'advance',
    file: typeof file === 'string' ? fileRow(file) : file,
    anew: false,
    as: 'news',
    entries,
    bills: [],
    ...fields,
  }
}

/** A moment after everything that these rows tell of. */
export const STORE_NOW: number = Date.UTC(2026, 10, 20)

/** Every hit of a query, page by page. */
export async function findAll(store: Store, q: string, limit = 1000): Promise<readonly FoundEntry[]> {
  const query = toQuery(q, STORE_NOW)
  const hits: FoundEntry[] = []
  let cursor: string | undefined
  do {
    const page = await store.search({ query, limit, ...(cursor === undefined ? {} : { cursor }) })
    hits.push(...page.hits)
    cursor = page.next
  } while (cursor !== undefined)
  return hits
}

/** What the hits of a query are called: path and offset. */
export async function findPlaces(store: Store, q: string): Promise<readonly string[]> {
  return (await findAll(store, q)).map(({ path, offset }) => `${path}:${offset}`)
}
