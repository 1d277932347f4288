import type { Driver } from '../driver.ts'
import { ACP_ABILITIES } from './acp-session.ts'
import type { KnownAgent } from './known-agents.ts'
import { startAcp } from './running-agent.ts'

/** Which agent is run, and how. */
export interface AcpDriverOptions extends Partial<Omit<KnownAgent, 'command'>> {
  /** `codex`, `gemini`… */
  readonly agent: string
  /** Its program, or that of its adapter: a path, or a name that is looked for on the person's search path. */
  readonly command: string
  /** How long the agent may take to be ready, one minute where it is not given; it may be installed meanwhile. */
  readonly startMs?: number | undefined
  /** How long a turn that is stopped may take to end before the agent is ended; half a minute. */
  readonly stopMs?: number | undefined
}

/**
 * Runs an agent that speaks the Agent Client Protocol on its standard streams. `can` is what the driver can at most;
 * what this agent cannot is told in `started`, and refused with `request-invalid` when it is asked for.
 */
export function createAcpDriver(options: AcpDriverOptions): Driver {
  const { agent, command } = options
  return {
    agent,
    can: ACP_ABILITIES,
    start: (start) =>
      startAcp(start, {
        title: options.title ?? agent,
        command,
        args: options.args ?? [],
        install: options.install ?? `see how ${agent} is installed`,
        login: options.login ?? command,
        asking: options.asking,
        losesImages: options.losesImages,
        toolOf: options.toolOf,
        startMs: options.startMs ?? 60_000,
        stopMs: options.stopMs ?? 30_000,
      }),
  }
}
