import { join } from 'node:path'
import { isLive, type SessionSummary } from '#model'
import { findSessionJournal, readAudit } from '#live'
import type { Finding } from '#wire'
import { countDamagedLines } from './home-damage.ts'

/** Damage in the files that Throughline keeps beside a session: its journal, audit log, compactions and wake-ups. */
export async function checkOwnLogs(
  { id, live }: Pick<SessionSummary, 'id' | 'live'>,
  home: string,
  now: number,
): Promise<readonly Finding[]> {
  const journal = await findSessionJournal(home, id)
  const logs = [
    ...(journal === undefined ? [] : [{ path: journal, holds: 'prompts, approvals and words in flight' }]),
    { path: join(home, 'compactions', `${id}.jsonl`), holds: 'compactions and their undo' },
    { path: join(home, 'wake-ups', `${id}.jsonl`), holds: 'what the session was told at its start' },
  ]
  const findings: Finding[] = []
  for (const { path, holds } of logs) {
    const lines = await countDamagedLines(path, now)
    if (lines === 0) continue
    findings.push({
      severity: 'error',
      code: 'own-log-damaged',
      message: `${lines === 1 ? '1 line' : `${lines} lines`} of a file that Throughline keeps cannot be read, so ${holds} may be incomplete`,
      hint: 'The other lines are intact, and the bytes stay in the file. Restore the file from a backup.',
      path,
    })
  }
  const { verdict } = await readAudit(home, id)
  // Beside a running session the last line may still be on its way.
  const isGrowing = live !== undefined && isLive(live)
  if (verdict.kind === 'broken' && !(isGrowing && verdict.why === 'cut-at-end'))
    findings.push({
      severity: 'error',
      code: 'audit-broken',
      message: `line ${verdict.line} of the audit log is not as it was written`,
      hint: `See \`throughline audit ${id.slice(0, 8)}\`. Restore the file from a backup.`,
      path: join(home, 'audit', `${id}.jsonl`),
    })
  return findings
}
