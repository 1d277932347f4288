import { setTimeout as sleep } from 'node:timers/promises'
import { field, string, ThroughlineError } from '#base'
import type { Resolution } from '#model'
import { AGENT_GONE, askPerson } from '../asking.ts'
import type { AgentFact, RunningAgent, StartOptions } from '../driver.ts'
import { endAgent, findAgentProcesses } from '../process-tree.ts'
import { checkWorkdir } from '../workdir.ts'
import { connectAcp, type AcpConnection } from './acp-connection.ts'
import { toGone, toRefused, toStartError, toUntrusted, toWords } from './acp-errors.ts'
import { openAcpProcess, type AcpProcess } from './acp-process.ts'
import { greet, openSession, type AgentNature } from './acp-session.ts'
import { getCommand } from './command.ts'
import type { KnownAgent } from './known-agents.ts'
import { CANCELLED, readPermission, type Outcome } from './permission.ts'
import { NOTHING_BUT_WORDS, toContent } from './prompt-content.ts'
import { createUpdateReader } from './read-update.ts'
import { createReplay, findMissing } from './replay.ts'
import { createSessionSettings } from './session-settings.ts'
import { createTurnQueue, type WaitingPrompt } from './turn-queue.ts'
import { openTurn, type Turn } from './turn.ts'
import { within } from '../within.ts'

/** How an agent is run. */
export interface AcpAgent extends KnownAgent {
  readonly startMs: number
  readonly stopMs: number
}

/** How long an agent may take to end by itself. */
const GRACE_MS = 2_000
/** How long a question waits for the input of the call that it is about. */
const INPUT_MS = 500
const STEP_MS = 10
const ONCE: Resolution = { kind: 'allow', rules: [] }

/** Starts the agent and opens its session. Resolves when it takes prompts. */
export async function startAcp(start: StartOptions, agent: AcpAgent): Promise<RunningAgent> {
  checkWorkdir(start.workdir)
  if (!start.trusted) throw toUntrusted(agent, start.workdir)
  const { sessionId: mark, env, workdir } = start
  const place = { command: getCommand(agent, start), args: agent.args, workdir, env }
  const acp = openAcpProcess({
    ...place,
    env: agent.asking === undefined ? env : await agent.asking.prepare(place),
    sessionId: mark,
  })
  const gone = new AbortController()
  const queue = createTurnQueue()
  const reader = createUpdateReader(agent)
  const replay = createReplay()
  let nature: AgentNature | undefined
  let sessionId: string | undefined
  let turn: Turn | undefined
  let isEnded = false
  let failure: string | undefined
  let closing: Promise<void> | undefined

  const tell = (fact: AgentFact): void => {
    if (isEnded) return
    isEnded = fact.kind === 'ended'
    start.onFact(fact)
  }
  const settings = createSessionSettings({ agent, start, connection: () => connection, tell })

  function onUpdate(params: unknown): void {
    const update = field(params, 'update')
    const isOurs = sessionId === undefined || string(params, 'sessionId') === sessionId
    if (!isOurs) return tell({ kind: 'unknown', value: params })
    if (settings.hear(update)) return
    // What comes before the session is open is what was said in it before.
    if (sessionId === undefined) replay.hear(update)
    else for (const fact of reader.read(update)) tell(fact)
  }

  async function onPermission(params: unknown, signal: AbortSignal): Promise<Outcome> {
    const asking = turn
    if (!asking) return CANCELLED
    const until = AbortSignal.any([signal, gone.signal, asking.signal])
    const id = string(field(params, 'toolCall'), 'toolCallId') ?? ''
    // opencode may ask before it has said with what it calls.
    for (let waited = 0; waited < INPUT_MS && !until.aborted && reader.isBeginning(id); waited += STEP_MS)
      await sleep(STEP_MS)
    // Of a turn that is over everything was told, and nobody waits for an answer.
    if (asking.isOver()) return CANCELLED
    const { call, facts } = reader.readAsked(field(params, 'toolCall'))
    for (const fact of facts) tell(fact)
    const request = readPermission(params, call, workdir)
    const isApproved = settings.approves(string(field(params, 'toolCall'), 'kind') ?? '')
    if (isApproved && !until.aborted) return request.toOutcome(ONCE)
    const resolution = await askPerson(start.ask, request.ask, until)
    if (resolution?.kind === 'deny') {
      reader.deny(call.id, resolution.words)
      // Words are heard as the next prompt: until then the agent does not try something else.
      // The no is said first, and the turn is stopped then.
      if (resolution.interrupt === true || hasWords(resolution.words)) setImmediate(() => void interrupt())
    }
    return request.toOutcome(resolution)
  }

  const connection = await connectAcp(acp, {
    onUpdate,
    onUnknown: (value) => tell({ kind: 'unknown', value }),
    onTooLong: (bytes) =>
      tell({
        kind: 'trouble',
        message: `${agent.title} sent a message of ${bytes} bytes, which was left out`,
      }),
    onPermission,
  })
  const leftovers = (): ReturnType<typeof findAgentProcesses> => findAgentProcesses(mark, acp.id)

  /** What an agent that is gone did not come to is refused, and not begun. */
  const findNext = (): WaitingPrompt | undefined =>
    connection.isClosed() || gone.signal.aborted ? undefined : queue.next()

  /** One prompt after the other, for the agent takes one at a time. */
  async function pump(): Promise<void> {
    if (turn || sessionId === undefined) return
    for (let next = findNext(); next; next = findNext()) {
      turn = openTurn({ connection, sessionId, waiting: next, reader, tell })
      await turn.over
      turn = undefined
    }
  }

  async function interrupt(): Promise<void> {
    const stopped = turn
    if (!stopped || isEnded) return
    stopped.stop()
    await connection.notify('session/cancel', { sessionId }).catch(() => {})
    void insist(stopped)
  }

  /** A person who says stop is obeyed, also by an agent that does not listen. */
  async function insist(stopped: Turn): Promise<void> {
    const isOver = await within(agent.stopMs, stopped.over)
    if (isOver || isEnded || turn !== stopped) return
    failure = 'it did not stop when it was told to'
    await end()
  }

  async function end(): Promise<void> {
    const processes = leftovers()
    acp.stop()
    await within(GRACE_MS, acp.exited)
    await endAgent(mark, processes)
  }

  async function live(): Promise<void> {
    await Promise.race([acp.exited, connection.closed])
    gone.abort(AGENT_GONE)
    turn?.stop()
    await within(GRACE_MS, acp.exited)
    // Tools outlive an agent that is killed.
    await endAgent(mark, acp.id ? [acp.id] : [])
    connection.close()
    const message = closing ? undefined : (failure ?? acp.lastWords() ?? 'it ended by itself')
    queue.end(toGone(agent, message ?? 'it was closed'))
    tell({
      kind: 'ended',
      reason: closing ? 'closed' : failure === undefined ? 'crashed' : 'failed',
      message,
    })
  }
  const over = live()

  async function close(): Promise<void> {
    gone.abort()
    // A turn that is interrupted keeps what was said so far; one that loses its process does not.
    if (turn && !isEnded) {
      const { over: turnOver } = turn
      await interrupt()
      await within(GRACE_MS, turnOver)
    }
    queue.end(toGone(agent, 'it was closed'))
    await end()
    await over
  }

  /** Waits until the agent did as it was told; says in our words why it did not. */
  async function command(doing: () => Promise<void>): Promise<void> {
    if (isEnded || gone.signal.aborted || sessionId === undefined) throw toGone(agent, acp.lastWords())
    await doing().catch((cause: unknown) => {
      if (connection.isClosed()) throw toGone(agent, acp.lastWords())
      throw cause instanceof ThroughlineError ? cause : toRefused(agent, cause)
    })
  }

  async function open(): Promise<void> {
    nature = await greet(connection, agent)
    const opened = await openSession(connection, { agent, nature, start })
    const trouble = await findMissing(replay, { agent, nature, resume: start.resume })
    await settings.begin(opened, nature.can)
    ;({ sessionId } = opened)
    if (trouble !== undefined) tell({ kind: 'trouble', message: trouble })
  }

  const running: RunningAgent = {
    pids: () => leftovers().map((one) => one.pid),
    async prompt(prompt) {
      const prompts = nature?.prompt ?? NOTHING_BUT_WORDS
      const taken = queue.push(prompt, toContent(prompt.blocks, prompts))
      void pump()
      await taken
    },
    interrupt,
    async setMode(next) {
      if (next === 'bypass' && start.mode !== 'bypass')
        throw new ThroughlineError('mode-not-allowed', 'a running session cannot be told to stop asking', {
          hint: 'Start a session in this mode, if the configuration allows it.',
        })
      await command(() => settings.setMode(next))
    },
    setModel: (model) => command(() => settings.setModel(model)),
    close: () => (closing ??= close()),
  }

  try {
    await inTime(open(), { agent, acp, connection })
    return running
  } catch (error) {
    isEnded = true
    await running.close()
    throw error
  }
}

/** Waits until the agent is ready, but not for one that is gone or says nothing. */
async function inTime(
  opening: Promise<void>,
  {
    agent,
    acp,
    connection,
  }: { readonly agent: AcpAgent; readonly acp: AcpProcess; readonly connection: AcpConnection },
): Promise<void> {
  const seconds = String(Math.round(agent.startMs / 1_000))
  try {
    const isReady = await within(agent.startMs, Promise.race([opening, connection.closed]))
    if (!isReady) throw toStartError(agent, `it did not answer within ${seconds} seconds`)
    if (connection.isClosed()) throw new Error('it ended at once')
    await opening
  } catch (cause) {
    opening.catch(() => {})
    if (!connection.isClosed())
      throw cause instanceof ThroughlineError ? cause : toStartError(agent, toWords(cause), { cause })
    await within(GRACE_MS, acp.exited)
    throw toStartError(agent, acp.lastWords() ?? 'it ended at once', { cause })
  }
}

function hasWords(words: string | undefined): boolean {
  return words !== undefined && words.trim() !== ''
}
