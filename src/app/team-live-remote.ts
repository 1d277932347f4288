import { ThroughlineError } from '#base'
import type { Clock } from '#live'
import type { Attention, SessionOrigin, SessionView } from '#model'
import type { Desk, DeskSession } from '#store'
import type { BoardCard } from '#wire'
import type { Board } from './board.ts'
import { readCard, readShownView } from './team-live-reading.ts'

/** A live session of another machine. */
export interface RemoteSession {
  readonly card: BoardCard
  readonly from: SessionOrigin
  readonly may: 'read' | 'answer'
  /** Nobody has said for a while that it is still there. */
  readonly isGone: boolean
}

/** The live sessions of other machines, as far as they may be seen. */
export interface RemoteLive {
  /** Looks how they stand. Rejects while the database is away; then what was known stays, until it is too old. */
  look(): Promise<void>
  find(sessionId: string): RemoteSession | undefined
  /** The session that asks this, or has asked it. */
  findAsking(attention: string): RemoteSession | undefined
  /** What is asked there and may be answered here. */
  attentions(): readonly Attention[]
  /** As it stands now. Rejects with `session-ended` when it is not live. */
  view(sessionId: string): Promise<SessionView>
  /** Tells how it stands whenever that is different. Gives the function that ends it. */
  watch(sessionId: string, told: (view: SessionView) => void): () => void
  close(): void
}

export interface RemoteLiveOptions {
  readonly desk: Pick<Desk, 'sessions' | 'findView'>
  readonly board: Board
  readonly clock: Clock
  /** A session is different in a list. */
  readonly onChange: (sessionId: string) => void
}

interface Known {
  readonly place: DeskSession
  readonly card: BoardCard
  readonly alias: string | undefined
  /** In our own time. */
  readonly expiresAt: number
  isGone: boolean
}

/** Attentions whose session is remembered, so that a late answer is told how it ended. */
const ASKED_KEPT = 1000

export function createRemoteLive({ desk, board, clock, onChange }: RemoteLiveOptions): RemoteLive {
  const sessions = new Map<string, Known>()
  const askedBy = new Map<string, string>()
  const views = new Map<string, { readonly moved: number; readonly view: SessionView | undefined }>()
  const watches = new Set<{
    readonly id: string
    readonly tell: (view: SessionView) => void
    moved: string
  }>()
  let stopExpiring: (() => void) | undefined
  let isClosed = false
  /** One look after the other: an older one must not have the last word. */
  let looking: Promise<void> = Promise.resolve()

  function find(sessionId: string): Known | undefined {
    const found = [...sessions.values()].filter(
      ({ place, alias }) => place.session === sessionId || alias === sessionId,
    )
    return found.find(({ isGone }) => !isGone) ?? found[0]
  }

  function take(place: DeskSession): void {
    const key = keyOf(place)
    const before = sessions.get(key)
    const read = place.card === undefined ? before : readCard(place.card, place.session)
    if (read === undefined) return
    const { alias } = read
    const isGone = place.leftMs <= 0
    const card: BoardCard = { ...read.card, origin: place.from, may: place.may }
    sessions.set(key, { place, card, alias, expiresAt: clock.now() + place.leftMs, isGone })
    for (const { id } of card.attentions) remember(id, place.session)
    const isSame =
      before !== undefined &&
      before.isGone === isGone &&
      before.place.changed === place.changed &&
      before.place.may === place.may
    if (!isSame) tell(key)
  }

  function remember(attention: string, session: string): void {
    askedBy.delete(attention)
    askedBy.set(attention, session)
    for (const oldest of [...askedBy.keys()].slice(0, Math.max(0, askedBy.size - ASKED_KEPT)))
      askedBy.delete(oldest)
  }

  /** On the board, as it stands. One that ended and is not kept any more is not there. */
  function tell(key: string): void {
    const known = sessions.get(key)
    if (known === undefined || find(known.place.session) !== known) return
    const { card } = known
    if (!known.isGone) board.hearRemote(card)
    else if (card.state.state === 'ended') board.dropRemote(card.sessionId)
    else board.hearRemote(toGone(card))
    onChange(known.alias ?? card.sessionId)
  }

  function drop(key: string): void {
    const known = sessions.get(key)
    sessions.delete(key)
    views.delete(key)
    if (known === undefined || find(known.place.session) !== undefined) return
    board.dropRemote(known.place.session)
    onChange(known.place.session)
  }

  function expire(): void {
    stopExpiring?.()
    if (isClosed) return
    let next = Infinity
    for (const [key, known] of sessions) {
      if (known.isGone) continue
      const left = known.expiresAt - clock.now()
      if (left > 0) {
        next = Math.min(next, left)
        continue
      }
      known.isGone = true
      tell(key)
      for (const watch of watches) if (find(watch.id) === known) void follow(watch)
    }
    stopExpiring = next === Infinity ? undefined : clock.after(next, expire)
  }

  async function readView({ place, card, isGone }: Known): Promise<SessionView | undefined> {
    const key = keyOf(place)
    let known = views.get(key)
    if (known?.moved !== place.moved) {
      const found = await desk.findView(place)
      const read = found?.view === undefined ? undefined : readShownView(found.view, place.session)
      known = { moved: found?.moved ?? place.moved, view: read }
      views.set(key, known)
    }
    const view = known.view ?? toBareView(card)
    return isGone && view.state.state !== 'ended'
      ? { ...view, state: toGone(card).state, attentions: [] }
      : view
  }

  async function follow(watch: {
    id: string
    tell: (view: SessionView) => void
    moved: string
  }): Promise<void> {
    const known = find(watch.id)
    if (known === undefined) return
    const moved = `${keyOf(known.place)} ${known.place.moved} ${known.place.changed} ${known.isGone}`
    if (moved === watch.moved) return
    const view = await readView(known).catch(() => undefined)
    // Whoever looked meanwhile tells what there is to tell.
    if (view === undefined || !watches.has(watch) || find(watch.id) !== known) return
    watch.moved = moved
    watch.tell(view)
  }

  async function lookOnce(): Promise<void> {
    const known = [...sessions.values()].map(({ place }) => place)
    const found = await desk.sessions(known)
    if (isClosed) return
    const keys = new Set(found.map(keyOf))
    for (const key of sessions.keys()) if (!keys.has(key)) drop(key)
    for (const place of found) take(place)
    expire()
    await Promise.all([...watches].map(follow))
  }

  return {
    look() {
      looking = looking.catch(() => {}).then(lookOnce)
      return looking
    },
    find: (sessionId) => toRemote(find(sessionId)),
    findAsking: (attention) => toRemote(find(askedBy.get(attention) ?? '')),
    attentions: () =>
      [...sessions.values()]
        .filter(({ isGone, place }) => !isGone && place.may === 'answer')
        .flatMap(({ card }) => card.attentions),
    async view(sessionId) {
      const known = find(sessionId)
      const view = known && (await readView(known))
      if (view !== undefined && view.state.state !== 'ended') return view
      throw new ThroughlineError('session-ended', `session ${sessionId} is not live`, {
        hint: known?.isGone === true ? (toGone(known.card).trouble ?? '') : 'It is over on its machine.',
      })
    },
    watch(id, told) {
      const watch = { id, tell: told, moved: '' }
      watches.add(watch)
      void follow(watch)
      return () => void watches.delete(watch)
    },
    close() {
      isClosed = true
      stopExpiring?.()
      watches.clear()
    },
  }
}

function toRemote(known: Known | undefined): RemoteSession | undefined {
  if (known === undefined) return undefined
  const { card, place, isGone } = known
  return { card, from: place.from, may: place.may, isGone }
}

/** Its machine is off, or has no way to the database. Nothing that it asked can be answered from here. */
function toGone(card: BoardCard): BoardCard {
  const where = card.origin === undefined ? 'its machine' : `${card.origin.machine} of ${card.origin.person}`
  const message = `Nothing was heard of ${where} for a while: it is off, or has no connection.`
  return {
    ...card,
    state: { state: 'ended', reason: 'host-gone', message },
    attentions: [],
    trouble: message,
  }
}

/** What is known of a session whose view stays on its machine. */
function toBareView(card: BoardCard): SessionView {
  return {
    sessionId: card.sessionId,
    run: `remote ${card.startedAt}`,
    seq: 0,
    pid: 0,
    agent: card.agent,
    can: {
      resume: false,
      fork: false,
      interrupt: card.where === 'here',
      editInput: false,
      denialWords: false,
      midTurn: false,
      images: false,
      writesTranscript: true,
    },
    workdir: card.workdir,
    startedAt: card.startedAt,
    state: card.state,
    mode: card.mode ?? 'default',
    tools: [],
    commands: [],
    prompts: [],
    attentions: card.attentions,
  }
}

function keyOf({ origin, session }: Pick<DeskSession, 'origin' | 'session'>): string {
  return `${origin} ${session}`
}
