import { field, list, string, ThroughlineError } from '#base'
import type { PermissionMode } from '#model'
import { AGENT_GONE, askPerson } from '../asking.ts'
import type { AgentFact, RunningAgent, StartOptions } from '../driver.ts'
import { endAgent, findAgentProcesses } from '../process-tree.ts'
import { checkWorkdir } from '../workdir.ts'
import { connectAcp, type AcpConnection } from './acp-connection.ts'
import { toGone, toRefused, toStartError, toUnable, toUntrusted, toWords } from './acp-errors.ts'
import { openAcpProcess, type AcpProcess } from './acp-process.ts'
import {
  enterMode,
  greet,
  openSession,
  readModels,
  type AgentNature,
  type OpenedSession,
} from './acp-session.ts'
import { getCommand } from './command.ts'
import type { KnownAgent } from './known-agents.ts'
import { readPermission, type Outcome } from './permission.ts'
import { toContent } from './prompt-content.ts'
import { createUpdateReader, readCommands } from './read-update.ts'
import { createReplay, findMissing } from './replay.ts'
import { readModes, toMode } from './session-modes.ts'
import { createTurnQueue, type WaitingPrompt } from './turn-queue.ts'
import { openTurn, type Turn } from './turn.ts'
import { within } from './within.ts'

/** How an agent is run. */
export interface AcpAgent extends KnownAgent {
  readonly startMs: number
  readonly stopMs: number
}

/** How long an agent may take to end by itself. */
const GRACE_MS = 2_000

/** Starts the agent and opens its session. Resolves when it takes prompts. */
export async function startAcp(start: StartOptions, agent: AcpAgent): Promise<RunningAgent> {
  checkWorkdir(start.workdir)
  if (!start.trusted) throw toUntrusted(agent, start.workdir)
  const { sessionId: mark, env, workdir } = start
  const acp = openAcpProcess({
    command: getCommand(agent, start),
    args: agent.args,
    workdir,
    env,
    sessionId: mark,
  })
  const gone = new AbortController()
  const queue = createTurnQueue()
  const reader = createUpdateReader()
  const replay = createReplay()
  let nature: AgentNature | undefined
  let session: OpenedSession | undefined
  let commands: readonly string[] = []
  let mode = start.mode
  /** Modes of the agent that were entered for one of ours, whatever their names say. */
  const entered = new Map<string, PermissionMode>()
  let turn: Turn | undefined
  let isEnded = false
  let failure: string | undefined
  let closing: Promise<void> | undefined

  const tell = (fact: AgentFact): void => {
    if (isEnded) return
    isEnded = fact.kind === 'ended'
    start.onFact(fact)
  }
  const tellStarted = (): void => {
    if (!session || !nature) return
    const { sessionId, models } = session
    tell({ kind: 'started', sessionId, model: models?.current, mode, tools: [], commands, can: nature.can })
  }

  function takeMode(next: PermissionMode): void {
    if (next === mode) return
    mode = next
    tell({ kind: 'mode.changed', mode })
  }

  /** The agent is in this mode of its own now. One that asks nobody is told as such, whoever chose it. */
  function hearMode(id: string | undefined): void {
    if (!session || id === undefined || id === session.modes.current) return
    session = { ...session, modes: { ...session.modes, current: id } }
    const known = session.modes.available.find((each) => each.id === id)
    const next = entered.get(id) ?? toMode(known ?? { id, name: id, description: undefined })
    if (next) takeMode(next)
  }

  function hearOptions(update: unknown): void {
    if (!session) return
    const modes = readModes(update, session.modes)
    const models = readModels(update) ?? session.models
    const isOther = models?.current !== session.models?.current
    session = { ...session, models, modes: { ...modes, current: session.modes.current } }
    hearMode(modes.current)
    if (isOther) tellStarted()
  }

  function onUpdate(params: unknown): void {
    const update = field(params, 'update')
    const isOurs = !session || string(params, 'sessionId') === session.sessionId
    if (!isOurs) return tell({ kind: 'unknown', value: params })
    switch (string(update, 'sessionUpdate')) {
      case 'available_commands_update':
        commands = readCommands(update)
        return tellStarted()
      case 'current_mode_update':
        return hearMode(string(update, 'currentModeId'))
      case 'config_option_update':
        return hearOptions(update)
      default:
        // What comes before the session is open is what was said in it before.
        if (session) for (const fact of reader.read(update)) tell(fact)
        else replay.hear(update)
    }
  }

  async function onPermission(params: unknown, signal: AbortSignal): Promise<Outcome> {
    const { call, facts } = reader.readAsked(field(params, 'toolCall'))
    for (const fact of facts) tell(fact)
    const request = readPermission(params, call, workdir)
    const until = AbortSignal.any([signal, gone.signal, ...(turn ? [turn.signal] : [])])
    const resolution = await askPerson(start.ask, request.ask, until)
    if (resolution?.kind === 'deny' && resolution.interrupt === true) void interrupt()
    return request.toOutcome(resolution)
  }

  const connection = await connectAcp(acp, {
    onUpdate,
    onUnknown: (value) => tell({ kind: 'unknown', value }),
    onPermission,
  })
  const leftovers = (): ReturnType<typeof findAgentProcesses> => findAgentProcesses(mark, acp.id)

  /** What an agent that is gone did not come to is refused, and not begun. */
  const findNext = (): WaitingPrompt | undefined =>
    connection.isClosed() || gone.signal.aborted ? undefined : queue.next()

  /** One prompt after the other, for the agent takes one at a time. */
  async function pump(): Promise<void> {
    if (turn || !session) return
    for (let next = findNext(); next; next = findNext()) {
      turn = openTurn({ connection, sessionId: session.sessionId, waiting: next, reader, tell })
      await turn.over
      turn = undefined
    }
  }

  async function interrupt(): Promise<void> {
    const stopped = turn
    if (!stopped || isEnded) return
    stopped.stop()
    await connection.notify('session/cancel', { sessionId: session?.sessionId }).catch(() => {})
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
  async function command(doing: (opened: OpenedSession) => Promise<void>): Promise<void> {
    if (isEnded || gone.signal.aborted || !session) throw toGone(agent, acp.lastWords())
    await doing(session).catch((cause: unknown) => {
      if (connection.isClosed()) throw toGone(agent, acp.lastWords())
      throw cause instanceof ThroughlineError ? cause : toRefused(agent, cause)
    })
  }

  async function changeMode(opened: OpenedSession, next: PermissionMode): Promise<void> {
    const id = await enterMode(connection, { agent, session: opened, mode: next })
    if (id !== undefined) entered.set(id, next)
    if (id !== undefined && session) session = { ...session, modes: { ...session.modes, current: id } }
    takeMode(next)
  }

  async function changeModel(opened: OpenedSession, model: string): Promise<void> {
    const { models, sessionId } = opened
    if (!models) throw toUnable(agent, 'be told which model to use', 'Choose the model in its own settings.')
    const params = { sessionId, configId: models.configId, value: model }
    const answer = await connection.request('session/set_config_option', params)
    if (session) session = { ...session, models: { configId: models.configId, current: model } }
    if (list(answer, 'configOptions').length > 0) hearOptions(answer)
  }

  async function open(): Promise<void> {
    nature = await greet(connection, agent)
    const opened = await openSession(connection, { agent, nature, start })
    const trouble = await findMissing(replay, { agent, nature, resume: start.resume })
    // Agents fall back into a mode of theirs when a session goes on: nothing is asked of them before they are in ours.
    const id = await enterMode(connection, { agent, session: opened, mode })
    if (id !== undefined) entered.set(id, mode)
    session = { ...opened, modes: { ...opened.modes, current: id ?? opened.modes.current } }
    if (start.model !== undefined && start.model !== opened.models?.current)
      await changeModel(session, start.model)
    tellStarted()
    if (trouble !== undefined) tell({ kind: 'trouble', message: trouble })
  }

  const running: RunningAgent = {
    pids: () => leftovers().map((one) => one.pid),
    async prompt(prompt) {
      const prompts = nature?.prompt ?? { images: false, resources: false }
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
      await command((opened) => changeMode(opened, next))
    },
    setModel: (model) =>
      command(async (opened) => {
        await changeModel(opened, model)
        tellStarted()
      }),
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
