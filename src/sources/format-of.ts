import { basename, dirname } from 'node:path'
import { ThroughlineError } from '#base'
import { claudeFormat } from './claude/read-line.ts'
import { codexFormat } from './codex/read-line.ts'
import { isInEntire } from './entire/layout.ts'
import { entireFormat } from './entire/read-line.ts'
import type { LineFormat } from './source.ts'

/**
 * How the lines of a transcript read, told by where it lies: every agent has a layout of its own, and what is kept of
 * it in the archive keeps that layout. So whoever has a path, in any thread, needs nobody to ask. Throws
 * `not-a-transcript` for a file that no agent names so, or whose lines are not read as they stand.
 */
export function formatOf(path: string): LineFormat {
  if (isInEntire(path)) return entireFormat
  const name = basename(path)
  if (name.startsWith('rollout-')) return codexFormat
  if (!name.endsWith('.jsonl') || isGeminiChat(path)) throw notReadByPath(path)
  return claudeFormat
}

/** A log of operations: a session is what they come to. */
function isGeminiChat(path: string): boolean {
  return basename(path).startsWith('session-') && basename(dirname(path)) === 'chats'
}

function notReadByPath(path: string): ThroughlineError {
  const what = isGeminiChat(path)
    ? 'is a chat of Gemini CLI'
    : 'has no name that an agent gives to a transcript'
  return new ThroughlineError('not-a-transcript', `${path} ${what}`, {
    hint: 'By their path are read `<id>.jsonl` of Claude Code and `rollout-….jsonl` of Codex. `createGeminiSource` and `createOpencodeSource` of throughline/sources find the sessions of the others.',
  })
}
