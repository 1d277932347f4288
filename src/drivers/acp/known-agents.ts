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
  },
  opencode: {
    title: 'opencode',
    command: 'opencode',
    args: ['acp'],
    install: 'npm install -g opencode-ai',
    login: 'opencode auth login',
  },
}
