import type { Clock, Roster } from '#live'
import { toPromptLine, type LiveState, type SessionOrigin, type SessionView } from '#model'
import type { Desk } from '#store'
import type { LiveCalls, LiveEvent, SubscribeOptions, Subscription } from '#wire'
import type { AuthorLog } from './author-log.ts'
import type { Board } from './board.ts'
import type { LineageLog } from './lineage-log.ts'
import { readLocalSettings } from './local-settings.ts'
import { openLeases, type Leases } from './team-leases.ts'
import { askMachine, createTeamLiveCalls } from './team-live-calls.ts'
import type { Mask } from './team-live-masking.ts'
import { createRemoteLive, type RemoteLive } from './team-live-remote.ts'
import { createLiveServing } from './team-live-serving.ts'
import { openLiveShowing } from './team-live-showing.ts'

/** Live sessions across the machines of a team. Everything of this machine goes on without it. */
export interface TeamLive {
  readonly desk: Desk
  readonly authors: AuthorLog
  readonly leases: Leases
  readonly remote: RemoteLive
  /** The calls, also on sessions of other machines. */
  around(local: LiveCalls): LiveCalls
  /** What a list shows of a session that another machine runs. */
  stateOf(sessionId: string): LiveState | undefined
  /** One live session, wherever it runs. */
  subscribe(
    id: string,
    local: (how: SubscribeOptions) => Subscription,
    how: SubscribeOptions,
  ): Promise<Subscription>
  /** Tells the team who said what in sessions of this machine, where that is not known yet. */
  tellAuthors(): Promise<void>
  /** Begins to show, to hear and to serve. */
  begin(local: LiveCalls): void
  close(): Promise<void>
}

export interface TeamLiveOptions {
  readonly desk: Desk
  readonly home: string
  readonly clock: Clock
  readonly board: Board
  readonly roster: Roster
  readonly find: (id: string) => SessionView | undefined
  readonly authors: AuthorLog
  readonly lineage: Pick<LineageLog, 'add'>
  readonly mask: Mask
  /** Whether what is done in a folder leaves this machine at all. */
  readonly ships: (workdir: string) => boolean
  /** How often it is said that sessions are still there. */
  readonly keepMs?: number | undefined
  /** A session of another machine is different in a list. */
  readonly onChange: (sessionId: string) => void
}

export function createTeamLive(options: TeamLiveOptions): TeamLive {
  const { desk, home, clock, board, roster, find, authors, mask } = options
  const remote = createRemoteLive({ desk, board, clock, onChange: options.onChange })
  const closing: (() => Promise<void>)[] = []
  /** What the team was told of authors. */
  const told = new Map<string, string>()

  async function endThere(holder: SessionOrigin, session: string): Promise<void> {
    await remote.look().catch(() => {})
    const found = remote.find(session)
    if (found?.from.origin !== holder.origin) return
    await askMachine(desk, found, { do: 'end' })
  }

  const leases = openLeases({ desk, board, roster, clock, endThere, keepMs: options.keepMs })

  async function tellAuthors(): Promise<void> {
    for (const session of authors.sessions()) {
      const body = JSON.stringify(authors.of(session))
      if (told.get(session) === body) continue
      const workdir = board.find(session)?.workdir ?? ''
      await desk.putAuthors({ session, workdir, body: Buffer.from(body, 'utf8') })
      told.set(session, body)
    }
  }

  /** What went on elsewhere has its place in the lineage here too. */
  async function noteOnward(): Promise<void> {
    for (const { session, agent, to, at } of await desk.onward()) {
      const { origin, machine, person } = to.origin
      const end = { sessionId: to.session, agent: to.agent, origin: { origin, machine, person } }
      await options.lineage.add({
        kind: 'handed-over',
        at,
        from: { sessionId: session, agent },
        to: end,
        until: at,
      })
    }
  }

  return {
    desk,
    authors,
    leases,
    remote,
    around: (local) => createTeamLiveCalls({ local, find, remote, desk }),
    stateOf(sessionId) {
      const found = remote.find(sessionId)
      return found && toRemoteState(found.isGone, found.card)
    },
    async subscribe(id, local, how) {
      let { cursor } = how
      const tell = (event: LiveEvent): void | Promise<void> => {
        ;({ cursor } = event)
        return how.onEvent(event)
      }
      const tellView = (view: SessionView): void => {
        if (find(id) === undefined) void tell({ kind: 'live.view', view, cursor: `${view.run}.${view.seq}` })
      }
      const first = remote.find(id) === undefined ? undefined : await remote.view(id).catch(() => undefined)
      if (first !== undefined) tellView(first)
      const inner = local({
        ...how,
        onEvent: (event) => (first !== undefined && isNothing(event, id) ? undefined : tell(event)),
      })
      const stop = remote.watch(id, tellView)
      return {
        get cursor() {
          return cursor
        },
        close() {
          stop()
          inner.close()
        },
      }
    },
    tellAuthors,
    begin(local) {
      const showing = openLiveShowing({
        desk,
        board,
        roster,
        clock,
        mask,
        ships: options.ships,
        keepMs: options.keepMs,
      })
      const serving = createLiveServing({
        desk,
        board,
        mask,
        calls: local,
        callsFrom: async () => (await readLocalSettings(home).catch(() => undefined))?.team.calls ?? 'nobody',
        async onSaid({ session, from, text }) {
          const at = new Date(clock.now()).toISOString()
          const { person, machine } = from
          await authors.addSaid(session, { line: toPromptLine(text), at, person, machine })
          await tellAuthors().catch(() => {})
        },
      })
      const listening = desk.listen({
        async onRing() {
          await Promise.all([remote.look(), serving.look(), tellAuthors(), noteOnward()])
          showing.retry()
        },
      })
      closing.push(
        () => listening.close(),
        () => serving.close(),
        () => showing.close(),
      )
    },
    async close() {
      for (const close of closing) await close()
      remote.close()
      await leases.close()
      await desk.close()
    },
  }
}

/** What a machine that is asked says first of a session that it does not run. */
function isNothing(event: LiveEvent, id: string): boolean {
  if (event.kind === 'live.none') return event.session === id
  return event.kind === 'live.view' && event.view.state.state === 'ended' && event.cursor === '0'
}

function toRemoteState(isGone: boolean, card: Parameters<Board['hearRemote']>[0]): LiveState | undefined {
  const here = { pid: 0, ...(card.where === 'here' ? { here: true as const } : {}) }
  const status = card.state.state
  if (status === 'ended') return undefined
  if (isGone) return { ...here, status: 'gone' }
  if (status === 'idle') return { ...here, status: 'idle' }
  if (status !== 'waiting') return { ...here, status: 'busy' }
  // What only its owner may answer waits for nobody here.
  if (card.may === 'read') return { ...here, status: 'busy' }
  const waitingFor = card.attentions[0]?.ask.kind === 'question' ? 'input needed' : 'permission prompt'
  return { ...here, status: 'waiting', waitingFor }
}
