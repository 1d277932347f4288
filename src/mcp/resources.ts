import { ThroughlineError } from '#base'
import type { MemoryDocument, SessionSummary } from '#model'
import { describeDocument } from './document-text.ts'
import { invalid } from './parameters.ts'
import { readTranscript } from './previous-tool.ts'
import { toMinute, type Quoting } from './quoting.ts'
import type { Desk } from './tool.ts'

type ResourceDesk = Pick<Desk, 'throughline' | 'quoting'>

/** Something that can be read by its address. */
interface ListedResource {
  readonly uri: string
  readonly name: string
  readonly description: string
  readonly mimeType: string
}

export interface ResourcePage {
  readonly resources: readonly ListedResource[]
  readonly nextCursor?: string
}

const SESSIONS = 'throughline://sessions/'
const DOCUMENTS = 'throughline://documents/'
const PAGE = 50
const MIME = 'text/plain'
const WHOLE = 20_000

/** The addresses there are, as templates. */
export const RESOURCE_TEMPLATES: readonly {
  readonly uriTemplate: string
  readonly name: string
  readonly description: string
  readonly mimeType: string
}[] = [
  {
    uriTemplate: `${SESSIONS}{id}`,
    name: 'session',
    description: 'What was said at the end of a session, as text only.',
    mimeType: MIME,
  },
  {
    uriTemplate: `${DOCUMENTS}{id}`,
    name: 'document',
    description: 'Something that was remembered, with where it came from.',
    mimeType: MIME,
  },
]

/** Documents, the newest first, then sessions, the most recently active first; in pages. */
export async function listResources(
  { throughline, quoting }: ResourceDesk,
  cursor: string | undefined,
): Promise<ResourcePage> {
  const [, kind, place] = /^(documents|sessions):(.*)$/.exec(cursor ?? 'documents:0') ?? []
  if (kind === undefined || place === undefined) throw invalid('this cursor is none', 'Leave it out.')
  if (kind === 'sessions') return await listSessions(place)
  const every = await throughline.memory.query({ type: ['learning', 'marker', 'teaching', 'artifact'] })
  const all = every.filter(isOwn)
  const from = Number(place)
  const page = all.toReversed().slice(from, from + PAGE)
  if (page.length === 0) return await listSessions('')
  const isLast = from + page.length >= all.length
  return {
    resources: page.map((document) => toDocumentResource(document, quoting)),
    nextCursor: isLast ? 'sessions:' : `documents:${from + page.length}`,
  }

  async function listSessions(after: string): Promise<ResourcePage> {
    const { sessions, next } = await throughline.list({
      limit: PAGE,
      ...(after === '' ? {} : { cursor: after }),
    })
    return {
      resources: sessions.map((session) => toSessionResource(session, quoting)),
      ...(next === undefined ? {} : { nextCursor: `sessions:${next}` }),
    }
  }
}

/** The text of one. Throws `session-not-found`, `document-not-found`, or `request-invalid` for another address. */
export async function readResource(
  desk: ResourceDesk,
  uri: string,
): Promise<{ readonly uri: string; readonly mimeType: string; readonly text: string }> {
  const { throughline, quoting } = desk
  if (uri.startsWith(SESSIONS)) {
    const id = decode(uri.slice(SESSIONS.length))
    const session = await throughline.get(id)
    if (session.id !== id) {
      throw new ThroughlineError('session-not-found', 'no session has this id', {
        hint: 'List the resources, or search.',
      })
    }
    return { uri, mimeType: MIME, text: await readTranscript(desk, session) }
  }
  if (uri.startsWith(DOCUMENTS)) {
    const id = decode(uri.slice(DOCUMENTS.length))
    const document = await throughline.memory.get(id)
    if (!isOwn(document)) throw notFound(id)
    return { uri, mimeType: MIME, text: describeDocument(document, quoting, WHOLE) }
  }
  throw invalid('there is nothing at this address', `Use ${SESSIONS}{id} or ${DOCUMENTS}{id}.`)
}

/** What other people share comes to agents with a wake-up, as far as its person lets it, and in no other way. */
function isOwn({ elsewhere }: MemoryDocument): boolean {
  return elsewhere?.mine !== false
}

function notFound(id: string): ThroughlineError {
  return new ThroughlineError('document-not-found', `there is no document ${id}`, {
    hint: 'List the resources.',
  })
}

function toSessionResource(session: SessionSummary, { line }: Quoting): ListedResource {
  const workdir = session.workdirs.at(-1)
  return {
    uri: `${SESSIONS}${encodeURIComponent(session.id)}`,
    name: line(session.name ?? session.id, 80),
    description: `${toMinute(session.lastActivityAt)}${workdir === undefined ? '' : ` in ${line(workdir, 120)}`}`,
    mimeType: MIME,
  }
}

function toDocumentResource(document: MemoryDocument, { line }: Quoting): ListedResource {
  return {
    uri: `${DOCUMENTS}${encodeURIComponent(document.id)}`,
    name: line(document.content, 80),
    description: `${document.type}, ${document.category}, ${toMinute(document.updatedAt)}`,
    mimeType: MIME,
  }
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    throw invalid('the address cannot be read', 'Use one that was listed.')
  }
}
