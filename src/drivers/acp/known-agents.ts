import { string } from '#base'
import type { PermissionMode } from '#model'
import { OPENCODE_ASKING } from '../opencode/asking-setup.ts'

/** How an agent's program is run. */
export interface RunPlace {
  readonly command: string
  readonly args: readonly string[]
  readonly workdir: string
  readonly env: Readonly<Record<string, string>>
}

/** What is done so that an agent asks a person that would not by itself. */
export interface AskingSetup {
  /** Gives the environment in which it asks. Rejects where that cannot be made. */
  readonly prepare: (place: RunPlace) => Promise<Readonly<Record<string, string>>>
  /** Whether a version of the agent is known to obey it, and which ones are, in words. */
  readonly isKnown: (version: string) => boolean
  readonly known: string
  /** What is approved without a person in the modes that the agent does not have: calls of these kinds. */
  readonly approves: Readonly<Partial<Record<PermissionMode, (kind: string) => boolean>>>
}

/** An agent that speaks the Agent Client Protocol, and how a person gets it. */
export interface KnownAgent {
  /** What the agent is called in a sentence. */
  readonly title: string
  readonly command: string
  readonly args: readonly string[]
  /** What to run when the command is not there. */
  readonly install: string
  /** What to run when nobody is logged in. */
  readonly login: string
  readonly asking?: AskingSetup | undefined
  /** It loses the images of a prompt that an attachment comes with: everything is sent another way. */
  readonly losesImages?: boolean | undefined
  /** The name of the tool that a call is of, where the protocol has no place for it. */
  readonly toolOf?: ((call: unknown) => string | undefined) | undefined
}

/** The agents that need no configuration. Any other one works too, with its own command. */
export const KNOWN_AGENTS: Readonly<Record<'codex' | 'gemini' | 'opencode', KnownAgent>> = {
  codex: {
    title: 'Codex',
    command: 'codex-acp',
    args: [],
    install: 'npm install -g @agentclientprotocol/codex-acp',
    login: 'codex login',
  },
  gemini: {
    title: 'Gemini CLI',
    command: 'gemini',
    args: ['--acp'],
    install: 'npm install -g @google/gemini-cli',
    login: 'gemini',
    losesImages: true,
    toolOf: (call) => /^([a-z][a-z0-9_]*?)__/iu.exec(string(call, 'toolCallId') ?? '')?.[1],
  },
  opencode: {
    title: 'opencode',
    command: 'opencode',
    args: ['acp'],
    install: 'npm install -g opencode-ai',
    login: 'opencode auth login',
    asking: OPENCODE_ASKING,
    // Until a call has its input, its title is the name of the tool.
    toolOf: (call) => (string(call, 'status') === 'pending' ? findToolName(call) : undefined),
  },
}

function findToolName(call: unknown): string | undefined {
  return /^[a-z][\w.-]*$/iu.exec(string(call, 'title') ?? '')?.[0]
}
