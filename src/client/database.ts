import { isObject, list, string, ThroughlineError, type JsonObject } from '#base'
import { toDocumentJson, type DocumentPatch, type DocumentQuery, type MemoryDocument } from '#model'
import { readDocumentDraft, readDocumentPatch, readDocumentQuery, type Throughline } from '#wire'
import { chosenQuery, type LiveQuery } from './live-query.ts'

/** A document as flat fields, as other document stores give them: its id is `_id`, its session `serverSessionId` too. */
export type FlatDocument = JsonObject & { readonly _id: string }

/** Which documents, of those that have a field. */
export interface FieldOptions {
  /** The value of the field. Without it: every document that has the field, in its order. */
  readonly key?: unknown
  /** Any of these values. */
  readonly keys?: readonly unknown[] | undefined
  readonly descending?: boolean | undefined
  readonly limit?: number | undefined
}

/** What is used of a library of components: React's and Preact's will do. */
export interface Hooks {
  useState<T>(initial: T): readonly [T, (value: T) => void]
  useEffect(effect: () => () => void, dependencies: readonly unknown[]): void
}

/** Documents by one field, in the calls that code has which was written for a database in the page. */
export interface Database {
  query(field: string, options?: FieldOptions): Promise<{ readonly docs: readonly FlatDocument[] }>
  /** Throws `document-not-found`. */
  get(id: string): Promise<FlatDocument>
  /** Adds a document, or changes the one that has this `_id`; the version before is kept. */
  put(document: JsonObject): Promise<{ readonly id: string }>
  /** Retires it: it matches no query any more, and can be restored. */
  del(id: string): Promise<{ readonly id: string }>
  /** What matches now, and whenever that is different. */
  liveQuery(field: string, options?: FieldOptions): LiveQuery<FlatDocument>
  /** The same inside a component, which is drawn again with every change. Needs the hooks that were given. */
  useLiveQuery(field: string, options?: FieldOptions): { readonly docs: readonly FlatDocument[] }
}

/** The documents of a Throughline as a database with `query`, `put` and `useLiveQuery`. */
export function createDatabase(
  throughline: Pick<Throughline, 'memory' | 'subscribe'>,
  hooks?: Hooks,
): Database {
  const { memory } = throughline

  function listen(field: string, options: FieldOptions = {}): LiveQuery<FlatDocument> {
    return chosenQuery(throughline, toQuery(field, options), (documents) => choose(documents, field, options))
  }

  async function edit(known: MemoryDocument, document: JsonObject): Promise<string> {
    const fields = Object.entries(document).filter(([key]) => key !== '_id' && key !== 'id')
    const before = toFlat(known)
    const changed = fields.filter(([key, value]) => JSON.stringify(value) !== JSON.stringify(before[key]))
    const patch = toPatch(Object.fromEntries(changed), known)
    if (Object.keys(patch).length > 0) await memory.edit(known.id, patch)
    return known.id
  }

  return {
    async query(field, options = {}) {
      return { docs: choose(await memory.query(toQuery(field, options)), field, options) }
    },
    get: async (id) => toFlat(await memory.get(id)),
    async put(document) {
      const fields = withSource(document)
      const draft = readDocumentDraft({ type: 'artifact', content: toContent(document), ...fields })
      const known = draft.id === undefined ? undefined : await findDocument(memory, draft.id)
      if (known !== undefined) return { id: await edit(known, fields) }
      return { id: (await memory.put(draft)).id }
    },
    async del(id) {
      return { id: (await memory.act(id, { do: 'retire' })).id }
    },
    liveQuery: listen,
    useLiveQuery(field, options = {}) {
      if (hooks === undefined) throw noHooks()
      const [docs, setDocs] = hooks.useState<readonly FlatDocument[]>([])
      hooks.useEffect(() => {
        const query = listen(field, options)
        query.subscribe(() => setDocs(query.docs))
        return () => query.close()
      }, [field, JSON.stringify(options)])
      return { docs }
    },
  }
}

/** What was learned in a session belongs to none: the session that it names is the one it came from. */
function withSource(document: JsonObject): JsonObject {
  const { serverSessionId, ...fields } = document
  if (document['type'] !== 'learning' || typeof serverSessionId !== 'string') return document
  return { sourceSessionId: serverSessionId, ...fields }
}

/** A document as flat fields. What was said has its words as `text` too, and an answer as `blocks`. */
export function toFlat(document: MemoryDocument): FlatDocument {
  const { id, ...fields } = toDocumentJson(document)
  const { sessionId, type, role, content } = document
  const text = content === '' ? {} : { text: content }
  const said = role === 'assistant' ? { ...text, blocks: [{ type: 'text', text: content }] } : text
  return {
    _id: typeof id === 'string' ? id : '',
    ...(type === 'message' ? said : {}),
    ...fields,
    ...(sessionId === null ? {} : { serverSessionId: sessionId }),
  }
}

/** What the daemon can choose by itself; the rest is chosen here. */
function toQuery(field: string, { key, keys }: FieldOptions): DocumentQuery {
  const asked = keys ?? key
  if (asked === undefined) return {}
  try {
    return readDocumentQuery({ [field]: field === 'tags' && !Array.isArray(asked) ? [asked] : asked })
  } catch {
    // A field of their own, which is no facet.
    return {}
  }
}

function choose(
  documents: readonly MemoryDocument[],
  field: string,
  { key, keys, descending = false, limit }: FieldOptions,
): readonly FlatDocument[] {
  const wanted = keys ?? (key === undefined ? undefined : [key])
  const having = documents.map(toFlat).filter((document) => {
    const value = document[field]
    if (wanted === undefined) return value !== undefined
    return Array.isArray(value) ? value.some((one) => wanted.includes(one)) : wanted.includes(value)
  })
  const sorted = wanted === undefined ? having.toSorted((a, b) => compare(a[field], b[field])) : having
  const ordered = descending ? sorted.toReversed() : sorted
  return limit === undefined ? ordered : ordered.slice(0, limit)
}

function compare(a: unknown, b: unknown): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b
  const [left, right] = [JSON.stringify(a) ?? '', JSON.stringify(b) ?? '']
  return left < right ? -1 : left > right ? 1 : 0
}

/** Their own fields stand beside ours: they go where unknown fields are kept. */
function toPatch(fields: JsonObject, known: MemoryDocument): DocumentPatch {
  const ours: Record<string, unknown> = {}
  const own: Record<string, unknown> = { ...known.extra }
  let hasOwn = false
  for (const [key, value] of Object.entries(fields)) {
    if (key === 'createdAt' || key === 'updatedAt') continue
    try {
      readDocumentPatch({ [key]: value })
      ours[key] = value
    } catch (error) {
      if (!(error instanceof ThroughlineError) || !error.message.includes('no field')) throw error
      own[key] = value
      hasOwn = true
    }
  }
  if (hasOwn) ours['extra'] = own
  return Object.keys(ours).length === 0 ? {} : readDocumentPatch(ours)
}

/** What a document says whose words stand in a field of another name. */
function toContent(document: JsonObject): string {
  const fields = ['text', 'description', 'title', 'event'].map((key) => string(document, key))
  const texts = list(document, 'blocks').flatMap((block) =>
    string(block, 'type') === 'text' ? [string(block, 'text') ?? ''] : [],
  )
  const [text, ...others] = fields
  // An answer may have its words in blocks, beside a text that is empty or says the same.
  const said = [...new Set([text ?? '', ...texts])].filter((piece) => piece.trim() !== '').join('\n')
  return said === '' ? (others.find((value) => value !== undefined) ?? '') : said
}

async function findDocument(memory: Throughline['memory'], id: string): Promise<MemoryDocument | undefined> {
  try {
    return await memory.get(id)
  } catch (error) {
    if (isObject(error) && error['code'] === 'document-not-found') return undefined
    throw error
  }
}

function noHooks(): ThroughlineError {
  return new ThroughlineError('bad-usage', 'useLiveQuery has no hooks', {
    hint: 'Give them: `createDatabase(throughline, { useState, useEffect })`.',
  })
}
