import { fileURLToPath } from 'node:url'
import { ThroughlineError } from '#base'
import {
  createClock,
  findSessionJournal,
  openRoster,
  readSessionJournal,
  type KeptNews,
  type Roster,
} from '#live'
import type { Answer, AnswerOutcome, LiveState, SessionSummary, SessionView } from '#model'
import type { Registry } from '#sources'
import type { Desk } from '#store'
import type { LiveCalls, SubscribeOptions, Subscription } from '#wire'
import type { AuthorLog } from './author-log.ts'
import { createAsksElsewhere, type AsksElsewhere } from './asks-elsewhere.ts'
import { createBoard, type Board } from './board.ts'
import { findHolder, toOwner } from './holders.ts'
import type { LineageLog } from './lineage-log.ts'
import { findLastView } from './last-view.ts'
import type { Forks } from './forks.ts'
import { createLiveCalls } from './live-calls.ts'
import { createBoardTopic, isNamed, subscribeToLive } from './live-topics.ts'
import { toLiveState } from './live-state.ts'
import { createRecordingWatch } from './recording-watch.ts'
import { createResumptionWatch } from './resumption-watch.ts'
import type { TeamLive } from './team-live.ts'
import type { Config } from './throughline.ts'
import type { BeginningSession } from './wake-ups.ts'

/** Live sessions in this process: the roster, the board, and what sessions elsewhere ask. */
export interface Live {
  readonly calls: LiveCalls
  readonly board: Board
  /** Sessions that are run here now. */
  views(): readonly SessionView[]
  find(id: string): SessionView | undefined
  /** What a list shows of a session that is live here. */
  stateOf(id: string): LiveState | undefined
  /** Live sessions across the team; not there without one. */
  readonly team?: TeamLive | undefined
  subscribe(topic: LiveTopic, options: SubscribeOptions): Promise<Subscription>
  close(): Promise<void>
}

type LiveTopic = { readonly kind: 'live'; readonly id: string } | { readonly kind: 'board' }

export interface LiveOptions {
  readonly config: Config
  readonly env: Readonly<Record<string, string | undefined>>
  readonly now: () => number
  readonly registry: Registry | undefined
  readonly get: (query: string) => Promise<SessionSummary>
  /** All sessions that are known, the latest first. */
  readonly sessions: () => Promise<readonly SessionSummary[]>
  /** Looks at what there is on disk anew. */
  readonly look: () => Promise<void>
  /** The state of a live session changed, or it began or ended. */
  readonly onChange: (view: SessionView) => void
  /** How forks are written and recorded. Absent: agents write their own. */
  readonly forks?: Forks | undefined
  /** When a session last wrote something that can be read, in milliseconds. */
  readonly lastWrite: (sessionId: string) => number | undefined
  /** What a new session begins with, before what the person says. */
  readonly wakeUp?: WakeUp | undefined
  /** The team that this machine is in. It is closed with everything else here. */
  readonly team?: LiveTeam | undefined
}

/** What is needed to show live sessions to a team, and to see those of others. */
export interface LiveTeam {
  readonly desk: Desk
  readonly authors: AuthorLog
  readonly lineage: Pick<LineageLog, 'add'>
  /** A text without the secrets in it. Throws when that cannot be said. */
  readonly mask: (text: string) => string
  /** Whether what is done in a folder leaves this machine at all. */
  readonly ships: (workdir: string) => boolean
  /** How often it is said that sessions are still there. */
  readonly keepMs?: number | undefined
  /** A session of another machine is different in a list. */
  readonly onChange: (sessionId: string) => void
}

/** Composes what a session in this folder begins with. Nothing: it begins with nothing. */
export type WakeUp = (session: BeginningSession) => Promise<string | undefined>

/** Opens it. When it resolves, every host is found and everything that is open can be answered. */
export async function openLive(options: LiveOptions): Promise<Live> {
  const { config, now, registry } = options
  const board = createBoard(now)
  /** Which session an attention belongs to; for answers that come late. */
  const owners = new Map<string, string>()
  const asks = createAsksElsewhere({
    home: config.home,
    now,
    onChange: ({ sessionId, agent, ask }, open) =>
      board.hearElsewhere({ sessionId, agent, workdir: ask.workdir }, open),
  })
  const clock = createClock(now)
  const recording = createRecordingWatch({
    lastWrite: options.lastWrite,
    after: clock.after,
    onVerdict: (sessionId, trouble) => board.mark(sessionId, trouble),
  })
  const resumption = createResumptionWatch((sessionId, trouble) => board.mark(sessionId, trouble))
  const roster = await openRoster({
    home: config.home,
    clock,
    program: { command: process.execPath, args: [fileURLToPath(HOST)], env: hostEnvironment(options.env) },
    findOwner: async (sessionId) => {
      const holder = findHolder(registry, sessionId)
      return holder && toOwner(holder)
    },
  })

  function hear(sessionId: string, news: KeptNews): void {
    const read = (): SessionView | undefined => roster.find(sessionId)
    for (const attention of attentionsIn(news)) owners.set(attention, sessionId)
    board.hear(news, read)
    if (isAnswered(news)) lookAtWritten(read())
    if ('event' in news && news.event.kind !== 'state.changed') return
    const view = 'view' in news ? news.view : read()
    if (view !== undefined) options.onChange(view)
  }

  function lookAtWritten(view: SessionView | undefined): void {
    if (view === undefined) return
    recording.answered(view)
    void resumption.answered(view)
  }

  roster.listen(hear)
  for (const view of roster.list()) hear(view.sessionId, { view })

  const find = (id: string): SessionView | undefined =>
    roster.find(id) ?? roster.list().find((view) => isNamed(view, id))
  const boardTopic = createBoardTopic(board)
  const team =
    options.team &&
    (await import('./team-live.ts')).createTeamLive({
      ...options.team,
      home: config.home,
      clock,
      board,
      roster,
      find,
    })
  const local = createLiveCalls({
    ...options,
    roster,
    board,
    asks,
    find,
    leases: team?.leases,
    onResumed: (session) => resumption.resumed(session),
    resolve: (answer) => resolve(answer, { roster, asks, owners, home: config.home }),
  })
  team?.begin(local)

  return {
    calls: team === undefined ? local : team.around(local),
    board,
    views: () => roster.list(),
    find,
    stateOf(id) {
      const view = find(id)
      return view && toLiveState(view)
    },
    ...(team === undefined ? {} : { team }),
    async subscribe(topic, how) {
      if (topic.kind === 'board') return boardTopic.subscribe(how)
      const { id } = topic
      const last = find(id) === undefined ? await findLastView(config.home, id) : undefined
      const here = (to: SubscribeOptions): Subscription => subscribeToLive(roster, { id, find, last }, to)
      return team === undefined ? here(how) : await team.subscribe(id, here, how)
    },
    async close() {
      await team?.close()
      recording.close()
      await asks.close()
      await roster.close()
    },
  }
}

async function resolve(
  answer: Answer,
  known: {
    readonly roster: Roster
    readonly asks: AsksElsewhere
    readonly owners: ReadonlyMap<string, string>
    readonly home: string
  },
): Promise<AnswerOutcome> {
  const { roster, asks, owners, home } = known
  const elsewhere = await asks.resolve(answer)
  if (elsewhere !== undefined) return elsewhere
  const owner = owners.get(answer.id)
  const live = roster.list().map(({ sessionId }) => sessionId)
  for (const sessionId of owner === undefined ? live : live.filter((id) => id === owner)) {
    try {
      return await roster.resolve(sessionId, answer)
    } catch (error) {
      if (!(error instanceof ThroughlineError) || error.code !== 'attention-not-found') throw error
    }
  }
  // Its host is gone: the journal knows how it ended.
  const path = owner === undefined ? undefined : await findSessionJournal(home, owner)
  const state = path === undefined ? undefined : (await readSessionJournal(path)).settled.get(answer.id)
  if (state !== undefined) return { kind: 'late', state }
  throw new ThroughlineError('attention-not-found', 'nothing like this is asked', {
    hint: 'Look at what is open: `throughline attentions`.',
  })
}

function* attentionsIn(news: KeptNews): Generator<string> {
  if ('view' in news) for (const { id } of news.view.attentions) yield id
  else if (news.event.kind === 'attention.opened') yield news.event.attention.id
}

function isAnswered(news: KeptNews): boolean {
  return 'event' in news && news.event.kind === 'turn.ended' && news.event.outcome.kind === 'answered'
}

/** What a host itself needs of the environment; the agent's comes with its order. */
function hostEnvironment(
  env: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> {
  const kept = ['PATH', 'HOME', 'TMPDIR', 'TZ', 'LANG', 'SystemRoot', 'NODE_EXTRA_CA_CERTS']
  return Object.fromEntries(
    kept.flatMap((name) => {
      const value = env[name]
      return value === undefined ? [] : [[name, value]]
    }),
  )
}

const HOST = new URL(
  import.meta.url.endsWith('.ts')
    ? '../../dist/live/host-main.js'
    : import.meta.url.includes('/dist/bin/')
      ? './host.js'
      : '../live/host-main.js',
  import.meta.url,
)
