import { ThroughlineError } from '#base'
import { AGENT_GONE } from '#drivers'
import type { Answer, AnswerOutcome, Ask, Attention, AttentionState, LapseReason, Resolution } from '#model'
import { checkAnswer } from './answer-check.ts'
import type { FindChange, WatchGrounds } from './ask-grounds.ts'
import { hashOf, toCanonicalJson, toPlain } from './canonical-json.ts'
import { toIso } from './clock.ts'
import type { Clock } from './clock.ts'
import { readAsk } from '#wire'
import type { JournalFact } from './journal-fact.ts'

export interface Attentions {
  /**
   * Asks a person, and resolves with the answer. The attention is on disk before anybody is told of it, and the answer
   * before this resolves. Rejects whenever there is no answer: `attention-lapsed`, or what kept it from being written.
   */
  open(ask: Ask, signal: AbortSignal): Promise<Resolution>
  /**
   * Takes an answer. The first one wins; the others are told which it was. Rejects with `attention-not-found`,
   * `attention-mismatch` (what was shown is not what is asked), `attention-changed` (what it would be allowed in is not
   * as it was: it is asked anew), `request-invalid` (not on offer), or `journal-unwritable`: then it is still open.
   */
  resolve(answer: Answer): Promise<AnswerOutcome>
  /** Ends everything that is open, and everything that comes later, without an answer. */
  lapseAll(reason: LapseReason): Promise<void>
  /** Those that are open, oldest first. */
  list(): readonly Attention[]
}

export interface AttentionsOptions {
  readonly sessionId: string
  readonly clock: Clock
  readonly mintId: () => string
  /** Puts a line on disk. */
  readonly record: (fact: JournalFact) => Promise<unknown>
  readonly onOpened: (attention: Attention) => void
  readonly onSettled: (id: string, state: AttentionState) => void
  /** An end that could not be written down. It is an end all the same: nothing was allowed. */
  readonly onUnrecorded: (error: unknown) => void
  /** What else an allowance relies on. On nothing, where it is not given. */
  readonly watch?: WatchGrounds | undefined
  /** How long one stays open. For ever where it is not given. */
  readonly deadlineMs?: number | undefined
}

type Waiting = {
  readonly attention: Attention
  readonly signal: AbortSignal
  readonly release: (resolution: Resolution) => void
  readonly refuse: (error: ThroughlineError) => void
  readonly stopWaiting: () => void
  readonly findChange: FindChange
  /** What is being written down about it, if anything is. Never rejects. */
  settling: Promise<void> | undefined
}

type Settled = { readonly hash: string; readonly state: AttentionState }

/** What a person is asked to decide on is shown whole, so it has to be of a size that can be. */
const ASK_BYTES = 4 * 1024 * 1024

/**
 * The open attentions of one session.
 *
 * An attention is settled by whoever claims it first. The claim is undone when it cannot be written down, because what
 * is not on record was not answered. An end without an answer needs no claim: it only takes something away.
 */
export function createAttentions(options: AttentionsOptions): Attentions {
  const { sessionId, clock, mintId, record, onOpened, onSettled, onUnrecorded, deadlineMs } = options
  const waiting = new Map<string, Waiting>()
  /** Without what was asked, which can be large: a late answer wants to know only how it ended. */
  const settled = new Map<string, Settled>()
  /** Lines of attentions on their way to the disk. Never reject. */
  const opening = new Set<Promise<unknown>>()
  let over: LapseReason | undefined

  async function open(ask: Ask, signal: AbortSignal): Promise<Resolution> {
    if (over !== undefined) throw lapsed(over)
    if (signal.aborted) throw lapsed('withdrawn')
    const plain = getAsk(toPlain(ask))
    if (Buffer.byteLength(JSON.stringify(plain)) > ASK_BYTES) throw tooLarge()
    const attention: Attention = {
      id: mintId(),
      sessionId,
      openedAt: toIso(clock),
      ask: plain,
      hash: hashOf(plain),
      state: { state: 'open' },
    }
    const opened = begin(attention, signal)
    const known = opened.catch(() => undefined)
    opening.add(known)
    const { answer } = await opened.finally(() => opening.delete(known))
    return await answer
  }

  async function begin(
    attention: Attention,
    signal: AbortSignal,
  ): Promise<{ readonly answer: Promise<Resolution> }> {
    const findChange = (await options.watch?.(attention.ask)) ?? unchanged
    await record({ kind: 'attention.opened', at: attention.openedAt, attention })
    return { answer: wait(attention, { signal, findChange }) }
  }

  /** Waits for the answer to what is on disk. */
  function wait(
    attention: Attention,
    { signal, findChange }: Pick<Waiting, 'signal' | 'findChange'>,
  ): Promise<Resolution> {
    return new Promise<Resolution>((release, refuse) => {
      const { id } = attention
      const withdraw = (): void => void lapse(id, signal.reason === AGENT_GONE ? 'agent-gone' : 'withdrawn')
      const stopTimer =
        deadlineMs === undefined ? undefined : clock.after(deadlineMs, () => void lapse(id, 'deadline'))
      const stopWaiting = (): void => {
        signal.removeEventListener('abort', withdraw)
        stopTimer?.()
      }
      waiting.set(id, {
        attention,
        signal,
        release,
        refuse,
        stopWaiting,
        findChange,
        settling: undefined,
      })
      signal.addEventListener('abort', withdraw)
      onOpened(attention)
      // While the line was on its way to the disk, the agent may have gone.
      if (over !== undefined) void lapse(id, over)
      else if (signal.aborted) withdraw()
    })
  }

  async function resolve({ id, hash, resolution, by }: Answer): Promise<AnswerOutcome> {
    for (;;) {
      const held = waiting.get(id)
      if (!held) return lateTo(settled.get(id), { hash, resolution, by })
      if (held.attention.hash !== hash) throw mismatch()
      checkAnswer(held.attention.ask, resolution)
      if (held.settling) {
        await held.settling
        continue
      }
      const state: AttentionState = { state: 'resolved', resolution, by, at: toIso(clock) }
      let change: string | undefined
      await claim(held, async () => {
        change = resolution.kind === 'allow' ? await held.findChange() : undefined
        if (change !== undefined) return await askAgain(held, change)
        await record({ kind: 'attention.settled', at: state.at, id, state })
        finish(held, state)
      })
      if (change !== undefined) throw changedSince(change)
      return { kind: 'won', state }
    }
  }

  /** What was shown is void. The agent goes on waiting, for the answer to a new one that says what has changed. */
  async function askAgain(held: Waiting, changed: string): Promise<void> {
    const { id, ask } = held.attention
    const state: AttentionState = { state: 'lapsed', reason: 'changed', at: toIso(clock) }
    await record({ kind: 'attention.settled', at: state.at, id, state })
    retire(held, state)
    open({ ...ask, changed }, held.signal).then(held.release, held.refuse)
    await Promise.all(opening)
  }

  async function lapse(id: string, reason: LapseReason): Promise<void> {
    for (;;) {
      const held = waiting.get(id)
      if (!held) return
      if (held.settling) {
        await held.settling
        continue
      }
      const state: AttentionState = { state: 'lapsed', reason, at: toIso(clock) }
      await claim(held, async () => {
        await record({ kind: 'attention.settled', at: state.at, id, state }).catch(onUnrecorded)
        finish(held, state)
      })
      return
    }
  }

  /** From here on nobody else can settle it, until `work` is done; and if it fails, everybody can again. */
  async function claim(held: Waiting, work: () => Promise<void>): Promise<void> {
    const working = work()
    held.settling = working.catch(() => {
      held.settling = undefined
    })
    await held.settling
    await working
  }

  function retire(held: Waiting, state: AttentionState): void {
    const { id, hash } = held.attention
    waiting.delete(id)
    settled.set(id, { hash, state })
    held.stopWaiting()
    onSettled(id, state)
  }

  function finish(held: Waiting, state: AttentionState): void {
    // An agent that stopped waiting while the answer was written down gets none.
    if (state.state === 'resolved' && !held.signal.aborted) held.release(state.resolution)
    else held.refuse(lapsed(state.state === 'lapsed' ? state.reason : 'withdrawn'))
    retire(held, state)
  }

  return {
    open,
    resolve,
    async lapseAll(reason) {
      over ??= reason
      // What is on its way to the disk is open a moment later, and lapses then.
      await Promise.all(opening)
      await Promise.all([...waiting.keys()].map((id) => lapse(id, reason)))
    },
    list: () => [...waiting.values()].map(({ attention }) => attention),
  }
}

/** Somebody whose acknowledgement was lost asks again with the same answer: it has won, still. */
function lateTo(found: Settled | undefined, { hash, resolution, by }: Omit<Answer, 'id'>): AnswerOutcome {
  if (!found) {
    throw new ThroughlineError('attention-not-found', 'there is no such attention in this session', {
      hint: 'List the open ones again.',
    })
  }
  if (found.hash !== hash) throw mismatch()
  const { state } = found
  const isSame =
    state.state === 'resolved' &&
    state.by === by &&
    toCanonicalJson(state.resolution) === toCanonicalJson(toPlain(resolution))
  return { kind: isSame ? 'won' : 'late', state }
}

function getAsk(value: unknown): Ask {
  const ask = readAsk(value)
  if (ask) return ask
  throw new ThroughlineError('request-invalid', 'the agent asks something that makes no sense', {
    hint: 'This is a fault of the driver.',
  })
}

function tooLarge(): ThroughlineError {
  return new ThroughlineError('request-invalid', 'what is asked is too large to be shown to a person', {
    hint: 'It was denied. Let the agent do it in smaller steps.',
  })
}

function mismatch(): ThroughlineError {
  return new ThroughlineError('attention-mismatch', 'the answer is to something else than what is asked', {
    hint: 'Look at what is asked again, then answer that.',
  })
}

const unchanged: FindChange = () => Promise.resolve(undefined)

function changedSince(change: string): ThroughlineError {
  return new ThroughlineError('attention-changed', `nothing was allowed: ${change} since this was asked`, {
    hint: 'It is asked again, with what changed. Look at it, then answer that: `throughline attentions`.',
  })
}

function lapsed(reason: LapseReason): ThroughlineError {
  return new ThroughlineError('attention-lapsed', `nobody answered: ${reason}`, {
    hint: 'Nothing was allowed. The agent may ask again.',
  })
}
