import { list, ThroughlineError } from '#base'
import type { DocumentDraft, DocumentPatch, DocumentVersion, MemoryDocument } from '#model'
import {
  isDocumentId,
  isSessionId,
  type ArtifactContent,
  type DocumentTrace,
  type ImportReport,
  type KeptWakeUp,
  type MemoryCalls,
  type RecallAnswer,
  type RememberOutcome,
  type Review,
  type WakeUpPreview,
} from '#wire'
import { expectShape, type Rest } from './rest.ts'

/** What is remembered, over REST. */
export function createRemoteMemory(rest: Rest): MemoryCalls {
  const post = (path: string, body: object = {}): Promise<unknown> => rest.send('POST', path, body)
  return {
    async query(query, { limit } = {}) {
      const body = await post('/api/documents/query', { query, ...(limit === undefined ? {} : { limit }) })
      return list(body, 'documents').map(toDocument)
    },
    get: async (id) => toDocument(await rest.get(at(id))),
    async versions(id) {
      const body = await rest.get(at(id, '/versions'))
      return list(body, 'versions').map((one) =>
        expectShape<DocumentVersion>(one, 'version', 'change', 'document'),
      )
    },
    put: async (draft) => toDocument(await post('/api/documents/put', { document: toPlain(draft) })),
    remember: async ({ by: _own, ...request }) =>
      expectShape<RememberOutcome>(await post('/api/documents', request), 'kind'),
    edit: async (id, patch, { version } = {}) =>
      toDocument(await rest.send('PATCH', at(id), { patch: toNulls(patch), version })),
    act: async (id, action, { version } = {}) =>
      toDocument(await post(at(id, '/actions'), { ...action, version })),
    review: async () =>
      expectShape<Review>(await rest.get('/api/review'), 'held', 'contradictions', 'duplicates', 'stale'),
    trace: async (id) =>
      expectShape<DocumentTrace>(await rest.get(at(id, '/trace')), 'document', 'carried', 'files'),
    async suggestTags(text) {
      return list(await post('/api/tags', { text }), 'tags').filter((tag) => typeof tag === 'string')
    },
    wakeUp: async (request) => toPreview(await post('/api/wake-up', request)),
    async wakeUps(sessionId) {
      if (!isSessionId(sessionId)) return []
      const body = await rest.get(`/api/sessions/${encodeURIComponent(sessionId)}/wake-ups`)
      return list(body, 'wakeUps').map((one) => expectShape<KeptWakeUp>(one, 'text', 'receipt', 'at'))
    },
    wakeElsewhere: async (request) => toPreview(await post('/api/wake-ups', request)),
    recall: async ({ question, ...rest_ }) =>
      expectShape<RecallAnswer>(await rest.get('/api/recall', { q: question, ...rest_ }), 'hits'),
    import: async ({ by: _own, ...request }) =>
      expectShape<ImportReport>(
        await post('/api/documents/import', request),
        'added',
        'known',
        'held',
        'losses',
      ),
    async export() {
      const decoder = new TextDecoder()
      let text = ''
      for await (const piece of rest.stream('/api/documents/export')) {
        text += decoder.decode(piece, { stream: true })
      }
      return text + decoder.decode()
    },
    artifact: async (id, hash) => {
      const path = `/api/artifacts/${toPart(id)}`
      return expectShape<ArtifactContent>(
        await rest.get(path, hash === undefined ? {} : { hash }),
        'path',
        'hash',
        'bytes',
      )
    },
  }
}

function at(id: string, what = ''): string {
  return `/api/documents/${toPart(id)}${what}`
}

/** Of what cannot stand in an address there is no document. */
function toPart(id: string): string {
  if (!isDocumentId(id) || /^\.{1,2}$/.test(id)) throw noSuchDocument(id)
  // A document may be called like a way of its own.
  return id === 'export' ? '%65xport' : encodeURIComponent(id)
}

function toDocument(value: unknown): MemoryDocument {
  return expectShape<MemoryDocument>(value, 'id', 'type', 'content', 'tags', 'extra')
}

function toPreview(value: unknown): WakeUpPreview {
  return expectShape<WakeUpPreview>(value, 'text', 'receipt')
}

/** What is taken away is said so: JSON has no word for nothing but `null`. */
function toNulls(patch: DocumentPatch): object {
  return Object.fromEntries(
    Object.entries(patch).map(([key, value]) => [key, value === undefined ? null : value]),
  )
}

function toPlain({ extra, ...draft }: DocumentDraft): object {
  return extra === undefined ? draft : { ...draft, extra }
}

function noSuchDocument(id: string): ThroughlineError {
  return new ThroughlineError('document-not-found', `there is no document ${id}`, {
    hint: 'List the documents; retired ones are among them when asked for.',
  })
}
