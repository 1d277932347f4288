import { ThroughlineError } from '#base'
import type { Clock, Roster } from '#live'
import type { SessionOrigin } from '#model'
import type { Desk } from '#store'
import type { Board } from './board.ts'

/** Which machine holds which session. Without the database nobody is asked, and everything goes on. */
export interface Leases {
  /**
   * Takes the leases of sessions that are to be run here. Throws `session-held` with who holds one on another machine;
   * with `takeOver` it is ended there first.
   */
  take(sessions: readonly string[], how: { readonly takeOver: boolean }): Promise<void>
  /** They are not run after all. */
  release(sessions: readonly string[]): Promise<void>
  close(): Promise<void>
}

export interface LeasesOptions {
  readonly desk: Pick<Desk, 'isUp' | 'takeLease' | 'keepLeases' | 'releaseLease'>
  readonly board: Board
  readonly roster: Pick<Roster, 'list'>
  readonly clock: Clock
  /** Ends a session on the machine that holds it. */
  readonly endThere: (holder: SessionOrigin, session: string) => Promise<void>
  readonly keepMs?: number | undefined
}

const KEEP_MS = 5000
/** A database that answers at all answers in this time; one that does not is not waited for. */
const ASK_MS = 1000
/** For so long nobody waits a second time for one that did not answer. */
const SILENT_MS = 10_000
const TAKE_OVER_MS = 15_000
const AGAIN_MS = 200

export function openLeases(options: LeasesOptions): Leases {
  const { desk, board, roster, clock, keepMs = KEEP_MS } = options
  /** Those that are kept, and under which session of the board. */
  let kept = new Set<string>()
  const marked = new Map<string, string>()
  let isClosed = false
  let silentUntil = -Infinity
  let stopKeeping: (() => void) | undefined
  let keeping: Promise<void> = Promise.resolve()

  function names(): ReadonlyMap<string, string> {
    return new Map(
      roster
        .list()
        .flatMap(({ sessionId, agentSessionId }) => [
          [sessionId, sessionId] as const,
          ...(agentSessionId === undefined ? [] : [[agentSessionId, sessionId] as const]),
        ]),
    )
  }

  async function keep(): Promise<void> {
    const now = names()
    const over = [...kept].filter((session) => !now.has(session))
    kept = new Set(now.keys())
    try {
      for (const session of over) await desk.releaseLease(session)
      const told = new Map<string, string>()
      for (const { session, heldBy, contender } of await desk.keepLeases([...now.keys()])) {
        const other = heldBy ?? contender
        if (other !== undefined) told.set(now.get(session) ?? session, toDoubled(other))
      }
      for (const [session, words] of told) board.mark(session, words)
      for (const [session, words] of marked) {
        if (!told.has(session) && board.find(session)?.trouble === words) board.mark(session, undefined)
      }
      marked.clear()
      for (const [session, words] of told) marked.set(session, words)
    } catch {
      // Away: whoever runs goes on, and is told when it turns out that two do.
      for (const session of over) kept.add(session)
    }
  }

  function keepSoon(ms: number): void {
    stopKeeping?.()
    if (isClosed) return
    stopKeeping = clock.after(ms, () => {
      keeping = keep().finally(() => keepSoon(keepMs))
    })
  }

  const stopBoard = board.listen((change) => {
    if (change.kind !== 'changed' || change.card.origin !== undefined || change.card.where !== 'here') return
    const { sessionId, state } = change.card
    if ((state.state === 'ended') === kept.has(sessionId)) keepSoon(0)
  })
  keepSoon(0)

  function isThere(): boolean {
    return desk.isUp() && clock.now() >= silentUntil
  }

  /** Nothing when it takes too long, or fails: then it is as if there were no database. */
  async function ask<T>(asking: Promise<T>): Promise<T | undefined> {
    let stop: (() => void) | undefined
    const late = new Promise<undefined>((resolve) => {
      stop = clock.after(ASK_MS, () => {
        silentUntil = clock.now() + SILENT_MS
        resolve(undefined)
      })
    })
    try {
      return await Promise.race([asking.catch(() => undefined), late])
    } finally {
      stop?.()
    }
  }

  async function takeOne(session: string, { takeOver }: { readonly takeOver: boolean }): Promise<void> {
    const lease = await ask(desk.takeLease(session))
    if (lease === undefined || lease.state === 'mine') return
    if (!takeOver) throw toHeld(session, lease.holder)
    await options.endThere(lease.holder, session)
    const deadline = clock.now() + TAKE_OVER_MS
    for (;;) {
      const again = await ask(desk.takeLease(session))
      if (again === undefined || again.state === 'mine') return
      if (clock.now() > deadline) throw toHeld(session, again.holder)
      await new Promise<void>((resolve) => void clock.after(AGAIN_MS, resolve))
    }
  }

  return {
    async take(sessions, how) {
      for (const session of new Set(sessions)) if (isThere()) await takeOne(session, how)
    },
    async release(sessions) {
      if (!isThere()) return
      const running = names()
      for (const session of sessions) if (!running.has(session)) await ask(desk.releaseLease(session))
    },
    async close() {
      isClosed = true
      stopBoard()
      stopKeeping?.()
      await keeping
    },
  }
}

/** What somebody is told whose session is held on another machine. */
export function toHeld(session: string, { machine, person, mine }: SessionOrigin): ThroughlineError {
  const whose = mine ? `your machine ${machine}` : `${machine} of ${person}`
  return new ThroughlineError('session-held', `session ${session} is held on ${whose}`, {
    hint: 'Use it there, end it there, or take it over: it is ended there first.',
  })
}

function toDoubled({ machine, person }: SessionOrigin): string {
  return `This session runs on ${machine} of ${person} too. Both write to their own copy: end one of them.`
}
