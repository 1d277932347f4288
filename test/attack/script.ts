import { ThroughlineError } from '#base'
import type { SessionFacts, SessionSummary } from '#model'
import { NO_LIVE, NO_MEMORY, NO_RESTORING, NO_TEAM } from '#testing'
import type { LiveEvent, SearchHit, SubscribeOptions, Throughline } from '#wire'

/** A Throughline that says what it is told to, for what the network adds and nothing below it. */
export interface Script {
  readonly throughline: Throughline
  readonly sessions: SessionSummary[]
  /** Everything that was ever emitted; a cursor is how many of them were seen. */
  readonly events: LiveEvent[]
  /** Tells everybody who subscribed the same event. */
  emit(text?: string): void
  readonly subscribers: () => number
  /** Every call of something that changes, by name. */
  readonly changes: string[]
}

export function toSummary(id: string, fields: Partial<SessionSummary> = {}): SessionSummary {
  return {
    id,
    agent: 'claude',
    path: `/home/user/.claude/projects/-work/${id}.jsonl`,
    size: 1000,
    name: `The session ${id}`,
    nameFrom: 'prompt',
    firstPrompt: `The session ${id}`,
    workdirs: ['/home/user/work'],
    workdirsComplete: true,
    createdAt: '2026-11-15T08:00:00.000Z',
    lastActivityAt: '2026-11-15T09:00:00.000Z',
    subagents: [],
    toolResults: [],
    archived: false,
    state: 'ok',
    ...fields,
  }
}

const NO_TOKENS = {
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheCreation: 0,
  cacheCreation5m: 0,
  cacheCreation1h: 0,
}

const NO_FACTS: SessionFacts = {
  lines: 0,
  entries: 0,
  prompts: 0,
  replies: 0,
  toolCalls: 0,
  turns: 0,
  compactions: 0,
  branches: 0,
  models: [],
  usage: NO_TOKENS,
  inherited: NO_TOKENS,
  damage: [],
  unknownTypes: {},
}

/** With `tellsList`, whoever listens to the list is told what there is, as a daemon does it. */
export function createScript({ tellsList = false }: { readonly tellsList?: boolean } = {}): Script {
  const sessions = [toSummary('one'), toSummary('two')]
  const events: LiveEvent[] = []
  const subscribers = new Set<SubscribeOptions>()
  const changes: string[] = []

  function find(query: string): SessionSummary {
    const found = sessions.find(({ id, name }) => id === query || name === query)
    if (found) return found
    throw new ThroughlineError('session-not-found', 'no session matches', { hint: 'List them.' })
  }

  const throughline: Throughline = {
    live: NO_LIVE,
    memory: NO_MEMORY,
    restoring: NO_RESTORING,
    team: NO_TEAM,
    health: async () => ({
      version: '',
      protocol: 1,
      pid: process.pid,
      startedAt: '',
      sessions: { total: sessions.length, live: [], waitingForYou: 0 },
      index: { state: 'none' },
      archive: { enabled: false, files: 0, bytes: 0, goneSessions: 0 },
      notices: [],
    }),
    list: async () => ({ sessions, lookedIn: [], allowedRoots: [], problems: [] }),
    get: async (query) => find(query),
    survey: async (session) => session,
    digest: async () => ({ facts: NO_FACTS, outline: [], branches: [], files: [], commands: [], tools: [] }),
    async rename(session, name) {
      changes.push(`rename ${session.id} ${name}`)
      return session
    },
    async star(session, starred) {
      changes.push(`star ${session.id} ${starred}`)
      return session
    },
    async *passages() {
      yield []
    },
    async *entries() {
      // None.
    },
    page: async () => ({ readings: [], start: '0', end: '0', atStart: true, atEnd: true }),
    conversation: async () => [],
    check: async (session) => ({ session, findings: [] }),
    async *bytes() {
      yield Buffer.from('{}\n')
    },
    search: async ({ q }) => ({
      hits: [toHit(q)],
      total: { count: 1, exact: true },
      notes: [],
      index: 'complete',
    }),
    usage: async ({ by }) => ({
      by,
      rows: [],
      total: {
        usage: NO_TOKENS,
        messages: 0,
        cost: 0,
        uncachedCost: 0,
        unpricedMessages: 0,
      },
      prices: { source: 'none', dated: '2026-11-15' },
      compactions: { count: 0, tokens: 0, unknown: 0, unbilled: 0 },
      unpriced: [],
      complete: true,
    }),
    async demo(wanted) {
      changes.push(`demo ${wanted}`)
    },
    subscribe(topic, options) {
      if (topic.kind === 'session') find(topic.id)
      const closing = new AbortController()
      void (async () => {
        if (tellsList && topic.kind === 'sessions' && options.cursor === undefined) {
          for (const session of sessions)
            await options.onEvent({ kind: 'session.changed', session, cursor: '0' })
          await options.onEvent({ kind: 'caught-up', cursor: '0' })
        }
        for (let at = Number(options.cursor ?? 0); !closing.signal.aborted;) {
          const event = events[at++]
          if (event !== undefined) await options.onEvent(event)
          else return subscribers.add(options)
        }
      })()
      return {
        cursor: undefined,
        close() {
          closing.abort()
          subscribers.delete(options)
        },
      }
    },
    close: async () => {},
  }

  return {
    throughline,
    sessions,
    events,
    changes,
    subscribers: () => subscribers.size,
    emit(text = '') {
      const session = toSummary(`s${events.length + 1}`, { firstPrompt: text })
      const event: LiveEvent = { kind: 'session.changed', session, cursor: String(events.length + 1) }
      events.push(event)
      for (const { onEvent } of subscribers) void onEvent(event)
    },
  }
}

function toHit(q: string): SearchHit {
  return {
    session: { id: 'one', agent: 'claude' },
    entry: { id: 'e', kind: 'prompt', place: { offset: 0, length: 1 }, cursor: '1' },
    where: 'said',
    isError: false,
    snippet: { text: q, marks: [[0, q.length]] },
  }
}
