import type { Said } from '../said.ts'
import { toClaudeSession } from './claude.ts'
import { toCodexSession } from './codex.ts'
import { toGeminiSession } from './gemini.ts'
import { toOpencodeSession } from './opencode.ts'
import type { NativeAgent, NativeFacts, NativeSession } from './session.ts'

/** A conversation as a session of the agent that is named. */
export function toNativeSession(agent: NativeAgent, said: Said, facts: NativeFacts): NativeSession {
  return WRITERS[agent](said, facts)
}

const WRITERS: Readonly<Record<NativeAgent, (said: Said, facts: NativeFacts) => NativeSession>> = {
  claude: toClaudeSession,
  codex: toCodexSession,
  gemini: toGeminiSession,
  opencode: toOpencodeSession,
}
