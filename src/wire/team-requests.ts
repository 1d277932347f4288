import { boolean, string, ThroughlineError, type JsonObject } from '#base'
import type { TeamShare } from '#model'
import { readNativeAgent } from './restore-requests.ts'
import type { ContinueRequest } from './team-calls.ts'

const LONGEST = 4096

/** Every reader here throws `request-invalid` for a value that cannot be meant, and names it. */
export function readShare(body: JsonObject): TeamShare {
  const person = text(body, 'person')
  const may = readRight(text(body, 'may'))
  const how = {
    with: person === undefined ? ('everybody' as const) : { person },
    ...(may === undefined ? {} : { may }),
  }
  const kind = text(body, 'kind')
  const [session, workdir] = [text(body, 'session'), text(body, 'workdir')]
  if (kind === 'session' && session !== undefined) return { ...how, kind, session }
  if (kind === 'workdir' && workdir !== undefined) return { ...how, kind, workdir }
  if (kind === 'everything') return { ...how, kind }
  throw invalid('kind', 'Give session with its id, workdir with its path, or everything.')
}

function readRight(may: string | undefined): TeamShare['may'] {
  if (may === undefined || may === 'read' || may === 'answer') return may
  throw invalid('may', 'Give read or answer.')
}

export function readContinueRequest(body: JsonObject): ContinueRequest {
  const [workdir, to] = [text(body, 'workdir'), text(body, 'to')]
  return {
    ...(workdir === undefined ? {} : { workdir }),
    ...(to === undefined ? {} : { to: readNativeAgent(to) }),
    ...(boolean(body, 'takeOver') === true ? { takeOver: true } : {}),
  }
}

/** A share as it is sent. */
export function toShareBody(share: TeamShare): JsonObject {
  return {
    kind: share.kind,
    ...(share.kind === 'session' ? { session: share.session } : {}),
    ...(share.kind === 'workdir' ? { workdir: share.workdir } : {}),
    ...(share.with === 'everybody' ? {} : { person: share.with.person }),
    ...(share.may === undefined ? {} : { may: share.may }),
  }
}

function text(body: JsonObject, key: string): string | undefined {
  if (body[key] === undefined || body[key] === null) return undefined
  const value = string(body, key)
  if (value === undefined || value === '' || value.length > LONGEST) throw invalid(key, 'Give a short text.')
  return value
}

function invalid(what: string, hint: string): ThroughlineError {
  return new ThroughlineError('request-invalid', `${what} has a value that cannot be meant`, { hint })
}
