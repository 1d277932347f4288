import { basename } from 'node:path'
import { claudeFormat } from './claude/read-line.ts'
import { codexFormat } from './codex/read-line.ts'
import { isInEntire } from './entire/layout.ts'
import { entireFormat } from './entire/read-line.ts'
import type { LineFormat } from './source.ts'

/**
 * How the lines of a transcript read, told by where it lies: every agent has a layout of its own, and what is kept of
 * it in the archive keeps that layout. So whoever has a path, in any thread, needs nobody to ask.
 */
export function formatOf(path: string): LineFormat {
  if (isInEntire(path)) return entireFormat
  return basename(path).startsWith('rollout-') ? codexFormat : claudeFormat
}
