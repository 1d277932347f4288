/** An agent whose own sessions can be written, and gone on with by its program. */
export type NativeAgent = 'claude' | 'codex' | 'gemini' | 'opencode'

export const NATIVE_AGENTS: readonly NativeAgent[] = ['claude', 'codex', 'gemini', 'opencode']

/** What each is called in a sentence. */
export const AGENT_NAMES: Readonly<Record<NativeAgent, string>> = {
  claude: 'Claude Code',
  codex: 'Codex',
  gemini: 'Gemini CLI',
  opencode: 'opencode',
}

/** Whether sessions can be written for an agent of this name. */
export function isNativeAgent(name: string): name is NativeAgent {
  return NATIVE_AGENTS.some((known) => known === name)
}

/** The command that goes on with a session in a terminal, run in its workdir; with a prompt, which is said first. */
export function toResumeCommand(agent: NativeAgent, sessionId: string, prompt?: string): readonly string[] {
  const said = prompt === undefined ? [] : [prompt]
  switch (agent) {
    case 'claude':
      return ['claude', '--resume', sessionId, ...said.flatMap((text) => ['--', text])]
    case 'codex':
      return ['codex', 'resume', sessionId, ...said.flatMap((text) => ['--', text])]
    case 'gemini':
      return ['gemini', '--resume', sessionId, ...said.map((text) => `--prompt-interactive=${text}`)]
    case 'opencode':
      return ['opencode', '-s', sessionId, ...said.map((text) => `--prompt=${text}`)]
  }
}
