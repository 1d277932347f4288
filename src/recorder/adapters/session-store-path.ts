import { join, sep } from 'node:path'
import { ThroughlineError } from '#base'
import type { SessionStoreKey } from './session-store.ts'

/** Where a transcript lies below a root. Whatever a key says, it is below it, and no two keys share a file. */
export function toPath(root: string, { projectKey, sessionId, subpath }: SessionStoreKey): string {
  const parts = [projectKey, sessionId, ...(subpath === undefined ? [] : subpath.split('/'))]
  if (parts.includes('')) {
    throw new ThroughlineError('request-invalid', 'a part of the key of a session is empty', {
      hint: 'Give a project and a session, and leave out `subpath` for the session itself.',
    })
  }
  return `${join(root, ...parts.map(toName))}.jsonl`
}

/** The other way round, for what is below a session. */
export function toSubpath(path: string): string {
  const parts = path.slice(0, -'.jsonl'.length).split(sep)
  return parts.map((part) => decodeURIComponent(part)).join('/')
}

/** A name that any disk takes: what could lead elsewhere, or end like a file, is escaped. */
function toName(part: string): string {
  return encodeURIComponent(part).replaceAll('*', '%2A').replace(/^\./, '%2E')
}
