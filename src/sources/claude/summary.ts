import { ThroughlineError } from '#base'
import { toPromptTitle, type SessionSummary } from '#model'
import type { SessionFiles } from '../source.ts'
import { openTranscript, type Meter, type TranscriptFile } from '../transcript-file.ts'
import type { Glance } from './glance.ts'
import type { Side } from './side-files.ts'

export interface SummaryOptions {
  readonly agent: string
  readonly side: Side
  readonly glance: (file: TranscriptFile) => Glance
  readonly meter?: Meter | undefined
}

/** What a glance at a transcript and at what lies beside it tells. Of a file that cannot be read, that. */
export function summarise(
  { id, path }: SessionFiles,
  { agent, side, glance, meter }: SummaryOptions,
): SessionSummary {
  const { subagents, toolResults, archived } = side
  try {
    const file = openTranscript(path, meter)
    try {
      const seen = glance(file)
      return {
        id,
        agent,
        path,
        size: file.size,
        ...nameOf(side.customTitle ?? seen.customTitle, seen.agentTitle, seen.firstPrompt),
        firstPrompt: seen.firstPrompt,
        workdirs: seen.workdirs,
        workdirsComplete: seen.workdirsComplete,
        gitBranch: seen.gitBranch,
        createdAt: seen.createdAt,
        lastActivityAt: seen.lastActivityAt,
        subagents,
        toolResults,
        archived,
        state: seen.state,
      }
    } finally {
      file.close()
    }
  } catch (error) {
    const problem = error instanceof ThroughlineError ? error.message : String(error)
    const nothing = { size: 0, workdirs: [], workdirsComplete: false, subagents, toolResults }
    return { id, agent, path, ...nothing, archived, state: 'unreadable', problem }
  }
}

/** Custom name, else the agent's own title, else the first prompt. */
function nameOf(
  customTitle: string | undefined,
  agentTitle: string | undefined,
  firstPrompt: string | undefined,
): Pick<SessionSummary, 'name' | 'nameFrom'> {
  if (customTitle !== undefined) return { name: customTitle, nameFrom: 'custom' }
  if (agentTitle !== undefined) return { name: agentTitle, nameFrom: 'agent' }
  return firstPrompt === undefined ? { name: undefined, nameFrom: undefined } : nameOfPrompt(firstPrompt)
}

export function nameOfPrompt(firstPrompt: string): Pick<SessionSummary, 'name' | 'nameFrom'> {
  return { name: toPromptTitle(firstPrompt), nameFrom: 'prompt' }
}
