import { AGENT_MARK } from '#drivers'

/**
 * What an agent leaves in the environment of what it starts. A daemon that was started out of an agent's shell hands
 * it on, and the next agent takes itself for a part of the first: it asks nobody, and writes no transcript.
 */
const LEFT_BY_AGENTS: readonly RegExp[] = [
  /^CLAUDECODE$/,
  /^CLAUDE_(?:PID|PROJECT_DIR|ENV_FILE|EFFORT|PLUGIN_ROOT|PLUGIN_DATA)$/,
  /^CLAUDE_CODE_(?:ENTRYPOINT|SESSION_ID|SSE_PORT|EXECPATH|CHILD_SESSION|BRIDGE_SESSION_ID|SKIP_PROMPT_HISTORY)$/,
  /^CLAUDE_AGENT_SDK_/,
  /^CODEX_(?:SANDBOX|THREAD_ID|INTERNAL_)/,
  /^GEMINI_CLI$/,
]

/** Ours: what is for the daemon is not for agents. */
const OURS = /^(?:THROUGHLINE_|ALLOWED_ROOTS$)/

/** The environment for an agent, from that of this process. */
export function toAgentEnvironment(
  env: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> {
  const kept: Record<string, string> = {}
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined || name === AGENT_MARK || OURS.test(name)) continue
    if (LEFT_BY_AGENTS.some((mark) => mark.test(name))) continue
    kept[name] = value
  }
  return kept
}
