import {
  readDocumentAction,
  readDocumentDraft,
  readDocumentPatch,
  readDocumentQuery,
  readFacetValues,
  readImportRequest,
  readQueryLimit,
  readRecallRequest,
  readRememberRequest,
  readShownVersion,
  readTagText,
  readWakeElsewhereRequest,
  readWakeUpRequest,
  type MemoryCalls,
  type MemoryRouteName,
} from '#wire'
import type { Answer } from './answer.ts'
import type { Handler } from './handlers.ts'
import { nameOf } from './live-handlers.ts'

const CREATED = 201

/** The handlers of what is remembered. Who asks is what the daemon knows of them, never what they say. */
export function createMemoryHandlers(memory: MemoryCalls): Readonly<Record<MemoryRouteName, Handler>> {
  return {
    async documents({ query }) {
      const limit = readQueryLimit(query.get('limit'))
      return json({ documents: await memory.query(readFacetValues(query), limit) })
    },
    async queryDocuments({ body }) {
      const limit = readQueryLimit(body['limit'])
      return json({ documents: await memory.query(readDocumentQuery(body['query']), limit) })
    },
    async remember({ body, caller }) {
      const outcome = await memory.remember({ ...readRememberRequest(body), by: nameOf(caller) })
      const isWritten = outcome.kind === 'remembered' || outcome.kind === 'held'
      return json(outcome, isWritten ? CREATED : undefined)
    },
    putDocument: async ({ body, caller }) =>
      json(await memory.put(readDocumentDraft(body['document']), { by: nameOf(caller) })),
    importDocuments: async ({ body, caller }) =>
      json(await memory.import({ ...readImportRequest(body), by: nameOf(caller) })),
    async exportDocuments() {
      const text = await memory.export()
      return {
        kind: 'stream',
        type: 'application/x-ndjson',
        fileName: 'documents.jsonl',
        pieces: text === '' ? [] : [text],
      }
    },
    document: async ({ id }) => json(await memory.get(id)),
    async editDocument({ id, body, caller }) {
      const author = { by: nameOf(caller), ...readShownVersion(body) }
      return json(await memory.edit(id, readDocumentPatch(body['patch']), author))
    },
    documentVersions: async ({ id }) => json({ versions: await memory.versions(id) }),
    async documentAction({ id, body, caller }) {
      const author = { by: nameOf(caller), ...readShownVersion(body) }
      return json(await memory.act(id, readDocumentAction(body), author))
    },
    documentTrace: async ({ id }) => json(await memory.trace(id)),
    review: async () => json(await memory.review()),
    suggestTags: async ({ body }) => json({ tags: await memory.suggestTags(readTagText(body)) }),
    wakeUp: async ({ query }) => json(await memory.wakeUp(readWakeUpRequest(Object.fromEntries(query)))),
    wakeUpAfter: async ({ body }) => json(await memory.wakeUp(readWakeUpRequest(body))),
    wakeUps: async ({ id }) => json({ wakeUps: await memory.wakeUps(id) }),
    wakeElsewhere: async ({ body }) => json(await memory.wakeElsewhere(readWakeElsewhereRequest(body))),
    recall: async ({ query }) => json(await memory.recall(readRecallRequest(query))),
    async artifact({ id, query }) {
      const hash = query.get('hash') ?? ''
      return json(await memory.artifact(id, hash === '' ? undefined : hash))
    },
  }
}

function json(value: object, status?: number): Answer {
  const text = JSON.stringify(value)
  return status === undefined ? { kind: 'json', text } : { kind: 'json', text, status }
}
