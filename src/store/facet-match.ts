import type { Facets, Choice } from './query-facets.ts'
import type { EntryRow } from './store.ts'

/** What a file must be for its entries to be looked at. */
export interface FileOfFacets {
  readonly agent: string
  readonly session: string
  readonly workdirs: readonly string[]
}

/** Whether a file can have hits, as far as its session decides. */
export function fileMatches(facets: Facets, { agent, session, workdirs }: FileOfFacets): boolean {
  return (
    holds(facets.agents, (wanted) => agent.toLowerCase() === wanted) &&
    holds(facets.sessions, (start) => session.toLowerCase().startsWith(start)) &&
    holds(facets.workdirs, (wanted) => workdirs.some((workdir) => isInWorkdir(workdir, wanted)))
  )
}

/** Whether all facets that ask for a file take every file. */
export function asksForFiles({ agents, sessions, workdirs }: Facets): boolean {
  return [agents, sessions, workdirs].some(({ any, none }) => any.length > 0 || none.length > 0)
}

/** Whether an entry is what the facets ask for, its tiers aside. */
export function entryMatches(
  facets: Facets,
  entry: Pick<EntryRow, 'kind' | 'speaker' | 'tool' | 'isError' | 'hasDirective' | 'at'>,
): boolean {
  const { from, to, isError, hasDirective } = facets
  if (isError !== undefined && entry.isError !== isError) return false
  if (hasDirective !== undefined && entry.hasDirective !== hasDirective) return false
  if (from !== undefined && (entry.at === undefined || entry.at < from)) return false
  if (to !== undefined && (entry.at === undefined || entry.at >= to)) return false
  return (
    holds(facets.kinds, (kind) => entry.kind === kind) &&
    holds(facets.speakers, (speaker) => entry.speaker === speaker) &&
    holds(facets.tools, (wanted) => entry.tool !== undefined && isTool(entry.tool, wanted))
  )
}

function holds<Value>({ any, none }: Choice<Value>, is: (value: Value) => boolean): boolean {
  return (any.length === 0 || any.some(is)) && !none.some(is)
}

/** `wanted` is in small letters; with a `*` at its end it is the beginning of a name. */
export function isTool(name: string, wanted: string): boolean {
  const small = name.toLowerCase()
  return wanted.endsWith('*') ? small.startsWith(wanted.slice(0, -1)) : small === wanted
}

function isInWorkdir(workdir: string, wanted: string): boolean {
  if (wanted.startsWith('/') || /^[A-Za-z]:/.test(wanted)) {
    return workdir === wanted || workdir.startsWith(`${wanted}/`) || workdir.startsWith(`${wanted}\\`)
  }
  const path = `/${workdir.replaceAll('\\', '/').toLowerCase()}/`
  return path.includes(`/${wanted.toLowerCase()}/`)
}
