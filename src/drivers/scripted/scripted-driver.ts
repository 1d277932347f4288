import type { Abilities } from '#model'
import { ThroughlineError } from '#base'
import { PERMISSION_MODES, textOf } from '#model'
import type { PermissionMode } from '#model'
import type { AgentFact, AgentPrompt, Driver, RunningAgent, StartOptions } from '../driver.ts'
import { endAgent, findAgentProcesses } from '../process-tree.ts'
import type { Stage } from './stage.ts'
import { forkScriptedTranscript, getTranscript, openScriptedTranscript } from './transcript.ts'
import { playTurn } from './turn.ts'

export interface ScriptedDriverOptions {
  /** Where it keeps its transcripts, as Claude Code does in its `projects`. */
  readonly transcripts: string
  readonly now: () => number
}

/**
 * An agent without a model: it does what the cues of a prompt say (see `Cue`), the same in every run. Its tools run
 * for real, after it asked. For demonstrations without an account, and for tests.
 */
/** What the scripted agent can: everything. */
export const SCRIPTED_ABILITIES: Abilities = {
  resume: true,
  fork: true,
  interrupt: true,
  editInput: true,
  denialWords: true,
  midTurn: true,
  images: true,
  writesTranscript: true,
}

export function createScriptedDriver(options: ScriptedDriverOptions): Driver {
  return {
    agent: 'scripted',
    can: SCRIPTED_ABILITIES,
    start: (start) => Promise.resolve().then(() => startScripted(start, options)),
  }
}

function startScripted(
  start: StartOptions,
  { transcripts: folder, now }: ScriptedDriverOptions,
): RunningAgent {
  const { resume, workdir } = start
  const first = resume && !resume.fork ? resume.sessionId : start.sessionId
  if (resume && !resume.fork) getTranscript(folder, resume.sessionId)
  if (resume?.fork) forkScriptedTranscript({ folder, from: resume.sessionId, to: first, at: resume.fork.at })

  const prompts: AgentPrompt[] = []
  const known = new Set<string>()
  const granted = new Set<string>()
  let transcript = openScriptedTranscript({ folder, sessionId: first, workdir, now })
  let model = start.model ?? 'scripted'
  let mode = start.mode
  let turn: AbortController | undefined
  let work: Promise<void> = Promise.resolve()
  let end: 'closed' | 'crashed' | undefined
  let told = false
  let closing: Promise<void> | undefined

  const tell = (fact: AgentFact): void => {
    if (!told) start.onFact(fact)
    told ||= fact.kind === 'ended'
  }
  const greet = (): void =>
    tell({
      kind: 'started',
      sessionId: transcript.sessionId,
      model,
      mode,
      tools: ['AskUserQuestion', 'Bash', 'Read', 'Write'],
      commands: ['clear'],
      modes: PERMISSION_MODES,
    })
  const changeMode = (next: PermissionMode): void => {
    mode = next
    tell({ kind: 'mode.changed', mode })
  }

  async function finish(reason: 'closed' | 'crashed' | 'failed', message?: string): Promise<void> {
    await endAgent(first)
    tell({ kind: 'ended', reason, message })
  }

  /** Goes on under another id, with nothing behind it. */
  function clear(prompt: AgentPrompt): void {
    tell({ kind: 'turn.started', promptId: prompt.id })
    transcript = openScriptedTranscript({ folder, sessionId: transcript.nextId(), workdir, now })
    tell({ kind: 'renamed', sessionId: transcript.sessionId })
    transcript.addPrompt(prompt.id, prompt.blocks)
    tell({ kind: 'message', id: prompt.id, role: 'person', blocks: prompt.blocks })
    greet()
    tell({ kind: 'turn.ended', outcome: { kind: 'answered' } })
  }

  /** A transcript that cannot be written is the end of the agent. */
  async function giveUp(error: unknown): Promise<void> {
    end = 'crashed'
    await finish('failed', error instanceof Error ? error.message : String(error))
  }

  async function playAll(): Promise<void> {
    for (let prompt = prompts.shift(); prompt && !end; prompt = prompts.shift()) {
      if (textOf(prompt.blocks).trim() === '/clear') {
        clear(prompt)
        continue
      }
      turn = new AbortController()
      const stage: Stage = {
        start,
        transcript,
        tell,
        signal: turn.signal,
        mark: first,
        model,
        mode: () => mode,
        setMode: changeMode,
        granted,
      }
      const outcome = await playTurn(prompt, stage)
      turn = undefined
      if (outcome === 'died') {
        end = 'crashed'
        await finish('crashed', 'it died on cue')
      }
    }
  }

  greet()
  return {
    pids: () => findAgentProcesses(first).map((one) => one.pid),
    prompt(prompt) {
      if (end) return Promise.reject(toGone())
      if (known.has(prompt.id)) return Promise.resolve()
      known.add(prompt.id)
      prompts.push(prompt)
      if (prompts.length === 1 && !turn) work = work.then(playAll).catch(giveUp)
      return Promise.resolve()
    },
    interrupt() {
      turn?.abort()
      return Promise.resolve()
    },
    setMode(next) {
      if (next === 'bypass' && start.mode !== 'bypass')
        return Promise.reject(
          new ThroughlineError('mode-not-allowed', 'a running session cannot be told to stop asking', {
            hint: 'Start a session in this mode, if the configuration allows it.',
          }),
        )
      changeMode(next)
      return Promise.resolve()
    },
    setModel(next) {
      model = next
      greet()
      return Promise.resolve()
    },
    close() {
      closing ??= (async () => {
        end ??= 'closed'
        turn?.abort()
        await work
        await finish(end)
      })()
      return closing
    },
  }
}

function toGone(): ThroughlineError {
  return new ThroughlineError('agent-gone', 'the scripted agent is not running', {
    hint: 'Resume the session to go on with it.',
  })
}
