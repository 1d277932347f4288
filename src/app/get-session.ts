import { shorten, ThroughlineError } from '#base'
import type { SessionSummary } from '#model'
import type { Listed } from './list-sessions.ts'

/**
 * The session a person means by an id, the beginning of one, or a name. Of a recording's id the uuid alone is enough.
 * The id of a recording that is not listed, because its session is, leads to that session; that of a copy that is not
 * listed leads to the copy.
 */
export function getSession(
  { sessions, doubles = new Map(), copies = [] }: Omit<Listed, 'problems'>,
  query: string,
): SessionSummary {
  const wanted = query.trim().toLowerCase()
  if (wanted === '') throw notFound(query)
  const attempts = [
    (session: SessionSummary) => idsOf(session.id).includes(wanted),
    (session: SessionSummary) => idsOf(session.id).some((id) => id.startsWith(wanted)),
    (session: SessionSummary) => recordingsOf(session, doubles).some((id) => id.startsWith(wanted)),
    (session: SessionSummary) => session.name?.trim().toLowerCase() === wanted,
    (session: SessionSummary) => session.name?.toLowerCase().includes(wanted) === true,
  ]
  for (const [nth, matches] of attempts.entries()) {
    // Copies have the names of their originals, and are meant only by their own ids.
    const found = (nth < BY_ID ? [...sessions, ...copies] : sessions).filter(matches)
    const [only] = found
    if (found.length > 1) throw ambiguous(query, found)
    if (only) return only
  }
  throw notFound(query)
}

/** The first attempts go by the session's own id. */
const BY_ID = 2

/** An id, and of `{date}-{uuid}` the uuid too. */
function idsOf(id: string): readonly string[] {
  const whole = id.toLowerCase()
  const uuid = /^\d{4}-\d{2}-\d{2}-([0-9a-f]{8}-.*)$/.exec(whole)?.[1]
  return uuid === undefined ? [whole] : [whole, uuid]
}

function recordingsOf({ id }: SessionSummary, doubles: ReadonlyMap<string, string>): readonly string[] {
  return [...doubles].flatMap(([recording, of]) => (of === id ? idsOf(recording) : []))
}

function notFound(query: string): ThroughlineError {
  return new ThroughlineError('session-not-found', `no session matches ${JSON.stringify(query)}`, {
    hint: 'See what there is with `throughline ls`, or search names and prompts with `throughline ls --text <words>`.',
  })
}

function ambiguous(query: string, found: readonly SessionSummary[]): ThroughlineError {
  const shown = found
    .slice(0, 5)
    .map(({ id, name }) => `${id}${name === undefined ? '' : ` (${shorten(name, 40)})`}`)
  const more = found.length > shown.length ? `, and ${found.length - shown.length} more` : ''
  return new ThroughlineError(
    'session-ambiguous',
    `${found.length} sessions match ${JSON.stringify(query)}`,
    {
      hint: `Give more of the id: ${shown.join(', ')}${more}.`,
    },
  )
}
