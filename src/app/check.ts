import { existsSync, statSync } from 'node:fs'
import { createLedger, isLive, type Damage, type SessionSummary, type SurveyResult } from '#model'
import type { CheckReport, Finding } from '#wire'
import { checkRecording } from './check-recording.ts'
import { surveySession } from './survey-session.ts'

/** Reads a session whole and says what is wrong with it, where, why, and what to do. */
export async function checkSession(session: SessionSummary): Promise<CheckReport> {
  if (session.state === 'unreadable') return toReport(session, undefined, new Map())
  const { result, subagentDamage } = await surveySession(session, createLedger())
  const { findings } = toReport(session, result, subagentDamage)
  const { findSessionTroubles } = await import('./session-troubles.ts')
  const troubles = await findSessionTroubles(session)
  return { session, findings: [...findings, ...troubles, ...checkRecording(session)] }
}

function toReport(
  session: SessionSummary,
  survey: SurveyResult | undefined,
  subagentDamage: ReadonlyMap<string, readonly Damage[]>,
): CheckReport {
  const findings: Finding[] = []
  if (survey === undefined) findings.push(unreadable(session))
  else {
    findings.push(...survey.facts.damage.map((damage) => damaged(session.path, damage)))
    for (const [path, ranges] of subagentDamage)
      findings.push(...ranges.map((damage) => damaged(path, damage)))
    findings.push(...chainFindings(session, survey), ...callFindings(session, survey))
    findings.push(...sessionFindings(session, survey))
  }
  return { session, findings }
}

function unreadable(session: SessionSummary): Finding {
  return {
    severity: 'error',
    code: 'unreadable',
    message: session.problem ?? 'the transcript cannot be read',
    hint: 'Check that the file is there and that you may read it.',
    path: session.path,
  }
}

const DAMAGE: Readonly<Record<Damage['reason'], { readonly message: string; readonly hint: string }>> = {
  torn: {
    message: 'a record breaks off in the middle: its writer was killed, or the disk was full',
    hint: 'Everything before and after it is intact. What was being written then is lost; ask the agent again.',
  },
  glued: {
    message: 'the beginning of a record that another one was written over',
    hint: 'The record behind it was recovered. Two processes may have written this session: check with `throughline ls --live`.',
  },
  'nul-run': {
    message: 'zero bytes, as a file system leaves them after a power cut',
    hint: 'Both sides of them are intact. What stood there is lost.',
  },
  garbage: {
    message: 'bytes that are no record',
    hint: 'Look at them with `throughline show --raw`. The other lines are intact.',
  },
  'too-deep': {
    message: 'a record nested deeper than any client writes',
    hint: 'It is kept as it is and exported byte for byte, but not shown.',
  },
  'blob-missing': {
    message: 'a text of this record is in a file of its own, and that file is not there',
    hint: 'The rest of the record is intact. Look for the file in the `blobs` folder of a backup; its name stands where the text was.',
  },
  'blob-changed': {
    message: 'a text of this record is in a file of its own, and that file was changed',
    hint: 'The rest of the record is intact. Put back the file from a backup: its name is the hash of what it has to say.',
  },
}

function damaged(path: string, damage: Damage): Finding {
  const { reason, offset, length } = damage
  return { severity: 'error', code: reason, ...DAMAGE[reason], path, offset, length }
}

function chainFindings(session: SessionSummary, survey: SurveyResult): Finding[] {
  const { path } = session
  const bridges = survey.chain.bridges.map((bridge): Finding => {
    const missing = bridge.reason === 'missing-parent'
    return {
      severity: 'warning',
      code: missing ? 'dangling-parent' : 'cycle',
      message: missing
        ? `names a parent (${bridge.parentId}) that was never written`
        : `hangs from ${bridge.parentId}, which hangs from it`,
      hint: 'Throughline joined it to the entry before it in the file, so nothing is hidden. The agent itself may resume with less.',
      path,
      entryId: bridge.id,
    }
  })
  const branches = survey.chain.branches.map((branch): Finding => ({
    severity: 'note',
    code: 'branch',
    message: `${branch.size} entries are on a branch that the conversation left`,
    hint: 'They came from a rewind, or from two processes in one session. They are shown and marked.',
    path,
    entryId: branch.leafId,
  }))
  return [...bridges, ...branches]
}

function callFindings(session: SessionSummary, survey: SurveyResult): Finding[] {
  const { path } = session
  const busy = isLive(session.live)
  const unanswered = survey.unanswered.map((id): Finding => ({
    severity: busy ? 'note' : 'warning',
    code: 'unanswered-call',
    message: `the tool call ${id} has no result`,
    hint: busy
      ? 'The session is running; it may still come.'
      : 'The agent was stopped while the tool ran. Whether the tool did its work is not recorded: check before you repeat it.',
    path,
  }))
  const orphans = survey.orphans.map((entryId): Finding => ({
    severity: 'warning',
    code: 'orphan-result',
    message: 'a tool result without its call',
    hint: 'The call was on a line that is lost or on another branch. The result is shown where it stands.',
    path,
    entryId,
  }))
  return [...unanswered, ...orphans]
}

function sessionFindings(session: SessionSummary, survey: SurveyResult): Finding[] {
  const { path } = session
  const findings: Finding[] = []
  if (survey.facts.prompts === 0 && survey.facts.replies === 0) {
    findings.push({
      severity: 'note',
      code: 'empty',
      message: 'nobody said anything in this session',
      hint: 'Nothing is missing, unless you remember otherwise.',
      path,
    })
  }
  const [workdir] = survey.workdirs
  if (workdir !== undefined && !isFolder(workdir)) {
    findings.push({
      severity: 'note',
      code: 'workdir-gone',
      message: `its working directory ${workdir} is not there`,
      hint: 'The session is whole. To resume it, restore or link the folder first.',
      path,
    })
  }
  for (const [type, count] of Object.entries(survey.facts.unknownTypes)) {
    findings.push({
      severity: 'note',
      code: 'unknown-type',
      message: `${count} × a line type this version does not know: ${JSON.stringify(type)}`,
      hint: 'The lines are kept and exported. A newer Throughline may show more of them.',
      path,
    })
  }
  return findings
}

function isFolder(path: string): boolean {
  return existsSync(path) && statSync(path).isDirectory()
}
