import type { NativeAgent } from '#model'
import type { Said } from '../said.ts'
import { toSingleIds } from '../single-ids.ts'
import { toClaudeSession } from './claude.ts'
import { toCodexSession } from './codex.ts'
import { toGeminiSession } from './gemini.ts'
import { toOpencodeSession } from './opencode.ts'
import type { NativeFacts, NativeSession } from './session.ts'

/** A conversation as a session of the agent that is named. */
export function toNativeSession(agent: NativeAgent, said: Said, facts: NativeFacts): NativeSession {
  return WRITERS[agent](toSingleIds(said), facts)
}

const WRITERS: Readonly<Record<NativeAgent, (said: Said, facts: NativeFacts) => NativeSession>> = {
  claude: toClaudeSession,
  codex: toCodexSession,
  gemini: toGeminiSession,
  opencode: toOpencodeSession,
}
