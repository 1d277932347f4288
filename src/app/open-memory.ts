import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { ThroughlineError } from '#base'
import {
  openDocuments,
  openSharedDocuments,
  withDecisions,
  type Documents,
  type DocumentsOfOthers,
  type SharedDocuments,
} from '#memory'
import type { DocumentQuery, MemoryDocument, Passage, SessionSummary } from '#model'
import type {
  MemoryCalls,
  Notice,
  Page,
  PageOptions,
  SearchPage,
  SearchRequest,
  SubscribeOptions,
  Subscription,
} from '#wire'
import { createDecided } from './decided-documents.ts'
import type { Keeper } from './keeper.ts'
import { readLocalSettings } from './local-settings.ts'
import { givenNames } from './wake-up-texts.ts'
import { createMemoryCalls } from './memory-calls.ts'
import { createDocumentsTopic } from './memory-topic.ts'
import { createPromotions } from './promotions.ts'
import { createRecalls } from './recalls.ts'
import type { Config } from './throughline.ts'
import { isShownDocument, toShownDocuments } from './shown-documents.ts'
import type { TeamDocuments } from './team-documents.ts'
import { readForeignTexts } from './turn-answers.ts'
import { createWakeUps, type WakeUps } from './wake-ups.ts'

/** What is remembered, in this process. */
export interface Memory {
  readonly calls: MemoryCalls
  readonly documents: Documents
  /** What is shared of them, as files to be shipped. Absent where there is no team. */
  readonly shared: SharedDocuments | undefined
  /** Wake-ups, made when somebody asks for the first time. */
  wakeUps(): WakeUps
  /** What went wrong with what agents wanted kept. */
  notices(): readonly Notice[]
  subscribe(topic: DocumentsTopicName, how: SubscribeOptions): Subscription
  /** Resolves when everything that is indexed so far has been looked at for what agents want kept. */
  settled(): Promise<void>
  close(): Promise<void>
}

type DocumentsTopicName = { readonly kind: 'documents'; readonly query: DocumentQuery }

export interface MemoryOptions {
  readonly config: Config
  readonly now: () => number
  /** Every session that may be shown. */
  readonly sessions: () => Promise<readonly SessionSummary[]>
  /** Whether new sessions are told what was said in this one, and what it asks for is kept. */
  readonly believes: (session: SessionSummary) => boolean
  readonly get: (query: string) => Promise<SessionSummary>
  readonly search: (request: SearchRequest) => Promise<SearchPage>
  readonly page: (session: SessionSummary, options: PageOptions) => Promise<Page>
  readonly passages: (session: SessionSummary) => AsyncIterable<readonly Passage[]>
  /** What follows all sessions; opened when somebody listens to what they say. */
  readonly keep: () => Promise<Keeper>
  /** Resolves when all that is on disk is known. */
  readonly caughtUp?: (() => Promise<void>) | undefined
  /** Given in the process that keeps the index: there, what agents ask to be kept is kept. */
  readonly promotesFrom?: Keeper | undefined
  /** Documents of other machines. Given in the process that has the team. */
  readonly team?: TeamDocuments | undefined
}

const NOTICES_KEPT = 20

/** Opens it: reads the documents, and begins to follow what agents say where that is this process's work. */
export async function openMemory(options: MemoryOptions): Promise<Memory> {
  const { config, now, sessions, passages } = options
  const all = await openDocuments({
    home: config.home,
    now,
    mintId: randomUUID,
    elsewhere: options.team?.mine,
  }).catch((cause: unknown) => {
    throw isUnreadable(config.home, cause)
  })
  const { team } = options
  const decided = createDecided(config.home, now)
  const documents: Documents = {
    ...toShownDocuments(all, config.allowedRoots),
    async refresh() {
      await all.refresh()
      if (team !== undefined) await decided.refresh()
    },
  }
  const shared =
    team && (await openSharedDocuments(config.home, all, (error) => notify(`Not shared: ${String(error)}`)))
  const stopTeam = team?.onChange(() => void all.refresh().catch(() => {}))
  const others = team && withDecisions(toShownOthers(team, config.allowedRoots), { ...decided, now })
  const review = async (): Promise<'off' | 'agent'> => (await readLocalSettings(config.home)).review
  const notices: Notice[] = []
  const { get, search, page } = options
  const recalls = createRecalls({
    now,
    documents: async () => documents,
    get,
    search: async (request) => withoutOthers(await search(request)),
    page,
  })
  const promotions =
    options.promotesFrom &&
    createPromotions({
      keeper: options.promotesFrom,
      documents: all,
      believes: options.believes,
      config,
      now,
      review,
      agentName: async (agent) => givenNames(await readLocalSettings(config.home), agent).agent,
      onProblem: notify,
    })
  let made: WakeUps | undefined

  function notify(message: string): void {
    notices.push({
      message,
      hint: 'See what it was in the session itself.',
      at: new Date(now()).toISOString(),
    })
    if (notices.length > NOTICES_KEPT) notices.shift()
  }

  function wakeUps(): WakeUps {
    made ??= createWakeUps({
      config,
      now,
      documents: async () => documents,
      others: () => others?.().query({}) ?? [],
      sessions,
      believes: options.believes,
      passages,
      recall: (request) => recalls.recall(request),
      async settled() {
        await options.caughtUp?.()
        await promotions?.settled()
      },
    })
    return made
  }

  const calls = createMemoryCalls({
    config,
    now,
    documents,
    others,
    sessions,
    passages,
    review,
    wakeUps,
    recalls,
    foreignBefore: (at, content) => readForeignTexts(at, content, { get, page }),
    decide: decided.decide,
  })
  const topic = createDocumentsTopic({
    documents,
    now,
    home: config.home,
    calls,
    keep: options.keep,
    onOthers:
      team &&
      ((listener) => {
        const stops = [team.onChange(listener), decided.onChange(listener)]
        return () => stops.forEach((stop) => stop())
      }),
  })
  return {
    calls,
    documents,
    shared,
    wakeUps,
    notices: () => notices,
    subscribe: ({ query }, how) => topic.subscribe(query, how),
    async settled() {
      await promotions?.settled()
      await team?.settled()
      await shared?.settled()
    },
    async close() {
      topic.close()
      stopTeam?.()
      await shared?.close()
      await promotions?.close()
      await documents.close()
    },
  }
}

/** What other people said is not what one remembers. */
function withoutOthers(page: SearchPage): SearchPage {
  return { ...page, hits: page.hits.filter(({ session }) => session.origin?.mine !== false) }
}

/** What others share, as far as it may be shown here. */
function toShownOthers(team: TeamDocuments, roots: readonly string[]): () => DocumentsOfOthers {
  if (roots.length === 0) return () => team.others
  const isShown = (document: MemoryDocument): boolean => isShownDocument(document, roots)
  const find = (id: string): MemoryDocument | undefined => {
    const found = team.others.find(id)
    return found !== undefined && isShown(found) ? found : undefined
  }
  return () => ({
    find,
    versions: (id) => (find(id) === undefined ? [] : team.others.versions(id)),
    query: (query) => team.others.query(query).filter(isShown),
  })
}

function isUnreadable(home: string, cause: unknown): ThroughlineError {
  const path = join(home, 'documents.jsonl')
  return new ThroughlineError('journal-unwritable', `what is remembered cannot be read: ${path}`, {
    hint: 'Check that it is a file and that you may read it. Nothing of it was changed.',
    cause,
  })
}
