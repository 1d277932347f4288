import { setImmediate } from 'node:timers/promises'
import type { SessionSummary } from '#model'
import type { SessionFiles } from './source.ts'

/** Files looked at before other work gets its turn. */
const BREATH = 64

/** Looks at every session's files, in slices. */
export async function lookAtAll(
  all: readonly SessionFiles[],
  look: (files: SessionFiles) => SessionSummary,
): Promise<readonly SessionSummary[]> {
  const sessions: SessionSummary[] = []
  for (const [index, files] of all.entries()) {
    if (index % BREATH === BREATH - 1) await setImmediate()
    sessions.push(look(files))
  }
  return sessions
}
