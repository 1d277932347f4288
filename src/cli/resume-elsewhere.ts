import { spawn } from 'node:child_process'
import { resolve } from 'node:path'
import type { Throughline } from '#app'
import { ThroughlineError } from '#base'
import { AGENT_NAMES, toResumeCommand } from '#model'
import { toShellLine } from '#render'
import { readNativeAgent, type ConvertOutcome } from '#wire'
import type { Values } from './command-line.ts'
import type { Console } from './console.ts'
import { toJsonLine } from './json.ts'
import { toLossLines } from './losses.ts'
import type { Terminal } from './terminal.ts'

/** `throughline resume --in`: writes the session for another agent, and goes on there in this terminal. */
export async function resumeElsewhere(
  throughline: Throughline,
  id: string,
  {
    values,
    console,
    terminal,
    env,
    prompt,
  }: {
    readonly values: Values
    readonly console: Console
    /** Absent in a script: then only the command is told. */
    readonly terminal: Terminal | undefined
    readonly env: Readonly<Record<string, string | undefined>>
    /** What is said first there. */
    readonly prompt: string | undefined
  },
): Promise<number> {
  const workdir = values.value('workdir')
  const request = {
    to: readNativeAgent(values.value('in') ?? ''),
    ...(workdir === undefined ? {} : { workdir: resolve(workdir) }),
  }
  const before = await throughline.restoring.convert(id, { ...request, dryRun: true })
  for (const line of toLossLines(before.losses, console)) console.say(line)
  if (before.losses.length > 0 && terminal !== undefined && !values.flag('yes')) {
    const answer = await terminal.ask(`Go on in ${AGENT_NAMES[request.to]}? [Y/n] `)
    if (answer === undefined || /^n/iu.test(answer.trim())) return 1
  }
  const written = await throughline.restoring.convert(id, request)
  const outcome = { ...written, command: toResumeCommand(written.agent, written.sessionId, prompt) }
  if (values.flag('json')) await console.out.write(toJsonLine(outcome))
  if (terminal === undefined || values.flag('detach')) {
    console.say(`Written as ${outcome.sessionId}.`)
    console.say(`next: ${toShellLine(outcome.command, outcome.workdir)}`)
    return 0
  }
  terminal.close()
  return await runHere(outcome, env)
}

/** The agent has the terminal from here on, and its exit code is ours. */
async function runHere(
  { command, workdir, agent }: ConvertOutcome,
  env: Readonly<Record<string, string | undefined>>,
): Promise<number> {
  const [program = '', ...args] = command
  const child = spawn(program, args, { cwd: workdir, stdio: 'inherit', env: { ...env } })
  process.on('SIGINT', leaveToAgent)
  try {
    return await new Promise<number>((done, fail) => {
      child.on('error', () =>
        fail(
          new ThroughlineError('driver-unavailable', `${program} could not be started`, {
            hint: `The session is written. Install ${AGENT_NAMES[agent]}, then run: ${toShellLine(command, workdir)}`,
          }),
        ),
      )
      child.on('close', (code) => done(code ?? 1))
    })
  } finally {
    process.off('SIGINT', leaveToAgent)
  }
}

/** Ctrl-C is for the agent. */
function leaveToAgent(): void {}
