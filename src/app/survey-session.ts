import {
  appendDamage,
  createSurvey,
  type Damage,
  type Entry,
  type SessionSummary,
  type SurveyResult,
  type UsageLedger,
  type Reading,
} from '#model'
import { formatOf, openTranscript, readForward } from '#sources'
import { inSteps } from './in-steps.ts'

/** Reads a session and its subagents whole. `see` is shown every entry, with the file that it is in. */
export async function surveySession(
  session: SessionSummary,
  ledger: UsageLedger,
  see: (entry: Entry, path: string) => void = () => undefined,
): Promise<{
  readonly result: SurveyResult
  readonly subagentDamage: ReadonlyMap<string, readonly Damage[]>
}> {
  const survey = createSurvey(session.id, ledger)
  await each(
    session.path,
    (reading) => {
      if (reading.kind === 'entry') {
        survey.addEntry(reading.entry)
        see(reading.entry, session.path)
      } else survey.addDamage(reading.damage)
    },
    (lines) => survey.addLines(lines),
  )
  const subagentDamage = new Map<string, Damage[]>()
  for (const { path } of session.subagents) {
    const damage: Damage[] = []
    await each(path, (reading) => {
      if (reading.kind === 'entry') {
        survey.addSubagentEntry(reading.entry, path)
        see(reading.entry, path)
      } else appendDamage(damage, reading.damage)
    })
    if (damage.length > 0) subagentDamage.set(path, damage)
  }
  return { result: await inSteps(survey.finishing()), subagentDamage }
}

async function each(
  path: string,
  tell: (reading: Reading) => void,
  countLines?: (lines: number) => void,
): Promise<void> {
  const file = openTranscript(path)
  try {
    for await (const batch of readForward(file, formatOf(path))) {
      countLines?.(batch.lineStarts.length)
      for (const reading of batch.readings) tell(reading)
    }
  } finally {
    file.close()
  }
}
