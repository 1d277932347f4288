import { setTimeout as sleep } from 'node:timers/promises'
import type { Answer } from '../streams/answer.ts'
import type { ModelRequest } from '../streams/model-request.ts'
import type { Provider } from '../turn.ts'
import { createConversation, type Conversation, type ConversationOptions } from './conversation.ts'
import type { ConversationFacts, ConversationHint, ConversationView } from './conversation-facts.ts'
import type { KnownLine, Match } from './history.ts'
import { toUnits, type Unit } from './turn-units.ts'

/** One request and its answer. */
export interface Exchange {
  /** Settles when what the request says anew is on disk, or known not to be. Never rejects. */
  readonly begun: Promise<void>
  /** What came back; nothing when no message began: an error, a refusal. Settles likewise. Only the first call counts. */
  answered(answer: Answer | undefined): Promise<void>
}

/** Makes recordings of what clients and models say to each other, each turn once. */
export interface Conversations {
  /** A request was made. Order counts: in which this is called is the order of what was said. */
  begin(request: ModelRequest, hint?: ConversationHint): Exchange
  list(): readonly ConversationView[]
  /** How many turns could not be written and still are not, whether there is a recording or not. */
  missing(): number
  /** Waits for what is being written, and ends every recording. */
  end(): Promise<void>
}

export interface ConversationsOptions extends ConversationOptions {
  /** So many are kept open; the one that was quiet for longest is ended. Default: 200. */
  readonly limit?: number | undefined
}

/** A client may act on the end of an answer before the connection says that it is over. */
const ANSWER_LATE_MS = 2_000

/** Requests of one client session, or of all clients of one provider that name none. */
interface Lane {
  readonly conversations: Conversation[]
  /** One request is placed after the other. */
  last: Promise<unknown>
}

export function createConversations(options: ConversationsOptions): Conversations {
  const lanes = new Map<string, Lane>()
  const mains = new Map<string, Conversation>()
  const running = new Set<Promise<unknown>>()
  const unanswered = new Set<() => void>()
  let moment = 0
  /** What is missing of those that were let go. */
  let left = 0

  function laneOf(key: string): Lane {
    const known = lanes.get(key)
    if (known !== undefined) return known
    const lane: Lane = { conversations: [], last: Promise.resolve() }
    lanes.set(key, lane)
    return lane
  }

  function addConversation(lane: Lane, facts: ConversationFacts): Conversation {
    const conversation = createConversation(options, facts)
    lane.conversations.push(conversation)
    return conversation
  }

  /** The main conversation of a client session, which may have said nothing yet. */
  function mainOf(
    hint: ConversationHint & { readonly clientSessionId: string },
    provider: Provider,
  ): Conversation {
    const { agentId: _, ...facts } = hint
    const key = toLaneKey({ ...facts, provider })
    const known = mains.get(key)
    if (known !== undefined) return known
    const main = addConversation(laneOf(key), { ...facts, provider })
    mains.set(key, main)
    return main
  }

  async function place(request: ModelRequest, hint: ConversationHint): Promise<Placed> {
    const { provider, follows } = request
    const units = toUnits(request.turns)
    const lane = laneOf(toLaneKey({ ...hint, provider }))
    const { clientSessionId } = hint
    const main = clientSessionId === undefined ? undefined : mainOf({ ...hint, clientSessionId }, provider)
    if (main !== undefined && hint.agentId === undefined) await main.ready()
    const found = find(lane, units, follows)
    if (found !== undefined && isSame(found, { request, hint, main })) return found
    if (main === undefined || clientSessionId === undefined)
      return begin(addConversation(lane, { ...hint, provider }), units)
    if (hint.agentId !== undefined) {
      const same = lane.conversations[0]
      if (same !== undefined) return begin(same, units)
      const subagentOf = { sessionId: await main.sessionId(), agentId: hint.agentId }
      const subagent = addConversation(lane, { ...hint, provider, subagentOf })
      await subagent.ready()
      return begin(subagent, units)
    }
    if (hint.purpose !== 'aside') return begin(main, units)
    // Who never offers the model a tool has no other conversation than this one.
    if (main.history.size === 0) return begin(addConversation(lane, { ...hint, provider }), units)
    const subagentOf = {
      sessionId: await main.sessionId(),
      agentId: `aside-${String(lane.conversations.length)}`,
    }
    return begin(addConversation(lane, { ...hint, provider, subagentOf }), units)
  }

  /** Puts a request where it belongs. What it repeats of an answer that is not over yet is waited for. */
  async function settle(request: ModelRequest, hint: ConversationHint): Promise<Placed> {
    const placed = await place(request, hint)
    const { line } = placed.match
    if (placed.match.rest[0]?.role !== 'assistant' || line.waiting.size === 0) return placed
    await Promise.race([Promise.all(line.waiting), sleep(ANSWER_LATE_MS, undefined, { ref: false })])
    return await place(request, hint)
  }

  function makeRoom(): void {
    const all = [...lanes.values()].flatMap((lane) => lane.conversations)
    if (all.length <= (options.limit ?? 200)) return
    const [oldest] = all.filter((one) => one.isIdle()).toSorted((a, b) => a.usedAt - b.usedAt)
    if (oldest === undefined) return
    for (const [key, lane] of lanes) {
      const at = lane.conversations.indexOf(oldest)
      if (at >= 0) lane.conversations.splice(at, 1)
      if (lane.conversations.length === 0) lanes.delete(key)
      if (mains.get(key) === oldest) mains.delete(key)
    }
    void track(letGo(oldest))
  }

  async function letGo(conversation: Conversation): Promise<void> {
    await conversation.end()
    left += conversation.missing()
  }

  function track<T>(work: Promise<T>): Promise<T> {
    running.add(work)
    void work.finally(() => running.delete(work)).catch(() => {})
    return work
  }

  /** One request of a lane after the other. */
  function enqueue<T>(lane: Lane, work: () => Promise<T>): Promise<T> {
    const done = lane.last.then(work)
    lane.last = done.catch(() => {})
    return done
  }

  return {
    begin(request, hint = {}) {
      const lane = laneOf(toLaneKey({ ...hint, provider: request.provider }))
      const over = createGate()
      const isAside = hint.purpose === 'aside' && hint.clientSessionId !== undefined
      // A title is often asked for before the conversation that it is the title of.
      const put = async (): Promise<Taken> => {
        const { conversation, match } = await settle(request, hint)
        conversation.usedAt = ++moment
        const tip = conversation.take(match, request)
        if (!isAside) tip.waiting.add(over.opened)
        makeRoom()
        return { conversation, tip }
      }
      const taken = isAside ? over.opened.then(() => enqueue(lane, put)) : enqueue(lane, put)
      unanswered.add(over.open)
      const begun = track(taken.then(({ tip }) => tip.written).catch(() => {}))
      let answered: Promise<void> | undefined
      async function hear(answer: Answer | undefined): Promise<void> {
        if (isAside) over.open()
        const { conversation, tip } = await taken
        const written = answer === undefined ? undefined : conversation.answer(tip, answer)
        tip.waiting.delete(over.opened)
        over.open()
        await written
      }
      return {
        begun,
        answered(answer) {
          answered ??= track(
            hear(answer)
              .catch(() => over.open())
              .finally(() => unanswered.delete(over.open)),
          )
          return answered
        },
      }
    },
    list: () => [...lanes.values()].flatMap((lane) => lane.conversations.flatMap((one) => one.view() ?? [])),
    missing: () =>
      [...lanes.values()]
        .flatMap((lane) => lane.conversations)
        .reduce((sum, one) => sum + one.missing(), left),
    async end() {
      for (const release of unanswered) release()
      while (running.size > 0) await Promise.allSettled(running)
      const all = [...lanes.values()].flatMap((lane) => lane.conversations)
      lanes.clear()
      mains.clear()
      await Promise.all(all.map(letGo))
    },
  }
}

/** Something that is waited for, and happens once. */
interface Gate {
  readonly opened: Promise<void>
  readonly open: () => void
}

function createGate(): Gate {
  const doors: (() => void)[] = []
  const opened = new Promise<void>((resolve) => doors.push(resolve))
  return { opened, open: () => doors[0]?.() }
}

/** Where a request was put, and the line that it ends with. */
interface Taken {
  readonly conversation: Conversation
  readonly tip: KnownLine
}

interface Placed {
  readonly conversation: Conversation
  readonly match: Match
}

function toLaneKey(facts: ConversationFacts): string {
  const { provider, clientSessionId, agentId = '', agent = '' } = facts
  return JSON.stringify(
    clientSessionId === undefined ? [provider, agent] : [provider, clientSessionId, agentId],
  )
}

function begin(conversation: Conversation, units: readonly Unit[]): Placed {
  return { conversation, match: conversation.history.match(units) }
}

/** The conversation that a request goes on with: the one of which it repeats most. */
function find(lane: Lane, units: readonly Unit[], follows: string | undefined): Placed | undefined {
  if (follows !== undefined) {
    for (const conversation of lane.conversations) {
      const from = conversation.findAnswer(follows)
      if (from !== undefined) return { conversation, match: conversation.history.match(units, from) }
    }
  }
  let best: Placed | undefined
  for (const conversation of lane.conversations) {
    const match = conversation.history.match(units)
    if (isStart(match.line)) continue
    const isCloser =
      best === undefined ||
      match.rest.length < best.match.rest.length ||
      (match.rest.length === best.match.rest.length && conversation.usedAt > best.conversation.usedAt)
    if (isCloser) best = { conversation, match }
  }
  return best
}

function isStart(line: KnownLine): boolean {
  return line.role === undefined
}

/**
 * Whether what repeats the beginning of a conversation, and no answer of it, is that conversation: tried again after it
 * got none. Two conversations may begin with the same words, and a title is asked for with those of the first prompt.
 */
function isSame(
  { conversation, match }: Placed,
  asked: { request: ModelRequest; hint: ConversationHint; main: Conversation | undefined },
): boolean {
  if (match.hasAnswer) return true
  if (asked.hint.purpose === 'aside' && conversation === asked.main) return false
  if (asked.main !== undefined) return true
  const { line } = match
  return line.answers === 0 && line.waiting.size === 0 && conversation.system === asked.request.system
}
