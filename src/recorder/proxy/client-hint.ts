import { list, number, object, parseJson, string } from '#base'
import type { ModelRequest } from '../streams/model-request.ts'
import type { ConversationHint } from './conversation-facts.ts'

export type HeaderReader = (name: string) => string | undefined

/** What clients say of themselves in headers and beside the turns: Claude Code, Codex, and whoever names a session. */
export function readHint(header: HeaderReader, body: unknown, request: ModelRequest): ConversationHint {
  const { clientSessionId, agentId } = readSession(header, body)
  const cwd = findWorkdir(request)
  return {
    ...readAgent(header),
    ...(clientSessionId === undefined ? {} : { clientSessionId }),
    ...(agentId === undefined ? {} : { agentId: toFileName(agentId) }),
    ...(cwd === undefined ? {} : { cwd }),
    purpose: isAside(body) ? 'aside' : 'turn',
  }
}

function readSession(
  header: HeaderReader,
  body: unknown,
): { readonly clientSessionId?: string | undefined; readonly agentId?: string | undefined } {
  const claude = header('x-claude-code-session-id')
  if (claude !== undefined) return { clientSessionId: claude, agentId: header('x-claude-code-agent-id') }
  // Codex: a thread of its own below a session is somebody it sent.
  const session = header('session-id') ?? header('session_id')
  if (session !== undefined) {
    const thread = header('thread-id') ?? header('conversation_id')
    return { clientSessionId: session, agentId: thread === session ? undefined : thread }
  }
  const user = parseJson(string(object(body, 'metadata'), 'user_id') ?? '')
  return { clientSessionId: string(user, 'session_id') ?? header('x-session-id') }
}

/** `claude-cli/2.1.325 (external, cli)`: a name and a version. Libraries are not the agent. */
function readAgent(header: HeaderReader): Pick<ConversationHint, 'agent' | 'version'> {
  const [, name, version] = /^([\w.@ -]+?)\/v?(\d[\w.+-]*)/u.exec(header('user-agent') ?? '') ?? []
  if (name === undefined || version === undefined || LIBRARIES.test(name)) return {}
  return { agent: AGENTS.find(([pattern]) => pattern.test(name))?.[1] ?? name.toLowerCase(), version }
}

const AGENTS: readonly (readonly [RegExp, string])[] = [
  [/^claude/iu, 'claude-code'],
  [/^codex/iu, 'codex'],
  [/^gemini/iu, 'gemini-cli'],
]

const LIBRARIES =
  /^(?:anthropic|openai|google-genai|genai|async|ai|ai-sdk|node|node-fetch|undici|axios|bun|deno|python|python-requests|python-httpx|httpx|aiohttp|go-http-client|curl|wget|reqwest|okhttp|java|mozilla)\b/iu

/**
 * Titles, topics and summaries are asked for with a format for the answer, or without any tool; the loop of an agent
 * offers its tools.
 */
function isAside(body: unknown): boolean {
  const hasTools =
    list(body, 'tools').length > 0 ||
    list(body, 'functions').length > 0 ||
    list(body, 'input').some((item) => string(item, 'type') === 'additional_tools')
  return !hasTools || object(body, 'output_config')?.['format'] !== undefined
}

/** Whether a request only asks whether there is somebody: one token is no answer. */
export function isProbe(body: unknown): boolean {
  const most =
    number(body, 'max_tokens') ?? number(body, 'max_output_tokens') ?? number(body, 'max_completion_tokens')
  return most !== undefined && most <= 1
}

/** The folder that Claude Code and Codex name to the model. */
function findWorkdir({ system, turns }: ModelRequest): string | undefined {
  const inSystem = /^[ \t*-]*(?:Primary working|Working) directory: (\/.*)$/mu.exec(system)?.[1]
  if (inSystem !== undefined) return inSystem.trim()
  for (const { content } of turns.slice(0, 4)) {
    for (const block of content) {
      const text = string(block, 'text') ?? ''
      const found =
        /<cwd>(\/[^<]*)<\/cwd>/u.exec(text)?.[1] ??
        /^[ \t*-]*(?:Primary working|Working) directory: (\/.*)$/mu.exec(text)?.[1]
      if (found !== undefined) return found.trim()
    }
  }
  return undefined
}

function toFileName(id: string): string {
  return id.replaceAll(/[^A-Za-z0-9_-]/gu, '-').slice(0, 128)
}
