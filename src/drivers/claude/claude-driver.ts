import type { Options, Query } from '@anthropic-ai/claude-agent-sdk'
import { list, object, string, ThroughlineError } from '#base'
import { PERMISSION_MODES } from '#model'
import { AGENT_GONE, askPerson } from '../asking.ts'
import type { AgentFact, Driver, RunningAgent, StartOptions } from '../driver.ts'
import { endAgent, findAgentProcesses, isRunning } from '../process-tree.ts'
import { checkWorkdir } from '../workdir.ts'
import { openClaudeProcess, type ClaudeProcess } from './claude-process.ts'
import { loadSdk, toGone, toRefused, toStartError } from './claude-errors.ts'
import { readElicitation } from './elicitation.ts'
import { findClaude } from './executable.ts'
import { readToolRequest } from './permission.ts'
import { createPromptQueue, type PromptQueue } from './prompt-queue.ts'
import { CLAUDE_MODES, createStreamReader, toMode, type StreamReader } from './read-stream.ts'

export interface ClaudeDriverOptions {
  /** The program to run. Without it: the person's own `claude`, or else the one that comes with the Agent SDK. */
  readonly executable?: string | undefined
}

/** Runs Claude Code through its Agent SDK, which is installed only by those who want this. */
export function createClaudeDriver(options: ClaudeDriverOptions = {}): Driver {
  return {
    agent: 'claude',
    can: {
      resume: true,
      fork: true,
      interrupt: true,
      editInput: true,
      denialWords: true,
      midTurn: true,
      images: true,
      writesTranscript: true,
    },
    start: (start) => startClaude(start, options),
  }
}

/** How long a turn that is stopped, and then the agent itself, may take to end by themselves. */
const GRACE_MS = 2_000

async function startClaude(start: StartOptions, driver: ClaudeDriverOptions): Promise<RunningAgent> {
  const { query } = await loadSdk()
  checkWorkdir(start.workdir)
  const gone = new AbortController()
  const queue = createPromptQueue()
  const sessionId = start.resume && !start.resume.fork ? start.resume.sessionId : start.sessionId
  const reader = createStreamReader({ sessionId, takePrompt: (uuid) => queue.take(uuid) })
  let child: ClaudeProcess | undefined
  let isEnded = false

  const executable = driver.executable ?? findClaude(start.env['PATH'] ?? '', start.workdir)
  const running = query({
    prompt: queue,
    options: {
      ...toOptions(start),
      ...(executable === undefined ? {} : { pathToClaudeCodeExecutable: executable }),
      spawnClaudeCodeProcess: (spawn) => {
        child = openClaudeProcess(spawn, sessionId)
        return child.process
      },
      canUseTool: async (tool, input, circumstances) => {
        const request = readToolRequest(tool, input, circumstances, start)
        const signal = AbortSignal.any([withReason(circumstances.signal), gone.signal])
        return request.toResult(await askPerson(start.ask, request.ask, signal))
      },
      onElicitation: async (request, { signal }) => {
        const elicitation = readElicitation(request, start.workdir)
        const until = AbortSignal.any([withReason(signal), gone.signal])
        return elicitation.toResult(await askPerson(start.ask, elicitation.ask, until))
      },
    },
  })

  const isGone = (): boolean => child?.id !== undefined && !isRunning(child.id)

  /** The SDK withdraws what is asked when its process ends, and does not say so. */
  function withReason(signal: AbortSignal): AbortSignal {
    const asked = new AbortController()
    const withdraw = (): void => asked.abort(isGone() ? AGENT_GONE : undefined)
    if (signal.aborted) withdraw()
    else signal.addEventListener('abort', withdraw, { once: true })
    return asked.signal
  }

  const tell = (fact: AgentFact): void => {
    if (isEnded) return
    isEnded = fact.kind === 'ended'
    start.onFact(fact)
  }
  const leftovers = (): ReturnType<typeof findAgentProcesses> => findAgentProcesses(sessionId, child?.id)

  let closing: Promise<void> | undefined
  async function live(): Promise<void> {
    const failure = await follow({ running, reader, queue, tell })
    gone.abort(AGENT_GONE)
    // One that says nothing any more may live on.
    await within(GRACE_MS, child?.exited ?? Promise.resolve())
    // Tools outlive an agent that is killed.
    await endAgent(sessionId)
    const message = closing ? undefined : (child?.lastWords() ?? failure)
    queue.end(toGone(message))
    tell({ kind: 'ended', reason: closing ? 'closed' : 'crashed', message })
  }
  const over = live()

  async function close(): Promise<void> {
    gone.abort()
    // A turn that is interrupted keeps what was said so far; one that loses its process does not.
    if (reader.isRunning()) await within(GRACE_MS, running.interrupt())
    queue.end(toGone('it was closed'))
    const processes = leftovers()
    running.close()
    await within(GRACE_MS, child?.exited ?? over)
    await endAgent(sessionId, processes)
    await over
  }

  /** Waits until the agent did as it was told; says in our words why it did not. */
  async function command(doing: Promise<unknown>): Promise<void> {
    try {
      await doing
    } catch (cause) {
      if (isEnded || gone.signal.aborted) throw toGone(child?.lastWords())
      throw toRefused(cause)
    }
  }

  const agent: RunningAgent = {
    pids: () => leftovers().map((one) => one.pid),
    prompt: async (prompt) => queue.push(prompt),
    async interrupt() {
      if (!isEnded) await command(running.interrupt())
    },
    async setMode(mode) {
      if (mode === 'bypass' && start.mode !== 'bypass')
        throw new ThroughlineError('mode-not-allowed', 'a running session cannot be told to stop asking', {
          hint: 'Start a session in this mode, if the configuration allows it.',
        })
      await command(running.setPermissionMode(CLAUDE_MODES[mode]))
    },
    setModel: (model) => command(running.setModel(model)),
    close: () => (closing ??= close()),
  }

  try {
    tell(await greet(running, { start, sessionId, over, lastWords: () => child?.lastWords() }))
    return agent
  } catch (error) {
    isEnded = true
    await agent.close()
    throw error
  }
}

function toOptions(start: StartOptions): Options {
  return {
    cwd: start.workdir,
    // Stands on every line of the transcript: whoever reads it knows that a person spoke.
    env: { ...start.env, CLAUDE_CODE_ENTRYPOINT: 'throughline' },
    systemPrompt: { type: 'preset', preset: 'claude_code' },
    // Nothing that lies in a folder acts before a person trusted it: no hooks, no servers, no rules.
    settingSources: start.trusted ? ['user', 'project', 'local'] : [],
    strictMcpConfig: !start.trusted,
    includePartialMessages: true,
    permissionMode: CLAUDE_MODES[start.mode],
    ...(start.mode === 'bypass' ? { allowDangerouslySkipPermissions: true } : {}),
    ...(start.model === undefined ? {} : { model: start.model }),
    ...(start.isAside === true ? { persistSession: false, tools: [] } : {}),
    ...toIdentity(start),
  }
}

function toIdentity({ sessionId, resume }: StartOptions): Options {
  if (!resume) return { sessionId }
  if (!resume.fork) return { resume: resume.sessionId }
  const at = resume.fork.at
  return {
    resume: resume.sessionId,
    forkSession: true,
    sessionId,
    ...(at === undefined ? {} : { resumeSessionAt: at }),
  }
}

/** Hands on everything the agent says, to its end. Gives back why it ended, if it did not just end. */
async function follow(parts: {
  readonly running: Query
  readonly reader: StreamReader
  readonly queue: PromptQueue
  readonly tell: (fact: AgentFact) => void
}): Promise<string | undefined> {
  const { running, reader, queue, tell } = parts
  let knowsPrompts = false
  try {
    for await (const message of running) {
      const type = string(message, 'type')
      if (type === 'command_lifecycle') {
        knowsPrompts = true
        queue.acknowledge(string(message, 'command_uuid') ?? '')
      }
      for (const fact of reader.read(message)) tell(fact)
      // Older versions do not say which prompts they have; a turn that begins has those that were sent.
      if (!knowsPrompts && type === 'system' && string(message, 'subtype') === 'init') queue.acknowledgeAll()
    }
    return undefined
  } catch (error) {
    // The SDK throws at the end when the last turn was an error, which was told already.
    return error instanceof Error ? error.message : String(error)
  }
}

/** Waits until the agent takes prompts, and says what is known of it by then. */
async function greet(
  running: Query,
  parts: {
    readonly start: StartOptions
    readonly sessionId: string
    readonly over: Promise<void>
    readonly lastWords: () => string | undefined
  },
): Promise<AgentFact> {
  const { start, sessionId, over, lastWords } = parts
  const init = await Promise.race([running.initializationResult(), over.then(() => undefined)]).catch(
    (cause: unknown) => {
      throw toStartError(lastWords(), cause)
    },
  )
  if (!init) throw toStartError(lastWords(), undefined)
  const account = object({ account: init.account }, 'account')
  const isOurs = (string(account, 'apiProvider') ?? 'firstParty') === 'firstParty'
  if (isOurs && isNone(string(account, 'tokenSource')) && isNone(string(account, 'apiKeySource')))
    throw new ThroughlineError('not-logged-in', 'Claude Code is not logged in', {
      hint: 'Run `claude` in a terminal and log in there, or set ANTHROPIC_API_KEY, then try again.',
    })
  const mode = toMode(Object.getOwnPropertyDescriptor(init, 'current_permission_mode')?.value)
  return {
    kind: 'started',
    sessionId,
    model: start.model,
    mode: mode ?? start.mode,
    tools: [],
    commands: init.commands.map((command) => command.name),
    modes: PERMISSION_MODES,
    models: list(init, 'models').flatMap((model) => {
      const id = string(model, 'value')
      return id === undefined ? [] : [{ id, name: string(model, 'displayName') ?? id }]
    }),
  }
}

function isNone(source: string | undefined): boolean {
  return source === undefined || source === '' || source === 'none'
}

/** Waits for something, but not longer than this, and not for how it ends. */
async function within(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)))
  await Promise.race([work.then(noop, noop), late])
  clearTimeout(timer)
}

function noop(): void {}
