import { existsSync, statSync } from 'node:fs'
import { createLedger, isLive, type Damage, type SessionSummary, type SurveyResult } from '#model'
import { toCount } from '#render'
import type { CheckReport, Finding } from '#wire'
import { checkRecording } from './check-recording.ts'
import type { FileCheck } from './file-check.ts'
import { surveySession } from './survey-session.ts'

/** Where our own files are, and the time in milliseconds. */
export interface CheckPlace {
  readonly home: string
  readonly now: number
}

/** Reads a session whole and says what is wrong with it, where, why, and what to do. */
export async function checkSession(session: SessionSummary, { home, now }: CheckPlace): Promise<CheckReport> {
  const { checkOwnLogs } = await import('./own-log-check.ts')
  const own = await checkOwnLogs(session, home, now)
  if (session.state === 'unreadable') return { session, findings: [unreadable(session), ...own] }
  const { createFileCheck } = await import('./file-check.ts')
  const files = new Map<string, FileCheck>()
  const checkOf = (path: string): FileCheck => {
    const file = files.get(path) ?? createFileCheck(path)
    files.set(path, file)
    return file
  }
  const { result, subagentDamage } = await surveySession(session, createLedger(), (entry, path) =>
    checkOf(path).add(entry),
  )
  const { findSessionTroubles } = await import('./session-troubles.ts')
  const troubles = await findSessionTroubles(session)
  const { spine } = result.chain
  const told = new Set(
    troubles.flatMap(({ code, entryId }) => (code === 'block-malformed' ? (entryId ?? []) : [])),
  )
  const state = { isBusy: isLive(session.live), isCurrent: (id: string) => spine.has(id), told }
  const file = checkOf(session.path)
  const findings = [
    ...result.facts.damage.map((damage) => damaged(session.path, damage)),
    ...[...subagentDamage].flatMap(([path, ranges]) => ranges.map((damage) => damaged(path, damage))),
    ...file.finish(state),
    ...chainFindings(session, result, file),
    ...[...files].flatMap(([path, other]) =>
      path === session.path ? [] : other.finish({ ...state, isCurrent: () => false }),
    ),
    ...sessionFindings(session, result, file),
    ...troubles,
    ...checkRecording(session),
    ...own,
  ]
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
    message: 'zero bytes, as a file system leaves them after a crash',
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
  const { message, hint } = DAMAGE[reason]
  const bytes = reason === 'nul-run' ? `${toCount(length)} ` : ''
  return { severity: 'error', code: reason, message: `${bytes}${message}`, hint, path, offset, length }
}

function chainFindings(
  { path }: SessionSummary,
  { chain }: SurveyResult,
  file: FileCheck,
): readonly Finding[] {
  const at = (entryId: string): Pick<Finding, 'path' | 'entryId' | 'offset' | 'length'> => ({
    path,
    entryId,
    ...file.placeOf(entryId),
  })
  const cycles = chain.bridges
    .filter(({ reason }) => reason === 'cycle')
    .map(({ id, parentId }): Finding => ({
      severity: 'warning',
      code: 'cycle',
      message: `hangs from ${parentId}, which hangs from it`,
      hint: 'Throughline joined it to the entry before it in the file, so nothing is hidden. The agent itself may resume with less.',
      ...at(id),
    }))
  const branches = chain.branches.map(({ leafId, size }): Finding => ({
    severity: 'note',
    code: 'branch',
    message: `${size} entries are on a branch that the conversation left`,
    hint: 'They came from a rewind, or from two processes in one session. They are shown and marked.',
    ...at(leafId),
  }))
  return [...cycles, ...branches]
}

function sessionFindings(
  { path }: SessionSummary,
  survey: SurveyResult,
  file: FileCheck,
): readonly Finding[] {
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
      hint: 'To resume it, restore or link the folder, or name another one with --workdir.',
      path,
      ...standing(file.lastCwd()),
    })
  }
  for (const [type, count] of Object.entries(survey.facts.unknownTypes)) {
    findings.push({
      severity: 'note',
      code: 'unknown-type',
      message: `${count} × a line type this version does not know: ${JSON.stringify(type)}`,
      hint: 'The lines are kept and exported. A newer Throughline may show more of them.',
      path,
      ...standing(file.firstOf(type)),
    })
  }
  return findings
}

function standing(of: ReturnType<FileCheck['lastCwd']>): Pick<Finding, 'entryId' | 'offset' | 'length'> {
  return of === undefined ? {} : { entryId: of.entryId, ...of.place }
}

function isFolder(path: string): boolean {
  return existsSync(path) && statSync(path).isDirectory()
}
