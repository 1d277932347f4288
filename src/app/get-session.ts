import { shorten, ThroughlineError } from '#base'
import type { SessionSummary } from '#model'
import type { Listed } from './list-sessions.ts'

/**
 * The session that is meant by an id, the beginning of one, or a whole name. A part of a name is no address: what
 * changes, sends, shares or ends must not reach a session that only happens to have the word in its name. Of a
 * recording's id the uuid alone is enough. The id of a recording that is not listed, because its session is, leads to
 * that session; that of a copy that is not listed leads to the copy.
 */
export function getSession(
  { sessions, doubles = new Map(), copies = [] }: Omit<Listed, 'problems'>,
  query: string,
): SessionSummary {
  const wanted = query.trim().toLowerCase()
  if (wanted === '') throw notFound(query, [])
  // Copies have the names of their originals, and are meant only by their own ids.
  const known = [...sessions, ...copies]
  const exact = known.filter(({ id }) => idsOf(id).includes(wanted))
  const found = exact.length > 0 ? exact : [...new Set([...byBeginning(), ...sessions.filter(isNamed)])]
  const [only] = found
  if (found.length > 1) throw ambiguous(query, found)
  if (only) return only
  throw notFound(query, sessions.filter(isNamedLike))

  function byBeginning(): readonly SessionSummary[] {
    if (wanted.length < SHORTEST) return []
    const own = known.filter(({ id }) => idsOf(id).some((one) => one.startsWith(wanted)))
    return own.length > 0 ? own : sessions.filter((session) => isBehind(session))
  }

  function isBehind(session: SessionSummary): boolean {
    return recordingsOf(session, doubles).some((id) => id.startsWith(wanted))
  }

  function isNamed({ name }: SessionSummary): boolean {
    return name?.trim().toLowerCase() === wanted
  }

  function isNamedLike({ name }: SessionSummary): boolean {
    return name?.toLowerCase().includes(wanted) === true
  }
}

/** Fewer letters of an id are sooner a word, such as `add` or `bad`, than meant as an id. */
const SHORTEST = 4
/** So many sessions are named by an error. */
const MOST_SHOWN = 5

/** An id, and of `{date}-{uuid}` the uuid too. */
function idsOf(id: string): readonly string[] {
  const whole = id.toLowerCase()
  const uuid = /^\d{4}-\d{2}-\d{2}-([0-9a-f]{8}-.*)$/.exec(whole)?.[1]
  return uuid === undefined ? [whole] : [whole, uuid]
}

function recordingsOf({ id }: SessionSummary, doubles: ReadonlyMap<string, string>): readonly string[] {
  return [...doubles].flatMap(([recording, of]) => (of === id ? idsOf(recording) : []))
}

function notFound(query: string, alike: readonly SessionSummary[]): ThroughlineError {
  const next =
    alike.length > 0
      ? `Give the id or the whole name. Similar names: ${toCandidates(alike)}.`
      : `Give the id, at least ${SHORTEST} characters of its beginning, or the whole name; \`throughline ls --text <words>\` finds them.`
  return new ThroughlineError('session-not-found', `no session matches ${JSON.stringify(query)}`, {
    hint: next,
  })
}

function ambiguous(query: string, found: readonly SessionSummary[]): ThroughlineError {
  return new ThroughlineError(
    'session-ambiguous',
    `${found.length} sessions match ${JSON.stringify(query)}`,
    { hint: `Give an id, or more of it: ${toCandidates(found)}.` },
  )
}

function toCandidates(found: readonly SessionSummary[]): string {
  const shown = found
    .slice(0, MOST_SHOWN)
    .map(({ id, name }) => `${id}${name === undefined ? '' : ` (${shorten(name, 40)})`}`)
  return `${shown.join(', ')}${found.length > shown.length ? `, and ${found.length - shown.length} more` : ''}`
}
