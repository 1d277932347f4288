import { isAbsolute } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ThroughlineError } from '#base'
import { composeWakeUp, WAKE_UP_BUDGET, type Documents, type PreviousSession, type WakeUp } from '#memory'
import type { MemoryDocument, Passage, SessionSummary, WakeUpBudget } from '#model'
import type {
  CarriedIn,
  KeptWakeUp,
  RecallAnswer,
  RecallRequest,
  WakeElsewhereRequest,
  WakeUpPreview,
  WakeUpRequest,
} from '#wire'
import { realPathOf } from './config.ts'
import { readLocalSettings, type LocalSettings } from './local-settings.ts'
import type { Config } from './throughline.ts'
import { isFromOthers, toCandidates, withScores } from './wake-up-candidates.ts'
import { createWakeUpLog, type LoggedWakeUp } from './wake-up-log.ts'
import { findEnded, findPrevious, toGiven, type EndedSession } from './wake-up-previous.ts'
import { namesOf, textsOf, toMarkdown, type Occasion } from './wake-up-texts.ts'

/** Wake-ups: composed for new sessions, written down with their receipts before they are sent. */
export interface WakeUps {
  /** What a session begun now would get. Nothing is written. */
  preview(request: WakeUpRequest): Promise<WakeUpPreview>
  /** Composes the wake-up of a session that is begun here and writes it down. Nothing: there is nothing to tell. */
  begin(session: BeginningSession): Promise<string | undefined>
  /** The same for a session in a terminal. */
  elsewhere(request: WakeElsewhereRequest): Promise<WakeUpPreview>
  /** Those that a session got, oldest first. */
  kept(sessionId: string): Promise<readonly KeptWakeUp[]>
  /** Those that carried a document, newest first. */
  carrying(documentId: string): Promise<readonly CarriedIn[]>
  /** When the last one was sent, of any session. */
  lastAt(): Promise<string | undefined>
}

export interface BeginningSession {
  readonly sessionId: string
  readonly agent: string
  readonly workdir: string
  /** The session that was ended for this one. */
  readonly after?: string | undefined
  /** The id that its agent had given it, where that is another one. */
  readonly afterAs?: string | undefined
  /** Ids of its entries that were told live: it is read when they are on disk. */
  readonly told?: readonly string[] | undefined
  /** It was there before, and goes on: only what is new is told. */
  readonly goesOn?: boolean | undefined
  readonly previousTranscript?: WakeUpRequest['previousTranscript']
  readonly prompt?: string | undefined
}

export interface WakeUpsOptions {
  readonly config: Config
  readonly now: () => number
  readonly documents: () => Promise<Documents>
  /** What other people share and is good at the moment. */
  readonly others?: (() => readonly MemoryDocument[]) | undefined
  /** Every session, with what it is doing. */
  readonly sessions: () => Promise<readonly SessionSummary[]>
  readonly believes: (session: SessionSummary) => boolean
  readonly passages: (session: SessionSummary) => AsyncIterable<readonly Passage[]>
  readonly recall: (request: RecallRequest) => Promise<RecallAnswer>
  /** Resolves when what agents have asked to be kept is kept. */
  readonly settled?: (() => Promise<void>) | undefined
}

/** Longer texts of hooks are cut off by Claude Code. */
const HOOK_CHARACTERS = 9000
/** The prompts that are nearest to what comes next. */
const RECENT = 8
const LONGEST_TALK = 4000
/** How long a session waits for what others have just said to be kept. A large archive may take minutes at first. */
const SETTLING_MS = 3000

/** What is told this time: all, only what a person pinned, or only these documents. */
type Scope = 'all' | 'pinned' | { readonly since: string; readonly told: readonly LoggedWakeUp[] }

interface Composing extends Omit<WakeUpRequest, 'format'> {
  readonly agent: string
  readonly sessionId?: string | undefined
  readonly ended?: EndedSession | undefined
  readonly occasion: Occasion
  readonly scope: Scope
  readonly characters?: number | undefined
}

/** Wake-ups around the documents and sessions that there are. */
export function createWakeUps(options: WakeUpsOptions): WakeUps {
  const { config, now, sessions, passages } = options
  const log = createWakeUpLog(config.home)
  /** The last beginning of each session: one that is asked for twice is composed once. */
  const beginning = new Map<string, Promise<unknown>>()

  async function compose(asked: Composing, settings: LocalSettings): Promise<WakeUp> {
    const workdir = getFolder(asked.workdir)
    const previous = asked.scope === 'all' ? await findBefore({ ...asked, workdir }, settings) : undefined
    // Somebody who only looks does not wait.
    if (asked.sessionId !== undefined) await within(options.settled?.(), SETTLING_MS)
    const documents = await options.documents()
    await documents.refresh()
    const known = documents
      .query({ state: ['active', 'quarantined', 'expired'], type: ['learning', 'teaching', 'marker'] })
      .filter((document) => isWanted(document, asked))
    const others = (asked.team ?? settings.wakeUp.team) ? (options.others?.() ?? []) : []
    const shared = others.filter(
      (document) => isFromOthers(document, settings.wakeUp.muted) && isWanted(document, asked),
    )
    const candidates = await toCandidates([...known, ...shared], {
      workdir,
      agent: asked.agent,
      now: now(),
      talk: toTalk(previous, asked.prompt),
      carried: await log.carriedCounts(),
    })
    const wakeUp = composeWakeUp({
      texts: textsOf(asked.occasion, settings),
      names: namesOf(settings, asked.agent),
      documents: candidates,
      ...(previous === undefined ? {} : { previous: withScores(previous, asked.prompt, sourcesOf(known)) }),
      budget: toBudget(settings, asked.characters),
      now: now(),
    })
    const isEmpty = wakeUp.receipt.documents.length === 0 && wakeUp.receipt.messages.length === 0
    return isEmpty ? { ...wakeUp, text: '' } : wakeUp
  }

  async function findBefore(asked: Composing, settings: LocalSettings): Promise<PreviousSession | undefined> {
    const { previousTranscript, agent, ended } = asked
    const how = {
      sessions,
      believes: options.believes,
      passages,
      namesOf: (name: string) => namesOf(settings, name),
    }
    if (previousTranscript !== undefined) return toGiven(previousTranscript, namesOf(settings, agent))
    const before = ended === undefined ? undefined : await findEnded(ended, how)
    return before ?? (await findPrevious(asked, how))
  }

  /** Nothing is written when there is nothing to tell. */
  async function send(asked: Composing & { readonly sessionId: string }): Promise<WakeUpPreview> {
    const settings = await readLocalSettings(config.home)
    const { text, receipt } = await compose(asked, settings)
    if (text === '') return { text, receipt }
    const { sessionId, occasion } = asked
    const at = new Date(now()).toISOString()
    const { way, reason } = occasion
    await log.write({ sessionId, at, way, reason, text, receipt })
    return { text, receipt }
  }

  async function findSession(id: string): Promise<SessionSummary | undefined> {
    return (await sessions()).find((session) => session.id === id)
  }

  /** What is new for a session: since it was last told, or else since it last said something. */
  async function newFor(sessionId: string, told: readonly LoggedWakeUp[]): Promise<Scope | undefined> {
    const last = told.findLast(({ reason }) => reason !== 'compact')?.at
    const since = last ?? (await findSession(sessionId))?.lastActivityAt
    return since === undefined ? undefined : { since, told }
  }

  /** One after another for each session, so that nobody is told twice. */
  async function inTurn<T>(sessionId: string, work: () => Promise<T>): Promise<T> {
    const before = beginning.get(sessionId) ?? Promise.resolve()
    const turn = before.catch(() => {}).then(work)
    beginning.set(sessionId, turn)
    try {
      return await turn
    } finally {
      if (beginning.get(sessionId) === turn) beginning.delete(sessionId)
    }
  }

  async function nothing(agent: string): Promise<WakeUpPreview> {
    const budget = toBudget(await readLocalSettings(config.home), undefined)
    const names = namesOf(await readLocalSettings(config.home), agent)
    const texts = { opening: '', closing: '' }
    return { ...composeWakeUp({ texts, names, documents: [], budget, now: now() }), text: '' }
  }

  async function begin(session: BeginningSession): Promise<string | undefined> {
    const {
      sessionId,
      agent,
      workdir,
      after,
      afterAs = after,
      told = [],
      previousTranscript,
      prompt,
    } = session
    if (!(await readLocalSettings(config.home)).wakeUp.on) return undefined
    const sent = await log.read(sessionId)
    // It was written down for a start that was not heard of: it is said as it was written.
    const first = sent.find(({ way, reason }) => way === 'prompt' && reason === 'startup')
    if (first !== undefined && session.goesOn !== true) return first.text
    const scope = session.goesOn === true ? await newFor(sessionId, sent) : 'all'
    if (scope === undefined) return undefined
    const { text } = await send({
      sessionId,
      agent,
      workdir,
      ended: after === undefined ? undefined : { ids: [after, afterAs], told },
      previousTranscript,
      prompt,
      scope,
      occasion: {
        way: 'prompt',
        reason: session.goesOn === true ? 'resume' : 'startup',
        isMore: scope !== 'all',
      },
    })
    return text === '' ? undefined : text
  }

  async function elsewhere(request: WakeElsewhereRequest): Promise<WakeUpPreview> {
    const { sessionId, workdir, agent, reason } = request
    if (!(await readLocalSettings(config.home)).wakeUp.on) return await nothing(agent)
    const sent = await log.read(sessionId)
    const isFresh = (reason === 'startup' || reason === 'clear') && sent.length === 0
    const scope = reason === 'compact' ? 'pinned' : isFresh ? 'all' : await newFor(sessionId, sent)
    if (scope === undefined) return await nothing(agent)
    const isMore = typeof scope === 'object'
    return await send({
      sessionId,
      workdir,
      agent,
      scope,
      characters: Math.min(request.characters ?? HOOK_CHARACTERS, HOOK_CHARACTERS),
      occasion: { way: 'hook', reason, isMore },
    })
  }

  return {
    async preview({ agent = 'claude', format = 'xml', ...request }) {
      const occasion = { way: 'prompt', reason: 'startup', isMore: false } as const
      const settings = await readLocalSettings(config.home)
      const { text, receipt } = await compose({ ...request, agent, occasion, scope: 'all' }, settings)
      return { text: format === 'md' ? toMarkdown(text) : text, receipt }
    },
    begin: async (session) => await inTurn(session.sessionId, async () => await begin(session)),
    elsewhere: async (request) => await inTurn(request.sessionId, async () => await elsewhere(request)),
    kept: async (sessionId) => (await log.read(sessionId)).map(({ reason: _why, ...kept }) => kept),
    carrying: async (documentId) => await log.carrying(documentId),
    lastAt: async () => await log.lastAt(),
  }
}

async function within(work: Promise<void> | undefined, ms: number): Promise<void> {
  if (work === undefined) return
  const patience = new AbortController()
  const tired = sleep(ms, undefined, { signal: patience.signal, ref: false }).catch(() => {})
  await Promise.race([work.catch(() => {}), tired])
  patience.abort()
}

function getFolder(workdir: string): string {
  if (isAbsolute(workdir)) return realPathOf(workdir)
  throw new ThroughlineError('request-invalid', `${workdir} is no absolute path`, {
    hint: 'Say from the root on which folder: `/home/you/shop`.',
  })
}

function toBudget({ wakeUp }: LocalSettings, characters: number | undefined): WakeUpBudget {
  return { ...WAKE_UP_BUDGET, ...wakeUp.budget, ...(characters === undefined ? {} : { characters }) }
}

function isWanted(document: MemoryDocument, { scope, sessionId }: Composing): boolean {
  if (scope === 'all') return true
  if (scope === 'pinned') return document.pinned
  const { id, updatedAt, provenance, sourceSessionId } = document
  // It said it itself.
  if ((provenance?.sessionId ?? sourceSessionId) === sessionId) return false
  const isTold = scope.told.some(
    ({ at, receipt }) => at >= updatedAt && receipt.documents.some((carried) => carried.id === id),
  )
  return updatedAt > scope.since && !isTold
}

function toTalk(previous: PreviousSession | undefined, prompt: string | undefined): readonly string[] {
  const said = (previous?.messages ?? []).filter(({ speaker }) => speaker === 'human').slice(-RECENT)
  const last = previous?.messages.at(-1)
  const texts = [...said.map(({ text }) => text), last?.text ?? '', prompt ?? '']
  return texts.filter((text) => text !== '').map((text) => text.slice(0, LONGEST_TALK))
}

/** The messages that something was learned from. */
function sourcesOf(documents: readonly MemoryDocument[]): ReadonlySet<string> {
  return new Set(
    documents.flatMap(({ provenance, sourceMessageId }) => provenance?.entryId ?? sourceMessageId ?? []),
  )
}
