import type { VNode } from 'preact'

const LETTERS: Readonly<Record<string, string>> = { claude: 'C', codex: 'X', gemini: 'G', opencode: 'O' }

/** Whose session it is, in one letter. */
export function AgentIcon({ agent }: { agent: string }): VNode {
  return (
    <span
      class={`agent-icon ${Object.hasOwn(LETTERS, agent) ? agent : ''}`}
      title={agent}
      role="img"
      aria-label={agent}
    >
      {LETTERS[agent] ?? agent.slice(0, 1).toUpperCase()}
    </span>
  )
}
