import { existsSync } from 'node:fs'
import type { SessionSummary, Trouble, TroubleKind } from '#model'
import { findTroubles } from '#restore'
import type { Finding } from '#wire'
import { windowOf } from './model-windows.ts'
import { readEntries } from './session-entries.ts'

/** From here on a session is not held in memory to be looked at. */
const LARGE_BYTES = 64 * 1024 * 1024

/** What is told of every session that is checked, in words of its own. */
const TOLD: ReadonlySet<TroubleKind> = new Set(['call-unanswered', 'result-orphaned', 'workdir-gone'])

/** What would fail the next request, as findings of a check. */
export async function findSessionTroubles(session: SessionSummary): Promise<readonly Finding[]> {
  if (session.size > LARGE_BYTES) return []
  const entries = await readEntries(session.path)
  const last = entries.findLast((entry) => entry.kind === 'reply' && !entry.synthetic)
  const window = windowOf(last?.kind === 'reply' ? last.model : undefined)
  return findTroubles(entries, { window, hasFolder: existsSync })
    .filter(({ kind }) => !TOLD.has(kind))
    .map((trouble) => toFinding(trouble, session))
}

function toFinding(
  { kind, reason, fix, place, origin, mend }: Trouble,
  { id, path }: SessionSummary,
): Finding {
  const next =
    mend !== undefined
      ? ` On a copy: \`throughline repair ${id}\`.`
      : kind === 'context-too-long'
        ? ` \`throughline compact ${id}\`.`
        : ''
  return {
    severity: 'warning',
    code: kind,
    message: reason,
    hint: `${fix}${next}`,
    path,
    offset: place.offset,
    length: place.length,
    entryId: origin.entryId,
  }
}
