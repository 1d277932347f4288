import { createHash } from 'node:crypto'
import { ThroughlineError } from '#base'
import type { Clock, Roster } from '#live'
import type { Desk } from '#store'
import type { Board } from './board.ts'
import { createShowing, type Mask } from './team-live-masking.ts'

/** Shows the live sessions of this machine to the team. */
export interface LiveShowing {
  /** Whatever could not be shown is tried again. */
  retry(): void
  /** Sessions that are live here now. */
  sessions(): readonly string[]
  close(): Promise<void>
}

export interface LiveShowingOptions {
  readonly desk: Pick<Desk, 'publish' | 'retire' | 'keep'>
  readonly board: Board
  readonly roster: Pick<Roster, 'find' | 'listen'>
  readonly clock: Clock
  readonly mask: Mask
  /** Whether what is done in a folder leaves this machine at all. */
  readonly ships: (workdir: string) => boolean
  /** How often one session is shown at most. */
  readonly everyMs?: number | undefined
  /** How often it is said that they are still there. */
  readonly keepMs?: number | undefined
}

const EVERY_MS = 250
const KEEP_MS = 5000
const REFUSED = 'refused'

interface Shown {
  stop: (() => void) | undefined
  isBusy: boolean
  isStale: boolean
  at: number
  /** What was shown last; nothing when that has to be done again. */
  last: string
  isThere: boolean
}

/** Everything that changes is shown soon, and the last of it always; nobody here waits for the database. */
export function openLiveShowing(options: LiveShowingOptions): LiveShowing {
  const { desk, board, roster, clock, mask, everyMs = EVERY_MS, keepMs = KEEP_MS } = options
  const show = createShowing(mask)
  const shown = new Map<string, Shown>()
  const under = new Set<Promise<void>>()
  let isClosed = false
  let stopKeeping: (() => void) | undefined

  function mark(sessionId: string): void {
    if (isClosed) return
    const known = shown.get(sessionId) ?? {
      stop: undefined,
      isBusy: false,
      isStale: false,
      at: 0,
      last: '',
      isThere: false,
    }
    shown.set(sessionId, known)
    if (known.isBusy || known.stop !== undefined) {
      known.isStale = true
      return
    }
    known.stop = clock.after(Math.max(0, known.at + everyMs - clock.now()), () => {
      known.stop = undefined
      track(send(sessionId, known))
    })
  }

  function track(work: Promise<void>): void {
    under.add(work)
    void work.finally(() => under.delete(work))
  }

  async function send(sessionId: string, known: Shown): Promise<void> {
    known.isBusy = true
    known.isStale = false
    known.at = clock.now()
    try {
      await put(sessionId, known)
    } catch (error) {
      // Away: `retry` comes when it is back. Who may only look shows nothing, and does not try again and again.
      const isRefused = error instanceof ThroughlineError && error.code === 'database-refused'
      known.last = isRefused ? REFUSED : ''
    } finally {
      known.isBusy = false
    }
    if (known.isStale) mark(sessionId)
  }

  async function put(sessionId: string, known: Shown): Promise<void> {
    const card = board.find(sessionId)
    if (card === undefined || card.origin !== undefined || !options.ships(card.workdir)) {
      shown.delete(sessionId)
      if (known.isThere) await desk.retire(sessionId)
      return
    }
    const view = card.where === 'here' ? roster.find(sessionId) : undefined
    const made = show(card, view)
    const hash = createHash('sha256').update(made.card).update(' ')
    const print = hash.update(made.view ?? '').digest('hex')
    if (print === known.last) return
    await desk.publish({ session: sessionId, workdir: card.workdir, ...made })
    known.last = print
    known.isThere = true
  }

  function live(): readonly string[] {
    return board
      .list()
      .filter(({ origin, state }) => origin === undefined && state.state !== 'ended')
      .filter(({ workdir }) => options.ships(workdir))
      .map(({ sessionId }) => sessionId)
  }

  async function keep(): Promise<void> {
    const missing = await desk.keep(live()).catch(() => [])
    for (const sessionId of missing) {
      const known = shown.get(sessionId)
      if (known?.last === REFUSED) continue
      if (known !== undefined) known.last = ''
      mark(sessionId)
    }
  }

  function keepOn(): void {
    if (isClosed) return
    stopKeeping = clock.after(keepMs, () => track(keep().finally(keepOn)))
  }

  const stopBoard = board.listen((change) => {
    if (change.kind === 'removed' && !shown.has(change.sessionId)) return
    if (change.kind === 'changed' && change.card.origin !== undefined) return
    mark(change.kind === 'changed' ? change.card.sessionId : change.sessionId)
  })
  const stopRoster = roster.listen((sessionId) => mark(sessionId))
  for (const sessionId of live()) mark(sessionId)
  keepOn()

  return {
    sessions: live,
    retry() {
      for (const [sessionId, { last }] of shown) if (last === '') mark(sessionId)
    },
    async close() {
      isClosed = true
      stopBoard()
      stopRoster()
      stopKeeping?.()
      for (const { stop } of shown.values()) stop?.()
      await Promise.all(under)
    },
  }
}
