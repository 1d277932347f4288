import { ThroughlineError } from '#base'
import type { AgentPrompt } from '#drivers'
import type { LivePrompt, NewPrompt, PromptReceipt } from '#model'
import { hashOf } from './canonical-json.ts'
import { toIso } from './clock.ts'
import type { Clock } from './clock.ts'
import type { JournalFact } from './journal-fact.ts'
import type { KeptPrompt } from './session-journal.ts'

export interface PromptQueue {
  /**
   * Takes a prompt. When it resolves, the prompt is on disk, and will be delivered or be shown as undelivered. A prompt
   * that is known is not taken twice, unless it was left undelivered by a host that is gone: then it is queued.
   * Rejects with `request-invalid` when something else was said under this id. `isFirst`: it goes before all that wait.
   */
  admit(prompt: NewPrompt, how?: { readonly isFirst: boolean }): Promise<PromptReceipt>
  /** Hands over what waits, one after the other, for as long as `mayDeliver` says so. */
  deliver(): void
  /** The agent says that it has taken a prompt up. Of others it may speak too. */
  takeUp(id: string): void
  /**
   * Delivers nothing any more. What waits is undelivered, what was sent and not taken up is in doubt. Resolves when
   * nothing is being handed over.
   */
  stop(): Promise<void>
}

export interface PromptQueueOptions {
  readonly clock: Clock
  /** Prompts of earlier hosts. */
  readonly kept: readonly KeptPrompt[]
  readonly record: (fact: JournalFact) => Promise<unknown>
  /** Whether the agent takes a prompt now. */
  readonly mayDeliver: () => boolean
  /** Gives a prompt to the agent. */
  readonly hand: (prompt: AgentPrompt) => Promise<void>
  readonly onAdmitted: (prompt: LivePrompt) => void
  readonly onMoved: (id: string, state: LivePrompt['state']) => void
  readonly onTrouble: (message: string) => void
}

type Known = { readonly hash: string; state: LivePrompt['state']; admitting?: Promise<unknown> | undefined }

/**
 * Prompts on their way to the agent, in the order in which they were taken.
 *
 * Before a prompt is handed over, it is noted that it will be; and when the agent has taken it up, that it has. Agents
 * keep what they were handed in memory until then. One that dies in between, or a host that does, leaves it `in-doubt`,
 * and nobody sends it again by themselves: neither lost nor doubled.
 */
export function createPromptQueue(options: PromptQueueOptions): PromptQueue {
  const { clock, kept, record, mayDeliver, hand, onAdmitted, onMoved, onTrouble } = options
  const known = new Map<string, Known>(kept.map(({ id, hash, state }) => [id, { hash, state }]))
  const waiting: AgentPrompt[] = []
  let delivering: Promise<void> | undefined
  let isStopped = false

  async function admit(
    { id, blocks, by }: NewPrompt,
    { isFirst } = { isFirst: false },
  ): Promise<PromptReceipt> {
    const hash = hashOf(blocks)
    const before = known.get(id)
    if (before) {
      if (before.hash !== hash) throw otherWords(id)
      await before.admitting
      if (before.state !== 'undelivered' || isStopped) return { id, state: before.state }
      enqueue({ id, blocks, by }, before, isFirst)
      return { id, state: 'queued' }
    }
    const entry: Known = { hash, state: 'queued' }
    known.set(id, entry)
    try {
      entry.admitting = record({ kind: 'prompt.admitted', at: toIso(clock), id, blocks, by })
      await entry.admitting
    } catch (error) {
      known.delete(id)
      throw error
    }
    entry.admitting = undefined
    enqueue({ id, blocks, by }, entry, isFirst)
    return { id, state: entry.state }
  }

  function enqueue({ id, blocks, by }: NewPrompt, entry: Known, isFirst: boolean): void {
    entry.state = isStopped ? 'undelivered' : 'queued'
    onAdmitted({ id, blocks, by, at: toIso(clock), state: entry.state })
    if (isStopped) return
    if (isFirst) waiting.unshift({ id, blocks })
    else waiting.push({ id, blocks })
    deliver()
  }

  function deliver(): void {
    delivering ??= deliverWaiting()
  }

  async function deliverWaiting(): Promise<void> {
    // Lets the caller finish first: whoever took a prompt is told so before anything comes of it.
    await Promise.resolve()
    while (waiting.length > 0 && mayDeliver()) {
      const prompt = waiting.shift()
      if (!prompt) break
      try {
        await record({ kind: 'prompt.sent', at: toIso(clock), id: prompt.id })
      } catch (error) {
        // Nothing was handed over, so it still waits: for the next prompt, or the end of the turn.
        onTrouble(`a prompt waits, because it cannot be noted: ${wordsOf(error)}`)
        if (isStopped) move(prompt.id, 'undelivered')
        else waiting.unshift(prompt)
        break
      }
      await handOver(prompt)
    }
    delivering = undefined
  }

  async function handOver(prompt: AgentPrompt): Promise<void> {
    move(prompt.id, 'sent')
    try {
      await hand(prompt)
    } catch (error) {
      onTrouble(`a prompt may not have reached the agent: ${wordsOf(error)}`)
      if (known.get(prompt.id)?.state === 'sent') move(prompt.id, 'in-doubt')
    }
  }

  function takeUp(id: string): void {
    const state = known.get(id)?.state
    if (state !== 'sent' && state !== 'in-doubt') return
    move(id, 'delivered')
    record({ kind: 'prompt.delivered', at: toIso(clock), id }).catch((error: unknown) =>
      onTrouble(`a prompt was delivered, which cannot be noted: ${wordsOf(error)}`),
    )
  }

  function move(id: string, state: LivePrompt['state']): void {
    const entry = known.get(id)
    if (entry) entry.state = state
    onMoved(id, state)
  }

  return {
    admit,
    deliver,
    takeUp,
    async stop() {
      isStopped = true
      for (const { id } of waiting.splice(0)) move(id, 'undelivered')
      await delivering
      for (const [id, { state }] of known) if (state === 'sent') move(id, 'in-doubt')
    },
  }
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : 'it was not said why'
}

function otherWords(id: string): ThroughlineError {
  return new ThroughlineError('request-invalid', `something else was said before as prompt ${id}`, {
    hint: 'Send it again under an id of its own.',
  })
}
