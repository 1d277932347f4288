import { ThroughlineError } from '#base'
import type { AgentFact, RunningAgent } from '#drivers'
import type { Answer, Block, EndReason, PermissionMode, SessionFact, SessionState } from '#model'
import { createView, toState } from '#model'
import { createBell } from './bell.ts'
import { watchMode } from './ask-grounds.ts'
import { carryFact, carryView } from './carried.ts'
import { createAttentions } from './attentions.ts'
import type { Attentions } from './attentions.ts'
import { briefly, toIso, within } from './clock.ts'
import { createEventLog } from './event-log.ts'
import type { JournalFact } from './journal-fact.ts'
import { checkMode } from './permission-mode.ts'
import { createPromptQueue } from './prompt-queue.ts'
import type { PromptQueue } from './prompt-queue.ts'
import { firstView, sessionOver, sessionPending, toStarted, withNextStep } from './session-opening.ts'
import type { EndWords, LiveSession, LiveSessionOptions, SessionNews } from './session-opening.ts'

/** How long an agent may take to close before it is left to the sweep. */
const CLOSE_MS = 10_000

/** What is known of it when its beginning is on disk. */
export interface BegunSession {
  /** How far its mode may be widened. */
  readonly widest: PermissionMode
  readonly startedAt: string
  readonly record: (fact: JournalFact) => Promise<unknown>
}

/** A session whose beginning is on disk. The agent is being started. */
export function createLiveSession(
  options: LiveSessionOptions,
  { widest, startedAt, record }: BegunSession,
): LiveSession {
  const { driver, start, run, before, clock } = options
  const view = createView(firstView(options, startedAt))
  const log = createEventLog()
  const listeners = new Set<(news: SessionNews) => void>()
  let seq = 0
  let state: SessionState = { state: 'pending' }
  let { mode, model } = start
  let agent: RunningAgent | undefined
  /** `expected`: a prompt was handed over, and the agent has not said yet that it works on it. */
  let turn: 'none' | 'expected' | 'running' = 'none'
  let agentSessionId = start.sessionId
  let ending: Promise<void> | undefined
  let stopIdling: (() => void) | undefined
  const ended = createBell()

  function tell(fact: SessionFact): void {
    const { value, left } = carryFact(fact)
    const logged = log.add({ ...value, seq: ++seq, at: toIso(clock) })
    view.add(logged.event)
    for (const listener of listeners) listener(logged)
    if (left > 0) notice(`a message was too long to be shown whole: ${left} bytes of it are left out here`)
  }

  function refresh(): void {
    if (state.state === 'ended') return
    const next = toState({
      isStarted: agent !== undefined,
      isInTurn: turn !== 'none',
      openAttentions: attentions.list().length,
    })
    if (next.state !== state.state) {
      state = next
      tell({ kind: 'state.changed', state })
    }
    stopIdling?.()
    stopIdling =
      state.state === 'idle' && !ending && options.idleMs !== undefined
        ? clock.after(options.idleMs, () => void end('idle'))
        : undefined
  }

  const notice = (message: string): void => tell({ kind: 'trouble.noticed', message })

  const attentions: Attentions = createAttentions({
    sessionId: start.sessionId,
    clock,
    mintId: options.mintId,
    record,
    deadlineMs: options.deadlineMs,
    async watch(ask) {
      const findModeChange = watchMode(() => mode)
      const findFolderChange = await options.watchFolder?.(ask)
      return async () => (await findModeChange()) ?? (await findFolderChange?.())
    },
    onOpened(attention) {
      tell({ kind: 'attention.opened', attention })
      refresh()
    },
    onSettled(id, settled) {
      tell({ kind: 'attention.settled', id, state: settled })
      refresh()
    },
    onUnrecorded: () => notice('the end of an attention cannot be written down'),
  })

  const prompts: PromptQueue = createPromptQueue({
    clock,
    kept: before.prompts,
    record,
    mayDeliver: () => agent !== undefined && !ending && (turn === 'none' || driver.can.midTurn),
    async hand(prompt) {
      if (!agent || ending) throw new Error('the session is ending')
      if (turn === 'none') turn = 'expected'
      refresh()
      await agent.prompt(prompt).catch((error: unknown) => {
        if (turn === 'expected') turn = 'none'
        refresh()
        throw error
      })
    },
    onAdmitted(prompt) {
      tell({ kind: 'prompt.admitted', prompt })
      refresh()
    },
    onMoved: (id, moved) => tell({ kind: 'prompt.moved', id, state: moved }),
    onTrouble: notice,
  })

  /** What only helps a reader may be missing from the journal, but not in silence. */
  function note(fact: JournalFact): void {
    record(fact).catch(() => notice('the journal takes no lines'))
  }

  function onFact(fact: AgentFact): void {
    switch (fact.kind) {
      case 'started':
        tell(toStarted(fact, widest))
        if (fact.model !== undefined && fact.model !== model) {
          model = fact.model
          tell({ kind: 'model.changed', model })
        }
        if (fact.mode !== undefined) takeMode(fact.mode)
        rename(fact.sessionId)
        return
      case 'mode.changed':
        takeMode(fact.mode)
        return
      case 'renamed':
        rename(fact.sessionId)
        return
      case 'turn.started':
        turn = 'running'
        note({ kind: 'turn.started', at: toIso(clock), promptId: fact.promptId })
        tell(fact)
        if (fact.promptId !== undefined) prompts.takeUp(fact.promptId)
        refresh()
        return
      case 'turn.ended':
        turn = 'none'
        note({ kind: 'turn.ended', at: toIso(clock), outcome: fact.outcome.kind })
        tell({ ...fact, outcome: withNextStep(fact.outcome, start.sessionId) })
        refresh()
        prompts.deliver()
        return
      case 'ended':
        // Where it was still starting, why it did not start says more.
        void briefly(agent ? undefined : starting, clock).then(() => end(`agent-${fact.reason}`, fact))
        return
      case 'message':
        options.audit.see(fact).catch(() => notice('the audit log takes no lines'))
        tell(fact)
        if (fact.role === 'person' && fact.id !== undefined) prompts.takeUp(fact.id)
        return
      case 'trouble':
        return notice(fact.message)
      case 'delta':
      case 'retrying':
      case 'unknown':
        tell(fact)
    }
  }

  function takeMode(next: PermissionMode): void {
    if (next === mode) return
    if (next === 'bypass' && widest !== 'bypass') {
      notice('the agent wanted to stop asking, which the configuration does not allow')
      agent
        ?.setMode(mode)
        .catch(() => void end('agent-failed', { message: 'the agent does not ask any more' }))
      return
    }
    mode = next
    note({ kind: 'mode.changed', at: toIso(clock), mode, by: 'agent' })
    tell({ kind: 'mode.changed', mode })
  }

  function rename(next: string): void {
    if (next === agentSessionId) return
    agentSessionId = next
    note({ kind: 'session.renamed', at: toIso(clock), agentSessionId })
    tell({ kind: 'session.renamed', agentSessionId })
  }

  async function startAgent(): Promise<void> {
    try {
      const running = await driver.start({
        ...start,
        onFact,
        ask: (ask, signal) => attentions.open(ask, signal),
      })
      if (ending) await running.close()
      else agent = running
    } catch (error) {
      const message = error instanceof Error ? error.message : 'the agent could not be started'
      const hint = error instanceof ThroughlineError ? error.hint : undefined
      // Not awaited: what ends waits for the start.
      void end('start-failed', { message, hint })
      return
    }
    refresh()
    prompts.deliver()
  }

  function end(reason: EndReason, words: EndWords = {}): Promise<void> {
    ending ??= endAll(reason, words)
    return ending
  }

  async function endAll(reason: EndReason, { message, hint }: EndWords): Promise<void> {
    stopIdling?.()
    const isGone = reason.startsWith('agent-')
    await attentions.lapseAll(isGone ? 'agent-gone' : 'session-ended')
    const closed = Promise.all([agent?.close(), starting])
    await within(closed, { ms: CLOSE_MS, clock }).catch(() => notice('the agent did not close by itself'))
    await options.sweep().catch(() => notice('it is not certain that nothing of the agent is left'))
    await within(prompts.stop(), { ms: CLOSE_MS, clock }).catch(() => notice('a prompt is in doubt'))
    await record({ kind: 'session.ended', at: toIso(clock), reason, message }).catch(() =>
      notice('the end of the session cannot be written down'),
    )
    state = { state: 'ended', reason, message, hint }
    tell({ kind: 'state.changed', state })
    ended.ring()
  }

  /** Words of a denial that the agent has no place for are its next prompt. An answer that is repeated says nothing new. */
  async function passOn({ id, resolution, by }: Answer): Promise<void> {
    if (driver.can.denialWords || resolution.kind !== 'deny' || ending) return
    const words = resolution.words?.trim() ?? ''
    if (words === '') return
    const blocks: readonly Block[] = [{ kind: 'text', text: words }]
    await prompts
      .admit({ id, blocks, by }, { isFirst: true })
      .catch(() => notice('the words of the denial did not reach the agent'))
  }

  function runningAgent(): RunningAgent {
    if (ending) throw sessionOver()
    if (agent) return agent
    throw sessionPending()
  }

  const starting = Promise.resolve().then(startAgent)
  return {
    view: () => view.read(),
    async prompt(prompt) {
      if (ending) throw sessionOver()
      return await prompts.admit(prompt)
    },
    async resolve(answer) {
      const outcome = await attentions.resolve(answer)
      if (outcome.kind === 'won') await passOn(answer)
      return outcome
    },
    async interrupt() {
      const running = runningAgent()
      if (turn !== 'none') await running.interrupt()
    },
    async setMode(next, by) {
      checkMode(next, widest)
      await starting
      const running = runningAgent()
      await record({ kind: 'mode.changed', at: toIso(clock), mode: next, by })
      await running.setMode(next)
      if (next === mode) return
      mode = next
      tell({ kind: 'mode.changed', mode })
    },
    async setModel(next, by) {
      await starting
      await runningAgent().setModel(next)
      note({ kind: 'model.changed', at: toIso(clock), model: next, by })
      if (next === model) return
      model = next
      tell({ kind: 'model.changed', model })
    },
    end: (reason) => end(reason),
    listen(listener, after) {
      const missed = after?.run === run ? log.findAfter(after.seq) : undefined
      if (missed) for (const logged of missed) listener(logged)
      else listener({ view: carryView(view.read()) })
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    ended: ended.rung,
  }
}
