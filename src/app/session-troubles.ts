import { existsSync } from 'node:fs'
import { AGENT_NAMES, isNativeAgent, type SessionSummary, type Trouble, type TroubleKind } from '#model'
import { findTroubles } from '#restore'
import type { Finding } from '#wire'
import { windowIn } from './model-windows.ts'
import { readEntries } from './session-entries.ts'

/** From here on a session is not held in memory to be looked at. */
const LARGE_BYTES = 64 * 1024 * 1024

/** What is told of every session that is checked, in words of its own. */
const TOLD: ReadonlySet<TroubleKind> = new Set(['call-unanswered', 'result-orphaned', 'workdir-gone'])

/** What would fail the next request, as findings of a check. */
export async function findSessionTroubles(session: SessionSummary): Promise<readonly Finding[]> {
  if (session.size > LARGE_BYTES) return []
  const entries = await readEntries(session.path)
  const window = windowIn(entries)
  return findTroubles(entries, { window, hasFolder: existsSync, agent: session.agent })
    .filter(({ kind }) => !TOLD.has(kind))
    .map((trouble) => toFinding(trouble, session))
}

function toFinding(
  { kind, reason, fix, place, origin, mend, isHandled }: Trouble,
  { id, path, agent }: SessionSummary,
): Finding {
  const next =
    mend !== undefined
      ? ` On a copy: \`throughline repair ${id}\`.`
      : kind === 'context-too-long'
        ? ` \`throughline compact ${id}\`.`
        : ''
  return {
    severity: isHandled === true ? 'note' : 'warning',
    code: kind,
    message: reason,
    hint: `${isHandled === true ? `${nameOf(agent)} puts it right itself when it resumes. ` : ''}${fix}${next}`,
    path,
    offset: place.offset,
    length: place.length,
    entryId: origin.entryId,
  }
}

function nameOf(agent: string): string {
  return isNativeAgent(agent) ? AGENT_NAMES[agent] : agent
}
