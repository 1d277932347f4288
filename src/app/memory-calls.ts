import type {
  DecisionOnOther,
  DecisionsOnOthers,
  Documents,
  DocumentsOfOthers,
  ForeignTexts,
  SpeakerNames,
} from '#memory'
import { toMatching, type MemoryDocument, type Passage, type SessionSummary } from '#model'
import {
  isSessionId,
  readDocumentAction,
  readDocumentDraft,
  readDocumentPatch,
  readDocumentQuery,
  type ArtifactContent,
  type ChangeAuthor,
  type DocumentAction,
  type MemoryCalls,
  type PassageOptions,
  type PickedAt,
} from '#wire'
import { createBlobs } from './blobs.ts'
import { toBoundFile } from './bound-files.ts'
import { readLocalSettings } from './local-settings.ts'
import { mediaTypeOf } from './media-type.ts'
import { act, edit, refuseToChange } from './memory-actions.ts'
import { checkSharing, refuseOthers } from './memory-sharing.ts'
import { exportDocuments, importDocuments } from './memory-import.ts'
import { notFound, remember } from './memory-remember.ts'
import { THIS_MACHINE } from './memory-signature.ts'
import { toReview } from './memory-review.ts'
import { createSessionDocuments } from './memory-sessions.ts'
import { suggestTags } from './memory-tags.ts'
import type { Recalls } from './recalls.ts'
import { IMPORTED } from './recorded-sources.ts'
import type { Config } from './throughline.ts'
import { givenNames, namesOf } from './wake-up-texts.ts'
import type { WakeUps } from './wake-ups.ts'

/** What the calls on memory are made of. */
export interface MemoryCallsOptions {
  readonly config: Config
  readonly now: () => number
  readonly documents: Documents
  /** What other people share, as it is now. */
  readonly others?: (() => DocumentsOfOthers) | undefined
  /** Writes down what a person here decided about one of those. */
  readonly decide: DecisionsOnOthers['decide']
  readonly sessions: () => Promise<readonly SessionSummary[]>
  readonly passages: (session: SessionSummary, options?: PassageOptions) => AsyncIterable<readonly Passage[]>
  readonly review: () => Promise<'off' | 'agent'>
  /** What tools answered before something was said at a place. */
  readonly foreignBefore: (at: PickedAt, content: string) => Promise<ForeignTexts>
  readonly wakeUps: () => WakeUps
  readonly recalls: Recalls
}

/** What can be done here with a document of a colleague: to want it, not to want it, to leave that open. */
const OF_OTHERS: { readonly [what in DocumentAction['do']]?: DecisionOnOther } = {
  approve: 'accepted',
  retire: 'declined',
  restore: 'open',
}
/** Of what is read from transcripts, the newest so many. */
const NEWEST = 500

/** The calls on what is remembered, in this process. */
export function createMemoryCalls(options: MemoryCallsOptions): MemoryCalls {
  const { config, now, documents, wakeUps, recalls, review } = options
  const blobs = createBlobs(config.home)
  const names = async (agent: string): Promise<Partial<SpeakerNames>> =>
    givenNames(await readLocalSettings(config.home), agent)
  let queue: Promise<unknown> = Promise.resolve()
  const said = createSessionDocuments({
    now,
    // Their messages are documents already, under the ids they had.
    sessions: async () => (await options.sessions()).filter(({ agent }) => agent !== IMPORTED),
    passages: options.passages,
    namesOf: async (agent) => namesOf(await readLocalSettings(config.home), agent),
  })

  /** What looks before it writes is done one after another: else two would both be the first to say something. */
  async function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = queue.then(work)
    queue = turn.catch(() => {})
    return await turn
  }

  async function get(id: string): Promise<MemoryDocument> {
    await documents.refresh()
    const found = documents.find(id) ?? options.others?.().find(id) ?? (await said.find(id))
    if (found !== undefined) return found
    throw notFound(id)
  }

  /** The document of a colleague with this id. */
  async function findOther(id: string): Promise<MemoryDocument | undefined> {
    await documents.refresh()
    return documents.find(id) === undefined ? options.others?.().find(id) : undefined
  }

  /** What stands in a transcript is there, and cannot be changed. */
  async function getWritten(id: string): Promise<void> {
    const other = await findOther(id)
    if (other !== undefined) refuseOthers(other)
    if (documents.find(id) === undefined && (await said.find(id)) !== undefined) refuseToChange(id)
  }

  async function keptArtifact(id: string, hash: string | undefined): Promise<ArtifactContent | undefined> {
    const files = documents
      .versions(id)
      .toReversed()
      .flatMap(({ document }) => document.files ?? [])
    const file = hash === undefined ? files[0] : files.find((one) => one.hash === hash)
    const bytes = file && (await blobs.find(file.hash))
    if (file === undefined || bytes === undefined) return undefined
    return { ...file, mediaType: mediaTypeOf(file.path, bytes), bytes: bytes.toString('base64') }
  }

  return {
    async query(given, { limit } = {}) {
      const query = readDocumentQuery(given)
      await documents.refresh()
      const read = await said.query(query, limit ?? NEWEST)
      const others = options.others?.().query(query) ?? []
      const written = others.length === 0 ? documents.query(query) : [...documents.query(query), ...others]
      if (read.length + others.length === 0 && limit === undefined) return written
      const all = toMatching([...written, ...read], query, now())
      return limit === undefined ? all : all.slice(Math.max(0, all.length - limit))
    },
    get,
    async versions(id) {
      await documents.refresh()
      const written = documents.versions(id)
      if (written.length > 0) return written
      const shared = options.others?.().versions(id) ?? []
      if (shared.length > 0) return shared
      const read = await said.versions(id)
      if (read.length > 0) return read
      throw notFound(id)
    },
    async put(draft, author = {}) {
      const read = readDocumentDraft(draft)
      if (read.scope !== undefined) checkSharing(read)
      const { document } = await documents.put(read, { by: author.by ?? THIS_MACHINE })
      return document
    },
    remember: async (request) =>
      await inTurn(() =>
        remember(request, request.by ?? THIS_MACHINE, {
          config,
          now,
          documents,
          blobs,
          review,
          foreignBefore: options.foreignBefore,
          names,
        }),
      ),
    async edit(id, patch, author) {
      const changes = readDocumentPatch(patch)
      await getWritten(id)
      return await edit(documents, id, { patch: changes, author: toAuthor(author) })
    },
    async act(id, action, author) {
      const what = readDocumentAction({ ...action })
      const other = await findOther(id)
      const decision = OF_OTHERS[what.do]
      if (other !== undefined && decision !== undefined) {
        await options.decide(other, decision, author?.by ?? THIS_MACHINE)
        return await get(id)
      }
      await getWritten(id)
      return await inTurn(() => act(documents, id, { action: what, author: toAuthor(author) }))
    },
    async review() {
      await documents.refresh()
      const others = options.others?.().query({ state: 'quarantined' }) ?? []
      return await toReview(documents, { now: now(), since: await wakeUps().lastAt(), others })
    },
    async trace(id) {
      const document = await get(id)
      const bound = document.elsewhere === undefined ? (document.files ?? []) : []
      const files = await Promise.all(bound.map(toBoundFile))
      return { document, carried: await wakeUps().carrying(id), files }
    },
    async suggestTags(text) {
      await documents.refresh()
      return suggestTags(text, documents.query({}))
    },
    wakeUp: async (request) => await wakeUps().preview(request),
    wakeUps: async (sessionId) => (isSessionId(sessionId) ? await wakeUps().kept(sessionId) : []),
    wakeElsewhere: async (request) => await wakeUps().elsewhere(request),
    recall: async (request) => await recalls.recall(request),
    async import(request) {
      return await importDocuments(request, request.by ?? THIS_MACHINE, {
        home: config.home,
        documents,
        blobs,
      })
    },
    async export() {
      await documents.refresh()
      return await exportDocuments({ documents, blobs })
    },
    async artifact(id, hash) {
      await documents.refresh()
      const found = (await keptArtifact(id, hash)) ?? (await said.artifact(id, hash))
      if (found !== undefined) return found
      throw notFound(hash === undefined ? id : `${id} with the hash ${hash}`)
    },
  }
}

function toAuthor({ by, version }: ChangeAuthor = {}): { readonly by: string; readonly version?: number } {
  return { by: by ?? THIS_MACHINE, ...(version === undefined ? {} : { version }) }
}
