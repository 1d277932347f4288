import type { SpeakerNames } from '#memory'
import {
  byActivity,
  matchesQuery,
  type AnyOf,
  type DocumentQuery,
  type DocumentVersion,
  type MemoryDocument,
  type Passage,
  type SessionSummary,
} from '#model'
import type { ArtifactContent, PassageOptions } from '#wire'
import { createSessionArtifacts } from './memory-artifacts.ts'
import { createSessionMessages } from './memory-messages.ts'

/** Documents that are read from transcripts: what was said, and the files that agents wrote. */
export interface SessionDocuments {
  /** The newest of those that fit, in no order. */
  query(query: DocumentQuery, limit: number): Promise<readonly MemoryDocument[]>
  find(id: string): Promise<MemoryDocument | undefined>
  versions(id: string): Promise<readonly DocumentVersion[]>
  artifact(id: string, hash?: string): Promise<ArtifactContent | undefined>
}

export interface SessionDocumentsOptions {
  readonly now: () => number
  readonly sessions: () => Promise<readonly SessionSummary[]>
  readonly passages: (session: SessionSummary, options?: PassageOptions) => AsyncIterable<readonly Passage[]>
  readonly namesOf: (agent: string) => Promise<SpeakerNames>
}

/** Reads through to the transcripts of the sessions that may be shown. */
export function createSessionDocuments(options: SessionDocumentsOptions): SessionDocuments {
  const messages = createSessionMessages(options)
  const artifacts = createSessionArtifacts(options.passages)

  async function sessionOf(id: string, type: 'message' | 'artifact'): Promise<SessionSummary | undefined> {
    const [kind, sessionId] = id.split(':', 2)
    if (kind !== type || sessionId === undefined) return undefined
    return (await options.sessions()).find((session) => session.id === sessionId)
  }

  return {
    async query(query, limit) {
      if (!mayFit(query, 'message') && !mayFit(query, 'artifact')) return []
      const sessions = (await options.sessions()).filter(isAsked(query)).toSorted(byActivity)
      const found: MemoryDocument[] = []
      if (mayFit(query, 'message')) found.push(...(await messages.find(sessions, { query, limit })))
      if (!mayFit(query, 'artifact')) return found
      let files = 0
      for (const session of sessions) {
        const fitting = (await artifacts.find(session)).filter((one) =>
          matchesQuery(one, query, options.now()),
        )
        found.push(...fitting)
        files += fitting.length
        if (files >= limit) break
      }
      return found
    },
    async find(id) {
      const said = await sessionOf(id, 'message')
      if (said !== undefined) return await messages.get(said, id.split(':').slice(2).join(':'))
      const made = await sessionOf(id, 'artifact')
      return made && (await artifacts.find(made)).find((one) => one.id === id)
    },
    async versions(id) {
      const said = await sessionOf(id, 'message')
      const message = said && (await messages.get(said, id.split(':').slice(2).join(':')))
      if (message !== undefined) {
        const by = message.speakerName ?? ''
        return [{ version: 1, change: 'put', by, at: message.createdAt, document: message }]
      }
      const made = await sessionOf(id, 'artifact')
      return made === undefined ? [] : await artifacts.versions(made, id)
    },
    async artifact(id, hash) {
      const session = await sessionOf(id, 'artifact')
      return session && (await artifacts.content(session, id, hash))
    },
  }
}

/** Whether something that is read from a transcript can be what is asked for. Then transcripts have to be read. */
export function readsSessions(query: DocumentQuery): boolean {
  return mayFit(query, 'message') || mayFit(query, 'artifact')
}

function mayFit(query: DocumentQuery, type: 'message' | 'artifact'): boolean {
  const { id, sessionId, tags = [], pinned } = query
  const isNobodys = [query.sourceSessionId, query.sourceMessageId, query.promotedBy].some(
    (facet) => facet !== undefined,
  )
  if (isNobodys || tags.length > 0 || pinned === true || sessionId === null) return false
  // Of files there can be very many, and they are read from whole transcripts: they are named, or a session is.
  const isNamed =
    type === 'message' || query.type !== undefined || sessionId !== undefined || id !== undefined
  return (
    isNamed &&
    takes(query.type, type) &&
    takes(query.category, type === 'message' ? 'transcript' : 'knowledge') &&
    takes(query.state ?? 'active', 'active') &&
    (type === 'message' || (takes(query.role, 'assistant') && takes(query.speakerType, 'agent'))) &&
    (id === undefined || toList(id).some((one) => one.startsWith(`${type}:`)))
  )
}

function isAsked({ sessionId, workdir, id }: DocumentQuery): (session: SessionSummary) => boolean {
  const ids = id === undefined ? undefined : new Set(toList(id).map((one) => one.split(':', 2)[1]))
  return (session) =>
    takes(sessionId, session.id) &&
    (ids === undefined || ids.has(session.id)) &&
    (workdir === undefined ||
      !session.workdirsComplete ||
      session.workdirs.some((one) => takes(workdir, one)))
}

function takes<T>(facet: AnyOf<T> | undefined, value: T): boolean {
  return facet === undefined || toList(facet).includes(value)
}

function toList<T>(facet: AnyOf<T>): readonly T[] {
  return isList(facet) ? facet : [facet]
}

function isList<T>(facet: AnyOf<T>): facet is readonly T[] {
  return Array.isArray(facet)
}
