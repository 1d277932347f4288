import { sep } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { shorten, ThroughlineError } from '#base'
import type { LiveState, SessionSummary, SubagentSummary } from '#model'
import { readForward } from '../forward.ts'
import type { Source, SourceList, SourceProblem } from '../source.ts'
import { openTranscript, type Meter } from '../transcript-file.ts'
import { createGlance, type Glance } from './glance.ts'
import { findTranscripts, type SessionFiles } from './layout.ts'
import { claudeFormat } from './read-line.ts'
import { readRegistry } from './registry.ts'
import {
  readArchived,
  readCleanupDays,
  readCustomTitle,
  readSubagents,
  readToolResults,
  summariseSubagent,
} from './side-files.ts'
import { findWorkdirs } from './workdirs.ts'

/** Files looked at before other work gets its turn. */
const BREATH = 64

/** Reads what Claude Code keeps under its config folder. Never writes there. */
export function createClaudeSource(configDir: string, meter?: Meter): Source {
  return {
    agent: 'claude',
    root: configDir,
    format: claudeFormat,
    list: () => listSessions(configDir, meter),
    async findWorkdirs(path) {
      const file = openTranscript(path, meter)
      try {
        return await findWorkdirs(file)
      } finally {
        file.close()
      }
    },
  }
}

async function listSessions(configDir: string, meter: Meter | undefined): Promise<SourceList> {
  const layout = findTranscripts(configDir)
  const live = readRegistry(configDir)
  const loose = await findLooseOwners(layout.looseSubagents, new Set(layout.sessions.map(({ id }) => id)))
  const glance = createGlance()
  const sessions: SessionSummary[] = []
  const all = [...layout.sessions, ...loose.orphans.map((path) => ({ id: summariseSubagent(path).id, path }))]
  for (const [index, files] of all.entries()) {
    if (index % BREATH === BREATH - 1) await setImmediate()
    const state = live.get(files.id)
    sessions.push(summarise(files, glance, { live: state, loose: loose.owned.get(files.id) ?? [], meter }))
  }
  const problems = layout.problems.map((problem) => ({
    ...problem,
    hint: 'Nothing else is affected. Move it away, or put a folder or a file there.',
  }))
  return { sessions, problems: [...problems, ...cleanupProblems(configDir)] }
}

/** With 0 some versions of Claude Code keep nothing at all. */
function cleanupProblems(configDir: string): readonly SourceProblem[] {
  if (readCleanupDays(configDir) !== 0) return []
  return [
    {
      path: `${configDir}${sep}settings.json`,
      message: 'cleanupPeriodDays is 0, and some versions of Claude Code then save no transcripts at all',
      hint: 'Set it to a large number, for example 3650, to keep them for ten years.',
    },
  ]
}

function summarise(
  files: SessionFiles,
  glance: (file: ReturnType<typeof openTranscript>) => Glance,
  known: {
    readonly live: LiveState | undefined
    readonly loose: readonly SubagentSummary[]
    readonly meter: Meter | undefined
  },
): SessionSummary {
  const { id, path, sideDir } = files
  const { live, loose, meter } = known
  const subagents = sideDir === undefined ? loose : [...readSubagents(sideDir), ...loose]
  const toolResults = sideDir === undefined ? [] : readToolResults(sideDir)
  const archived = sideDir !== undefined && readArchived(sideDir)
  try {
    const file = openTranscript(path, meter)
    try {
      const seen = glance(file)
      const customTitle = (sideDir === undefined ? undefined : readCustomTitle(sideDir)) ?? seen.customTitle
      return {
        id,
        agent: 'claude',
        path,
        size: file.size,
        ...nameOf(customTitle, seen.agentTitle, seen.firstPrompt),
        firstPrompt: seen.firstPrompt,
        workdirs: seen.workdirs,
        workdirsComplete: seen.workdirsComplete,
        gitBranch: seen.gitBranch,
        createdAt: seen.createdAt,
        lastActivityAt: seen.lastActivityAt,
        subagents,
        toolResults,
        live,
        archived,
        state: seen.state,
      }
    } finally {
      file.close()
    }
  } catch (error) {
    const problem = error instanceof ThroughlineError ? error.message : String(error)
    const nothing = { size: 0, workdirs: [], workdirsComplete: false, subagents, toolResults }
    return { id, agent: 'claude', path, ...nothing, live, archived, state: 'unreadable', problem }
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
  if (firstPrompt === undefined) return { name: undefined, nameFrom: undefined }
  const start = firstPrompt.slice(0, 2 * NAME_LENGTH).trim()
  const oneLine = start.includes('\n') || start.includes('\t') ? start.replaceAll(/\s+/g, ' ') : start
  return { name: shorten(oneLine, NAME_LENGTH), nameFrom: 'prompt' }
}

const NAME_LENGTH = 120

interface LooseOwners {
  readonly owned: ReadonlyMap<string, readonly SubagentSummary[]>
  /** Those whose session is gone are listed as sessions of their own: what was said there is not hidden. */
  readonly orphans: readonly string[]
}

/** Older versions put subagents beside the sessions, in any project; their lines name the session. */
async function findLooseOwners(
  paths: readonly string[],
  sessions: ReadonlySet<string>,
): Promise<LooseOwners> {
  const owned = new Map<string, SubagentSummary[]>()
  const orphans: string[] = []
  for (const path of paths) {
    const owner = await readOwner(path)
    if (owner === undefined || !sessions.has(owner)) orphans.push(path)
    else owned.set(owner, [...(owned.get(owner) ?? []), summariseSubagent(path)])
  }
  return { owned, orphans }
}

async function readOwner(path: string): Promise<string | undefined> {
  try {
    const file = openTranscript(path)
    try {
      for await (const { readings } of readForward(file, claudeFormat, { chunk: 16 * 1024 })) {
        for (const reading of readings) {
          if (reading.kind === 'entry' && reading.entry.sessionId !== undefined)
            return reading.entry.sessionId
        }
      }
    } finally {
      file.close()
    }
  } catch {
    // It is listed as a session of its own, and that listing says what is wrong with it.
  }
  return undefined
}
