import { randomUUID } from 'node:crypto'
import type { AgentFact, Driver, RunningAgent, StartOptions } from '#drivers'
import { textOf, type Ask, type Resolution } from '#model'
import type { TurnOutcome } from '#model'

/** Where a driver is tried: a folder and an environment of its own. */
export interface DriverPlace {
  readonly driver: Driver
  readonly workdir: string
  readonly env: Readonly<Record<string, string>>
  /** Whether the folder is trusted: there are agents that run in no other. */
  readonly trusted?: boolean | undefined
  /** What this agent, or what lies between it and its driver, is not able to. What holds instead is tried then. */
  readonly lacks?: readonly Lack[] | undefined
  /** What the transcripts of a session hold, by path. */
  transcripts(sessionId: string): Readonly<Record<string, string>>
  /** Ends the agent without asking it. */
  crash(played: Played): Promise<void>
  close(): Promise<void>
}

/** Something that agents can in general, and some cannot. */
export type Lack =
  /** Entries have no ids that are told, and a session has the id that the agent gives it. */
  | 'given-ids'
  | 'clear'
  | 'fork'
  | 'questions'
  /** A no has no words, so the agent does not hear them. */
  | 'words-of-a-no'
  /** A no ends the turn. */
  | 'goes-on-after-a-no'
  /** That it tries again is not told. */
  | 'told-retries'
  /** The status of a model that failed is not told. */
  | 'told-status'
  /** What was said in a turn that did not end is not in the transcript. */
  | 'kept-pieces'

/** An ask that waits for an answer. */
export interface OpenAsk {
  readonly ask: Ask
  readonly signal: AbortSignal
  readonly answer: (resolution: Resolution) => void
  readonly fail: () => void
}

/** A running agent, and everything that is heard of it. */
export interface Played {
  readonly agent: RunningAgent
  readonly sessionId: string
  /** The id under which the agent keeps the session. */
  agentId(): string
  readonly facts: readonly AgentFact[]
  /** Sends a prompt. Resolves with how its turn ended. */
  say(text: string): Promise<TurnOutcome>
  /** Sends a prompt, and does not wait for more than that the agent has it. Gives its id. */
  send(text: string, id?: string): Promise<string>
  /** The next ask that nobody took yet. */
  nextAsk(): Promise<OpenAsk>
  openAsks(): readonly OpenAsk[]
  /** The first fact from `from` on that is so; waits for it. */
  heard<K extends AgentFact['kind']>(
    kind: K,
    from?: number,
    isIt?: (fact: Extract<AgentFact, { kind: K }>) => boolean,
  ): Promise<Extract<AgentFact, { kind: K }>>
}

const PATIENCE_MS = 30_000

/** Starts an agent and listens to it. */
export async function play(place: DriverPlace, options: Partial<StartOptions> = {}): Promise<Played> {
  const facts: AgentFact[] = []
  const asks: OpenAsk[] = []
  const listeners = new Set<() => void>()
  const news = (): void => {
    for (const listener of listeners) listener()
  }
  const sessionId = options.sessionId ?? options.resume?.sessionId ?? randomUUID()
  const agent = await place.driver.start({
    sessionId,
    workdir: place.workdir,
    mode: 'default',
    trusted: place.trusted ?? false,
    env: place.env,
    onFact(fact) {
      facts.push(fact)
      news()
    },
    ask: (ask, signal) =>
      new Promise((resolve, reject) => {
        asks.push({ ask, signal, answer: resolve, fail: () => reject(new Error('nobody can be asked')) })
        news()
      }),
    ...options,
  })

  function waitFor<T>(what: string, find: () => T | undefined): Promise<T> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        const found = find()
        if (found === undefined) return
        listeners.delete(look)
        clearTimeout(timer)
        resolve(found)
      }
      const timer = setTimeout(() => {
        listeners.delete(look)
        reject(
          new Error(`${what} never came; heard: ${JSON.stringify(facts.map(shortened)).slice(0, 4_000)}`),
        )
      }, PATIENCE_MS)
      listeners.add(look)
      look()
    })
  }

  const heard: Played['heard'] = (kind, from = 0, isIt = () => true) =>
    waitFor(kind, () =>
      facts
        .slice(from)
        .find(
          (fact): fact is Extract<AgentFact, { kind: typeof kind }> => isOfKind(fact, kind) && isIt(fact),
        ),
    )

  async function send(text: string, id: string = randomUUID()): Promise<string> {
    await agent.prompt({ id, blocks: [{ kind: 'text', text }] })
    return id
  }

  return {
    agent,
    sessionId,
    agentId: () =>
      facts.findLast((fact) => fact.kind === 'started' || fact.kind === 'renamed')?.sessionId ?? sessionId,
    facts,
    heard,
    send,
    async say(text) {
      const from = facts.length
      const id = randomUUID()
      await agent.prompt({ id, blocks: [{ kind: 'text', text }] })
      await heard('turn.started', from, (fact) => fact.promptId === id)
      const began = facts.findIndex((fact) => fact.kind === 'turn.started' && fact.promptId === id)
      return (await heard('turn.ended', began)).outcome
    },
    nextAsk: () => waitFor('an ask', () => asks.shift()),
    openAsks: () => asks,
  }
}

function isOfKind<K extends AgentFact['kind']>(
  fact: AgentFact,
  kind: K,
): fact is Extract<AgentFact, { kind: K }> {
  return fact.kind === kind
}

function shortened(fact: AgentFact): unknown {
  return fact.kind === 'unknown' || fact.kind === 'started' ? fact.kind : fact
}

/** All that the agent said from a fact on, in whole messages. */
export function saidIn(facts: readonly AgentFact[], from = 0): string {
  return facts
    .slice(from)
    .flatMap((fact) => (fact.kind === 'message' && fact.role === 'agent' ? [textOf(fact.blocks)] : []))
    .filter((text) => text !== '')
    .join('\n')
}

/** What tools answered, in words. */
export function resultsIn(facts: readonly AgentFact[]): readonly string[] {
  return facts.flatMap((fact) =>
    fact.kind === 'message' && fact.role === 'tool'
      ? fact.blocks.flatMap((block) => (block.kind === 'tool-result' ? [textOf(block.content)] : []))
      : [],
  )
}

/** How a turn ends in which a person said no. */
export function afterNo(place: DriverPlace): TurnOutcome['kind'] {
  return lacks(place, 'goes-on-after-a-no') ? 'interrupted' : 'answered'
}

export function lacks(place: DriverPlace, what: Lack): boolean {
  return place.lacks?.includes(what) ?? false
}
