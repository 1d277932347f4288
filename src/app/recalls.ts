import { createRecall, toStems, withDocuments, type Documents, type RecallTurn } from '#memory'
import {
  findDelivered,
  isWakeUp,
  parseDirectives,
  textOf,
  type Entry,
  type MemoryDocument,
  type SessionSummary,
} from '#model'
import type {
  Page,
  PageOptions,
  RecallAnswer,
  RecallHit,
  RecallRequest,
  SearchHit,
  SearchPage,
  SearchRequest,
} from '#wire'

/** Finds what was said or remembered, without a model. */
export interface Recalls {
  recall(request: RecallRequest): Promise<RecallAnswer>
}

export interface RecallsOptions {
  readonly now: () => number
  readonly documents: () => Promise<Documents>
  readonly get: (id: string) => Promise<SessionSummary>
  readonly search: (request: SearchRequest) => Promise<SearchPage>
  readonly page: (session: SessionSummary, options: PageOptions) => Promise<Page>
}

const LIMIT = 10
const MOST = 50
/** Words of a question that are looked for; those that follow add little. */
const WORDS = 8
/** Hits of each word, of each pair of words, and of all together. */
const HITS = 25
/** Stretches of sessions that are read, and entries in each. Neighbours tell much about what was said. */
const STRETCHES = 80
const ENTRIES = 12
/** What a stem is called in a search: a shorter one would be the beginning of too much. */
const SHORTEST_STEM = 4

/**
 * Recall over every session and document: words of the question find places, what stands around them is read, and
 * ranked with the documents by the same measure.
 */
export function createRecalls(options: RecallsOptions): Recalls {
  async function findPlaces(request: RecallRequest): Promise<readonly SearchHit[]> {
    const queries = toQueries(request)
    const pages = await Promise.all(queries.map((q) => options.search({ q, limit: HITS })))
    // What is rare tells more: the words with the fewest hits first.
    const ranked = pages.toSorted((a, b) => a.total.count - b.total.count)
    const found = new Map<string, SearchHit>()
    for (const hit of ranked.flatMap(({ hits }) => hits)) found.set(keyOf(hit), found.get(keyOf(hit)) ?? hit)
    return [...found.values()].slice(0, STRETCHES)
  }

  /** What stands around the places, each message once, in the order of its session. */
  async function readTurns(places: readonly SearchHit[]): Promise<readonly RecallTurn[]> {
    const bySession = new Map<string, SearchHit[]>()
    for (const hit of places) bySession.set(hit.session.id, [...(bySession.get(hit.session.id) ?? []), hit])
    const turns: RecallTurn[] = []
    for (const [id, hits] of bySession) {
      const session = await options.get(id).catch(() => undefined)
      if (session === undefined || session.demo === true) continue
      const entries = new Map<string, Entry>()
      for (const hit of hits) {
        for (const entry of await readAround(session, hit)) {
          entries.set(`${hit.subagent ?? ''} ${entry.place.offset}`, entry)
        }
      }
      const inOrder = [...entries.values()].toSorted((a, b) => a.place.offset - b.place.offset)
      const delivered = findDelivered(inOrder)
      const said = inOrder.filter((entry) => !delivered.has(entry.id))
      turns.push(...said.flatMap((entry) => toTurn(entry, session)))
    }
    return turns
  }

  async function readAround(session: SessionSummary, hit: SearchHit): Promise<readonly Entry[]> {
    const { subagent, entry } = hit
    const page = await options
      .page(session, {
        limit: ENTRIES,
        around: { offset: entry.place.offset },
        raw: false,
        ...(subagent === undefined ? {} : { subagent }),
      })
      // It was there a moment ago; what is rewritten now is found the next time.
      .catch(() => undefined)
    return (page?.readings ?? []).flatMap((reading) => (reading.kind === 'entry' ? [reading.entry] : []))
  }

  return {
    async recall(request) {
      const documents = (await options.documents()).query({})
      const wanted = documents.filter((document) => isIn(document, request.workdir))
      const turns = await readTurns(await findPlaces(request))
      const byId = new Map(wanted.map((document) => [document.id, document]))
      const limit = Math.min(Math.max(1, request.limit ?? LIMIT), MOST)
      const recall = createRecall(withDocuments(turns, wanted, options.now()))
      return {
        hits: recall
          .turns(request.question, limit)
          .map(({ turn, score }) => toHit(turn, byId.get(turn.id), score)),
      }
    },
  }
}

function toQueries({ question, workdir }: RecallRequest): readonly string[] {
  const words = [...new Set(toStems(question))].slice(0, WORDS).map(toWord)
  if (words.length === 0) return []
  const where = workdir === undefined ? '' : ` workdir:${JSON.stringify(workdir)}`
  const pairs = words.slice(1).map((word, n) => `${words[n]} ${word}`)
  return [...words, ...pairs, words.join(' ')].map((q) => `${q} in:said${where}`)
}

function toWord(stem: string): string {
  return stem.length < SHORTEST_STEM ? `"${stem}"` : `${stem}*`
}

function keyOf({ session, subagent, entry }: SearchHit): string {
  return `${session.id} ${subagent ?? ''} ${entry.place.offset}`
}

/** Words of people and agents only: what tools answered is not what was said. */
function toTurn(entry: Entry, session: SessionSummary): readonly RecallTurn[] {
  if (entry.kind !== 'prompt' && entry.kind !== 'reply') return []
  const said = textOf(entry.blocks).trim()
  if (said === '' || (entry.kind === 'prompt' && isWakeUp(said))) return []
  const text = entry.kind === 'reply' ? parseDirectives(said).text.trim() : said
  const speaker = entry.kind === 'reply' ? session.agent : undefined
  return [
    {
      id: entry.forkedFrom?.entryId ?? entry.id,
      sessionId: session.id,
      text,
      ...(speaker === undefined ? {} : { speaker }),
      ...(entry.at === undefined ? {} : { at: entry.at }),
    },
  ]
}

function isIn({ workdir }: MemoryDocument, wanted: string | undefined): boolean {
  if (wanted === undefined || workdir === undefined) return true
  return workdir === wanted || workdir.startsWith(`${wanted}/`)
}

function toHit(turn: RecallTurn, document: MemoryDocument | undefined, score: number): RecallHit {
  const { id, sessionId, text, at } = turn
  if (document === undefined)
    return { kind: 'message', id, sessionId, text, score, ...(at === undefined ? {} : { at }) }
  const from = document.provenance?.sessionId ?? document.sessionId
  return {
    kind: 'document',
    id,
    text,
    score,
    at: document.createdAt,
    ...(from === null ? {} : { sessionId: from }),
  }
}
