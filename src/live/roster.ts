import { ThroughlineError } from '#base'
import type { Answer, AnswerOutcome, Attention, NewPrompt, PromptReceipt, SessionView } from '#model'
import { within } from './clock.ts'
import type { Clock } from './clock.ts'
import type { HostOrder } from './host-order.ts'
import { readOutcome, readReceipt } from './host-replies.ts'
import type { HostCommand } from './host-protocol.ts'
import { spawnHost } from './host-spawn.ts'
import type { HostProgram } from './host-spawn.ts'
import { openKeptHost } from './kept-host.ts'
import type { KeptHost, KeptNews } from './kept-host.ts'
import { listRuns } from './run-file.ts'

/** Who holds a session that is none of ours, in words for a person. */
export interface Owner {
  readonly pid?: number | undefined
  readonly words: string
}

/** Every live session of a home, as a daemon keeps them. The sessions are in their hosts: nothing here is needed twice. */
export interface Roster {
  list(): readonly SessionView[]
  find(sessionId: string): SessionView | undefined
  /** Everything that waits for a person, in all sessions, oldest first. */
  attentions(): readonly Attention[]
  /**
   * Starts a live session, and gives it as it stands: `pending` most often. Rejects with `session-held` and who holds
   * it, when it is alive here or elsewhere, and with what the host says against it.
   */
  start(order: Omit<HostOrder, 'home'>): Promise<SessionView>
  prompt(sessionId: string, prompt: NewPrompt): Promise<PromptReceipt>
  resolve(sessionId: string, answer: Answer): Promise<AnswerOutcome>
  /** What has no answer but that it was done. */
  command(sessionId: string, command: HostCommand): Promise<void>
  /** Tells everything that happens in any session. Gives the function that ends it. */
  listen(listener: (sessionId: string, news: KeptNews) => void): () => void
  /** Looks for hosts that nobody here has started. */
  look(): Promise<void>
  /** Lets go of every host. They live on. */
  close(): Promise<void>
}

export interface RosterOptions {
  readonly home: string
  readonly clock: Clock
  readonly program: HostProgram
  /** Who else holds a session, as the registry of its agent has it. */
  readonly findOwner: (sessionId: string) => Promise<Owner | undefined>
  /** How often it looks for hosts by itself; two seconds where it is not given. */
  readonly lookMs?: number | undefined
}

const LOOK_MS = 2_000
const ANSWER_MS = 1_500

/**
 * Finds every host of a home and connects to it. When it resolves, all living ones are there with their open
 * attentions, and what dead ones left is cleaned up: their tools ended, what was open lapsed.
 */
export async function openRoster(options: RosterOptions): Promise<Roster> {
  const { home, clock } = options
  const hosts = new Map<string, KeptHost>()
  const listeners = new Set<(sessionId: string, news: KeptNews) => void>()
  /** Sessions that are being started or connected to. */
  const busy = new Map<string, Promise<unknown>>()
  let isClosed = false
  let stopLooking: (() => void) | undefined

  async function connect(sessionId: string): Promise<KeptHost | undefined> {
    // Nothing is told of a host that cannot be found yet: who begins to listen in between would miss it for good.
    const early: KeptNews[] = []
    let tell = (news: KeptNews): void => void early.push(news)
    const host = await openKeptHost({
      home,
      sessionId,
      clock,
      isOver: () => isClosed,
      onNews: (news) => tell(news),
    })
    if (isClosed) {
      host?.close()
      return undefined
    }
    if (host) hosts.set(sessionId, host)
    tell = (news) => {
      for (const listener of listeners) listener(sessionId, news)
    }
    early.forEach((news) => tell(news))
    if (host) void forgetWhenGone(host)
    return host
  }

  async function forgetWhenGone(host: KeptHost): Promise<void> {
    await host.gone
    if (hosts.get(host.sessionId) === host) hosts.delete(host.sessionId)
  }

  /** One thing at a time for a session. */
  async function alone<T>(sessionId: string, work: () => Promise<T>): Promise<T> {
    const working = work()
    busy.set(
      sessionId,
      working.catch(() => {}),
    )
    try {
      return await working
    } finally {
      busy.delete(sessionId)
    }
  }

  async function look(): Promise<void> {
    const unknown = (await listRuns(home)).filter((id) => !hosts.has(id) && !busy.has(id))
    const connected = Promise.all(unknown.map((id) => alone(id, () => connect(id))))
    // One that lives and does not answer is waited for, but holds up nobody.
    await within(connected, { ms: ANSWER_MS, clock }).catch(() => {})
  }

  function lookAgain(): void {
    if (isClosed) return
    // What cannot be looked at now is looked at next time.
    stopLooking = clock.after(
      options.lookMs ?? LOOK_MS,
      () =>
        void look()
          .catch(() => {})
          .finally(lookAgain),
    )
  }

  function views(): readonly SessionView[] {
    return [...hosts.values()].flatMap((host) => {
      const view = host.view()
      return view && view.state.state !== 'ended' ? [view] : []
    })
  }

  /** Which sessions an order touches: its own, and the one it goes on with, unless it only begins with a copy of it. */
  async function checkFree({ sessionId, resume }: Omit<HostOrder, 'home'>): Promise<void> {
    const ids = [sessionId, ...(resume && !resume.fork ? [resume.sessionId] : [])]
    for (const id of ids) {
      const host = hosts.get(id)
      if (host?.view()?.state.state === 'ended') await host.gone
    }
    const here = views().find(
      (view) => ids.includes(view.sessionId) || ids.includes(view.agentSessionId ?? ''),
    )
    if (here) throw held(sessionId, { words: `the live session ${here.sessionId} here` })
    if (busy.has(sessionId)) throw held(sessionId, { words: 'a start that is under way' })
    for (const id of ids) {
      const owner = await options.findOwner(id)
      if (owner) throw held(id, owner)
    }
  }

  async function begin(order: HostOrder): Promise<SessionView> {
    await spawnHost(order, options.program)
    const view = (await connect(order.sessionId))?.view()
    if (view) return view
    throw new ThroughlineError('host-unreachable', 'the session was over before it was looked at', {
      hint: 'Look at what its journal says.',
    })
  }

  async function call(sessionId: string, command: HostCommand): Promise<unknown> {
    const host = hosts.get(sessionId)
    if (host) return await host.call(command)
    throw new ThroughlineError('session-ended', `session ${sessionId} is not live`, {
      hint: 'Resume it, or begin a new one.',
    })
  }

  await look()
  lookAgain()

  return {
    list: views,
    find: (sessionId) => hosts.get(sessionId)?.view(),
    attentions: () =>
      views()
        .flatMap(({ attentions }) => attentions)
        .toSorted((a, b) => (a.openedAt < b.openedAt ? -1 : 1)),
    async start(order) {
      await checkFree(order)
      if (busy.has(order.sessionId)) throw held(order.sessionId, { words: 'a start that is under way' })
      return await alone(order.sessionId, () => begin({ ...order, home }))
    },
    prompt: async (sessionId, prompt) => readReceipt(await call(sessionId, { do: 'prompt', prompt })),
    resolve: async (sessionId, answer) => readOutcome(await call(sessionId, { do: 'resolve', answer })),
    async command(sessionId, command) {
      await call(sessionId, command)
    },
    listen(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    look,
    async close() {
      isClosed = true
      stopLooking?.()
      for (const host of hosts.values()) host.close()
      await Promise.all([...[...hosts.values()].map(({ gone }) => gone), ...busy.values()])
    },
  }
}

function held(sessionId: string, owner: Owner): ThroughlineError {
  const by = owner.pid === undefined ? owner.words : `${owner.words} (process ${owner.pid})`
  return new ThroughlineError('session-held', `session ${sessionId} is held by ${by}`, {
    hint: 'Use that one, end it first, or fork the session.',
  })
}
