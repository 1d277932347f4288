import { sep } from 'node:path'
import type { LiveState, SessionSummary, SubagentSummary } from '#model'
import { readForward } from '../forward.ts'
import { lookAtAll } from '../look-at-all.ts'
import { bySession, toLive, type Holder, type Registry } from '../holder.ts'
import type { SessionFiles, Source, SourceFiles, SourceList, SourceProblem } from '../source.ts'
import { openTranscript, type Meter } from '../transcript-file.ts'
import { createGlance } from './glance.ts'
import { createPlaceFinder, findFolders, findTranscripts, stampOfFolders } from './layout.ts'
import { claudeFormat } from './read-line.ts'
import { createRegistry } from './registry.ts'
import { NO_SIDE, readCleanupDays, readSide, summariseSubagent } from './side-files.ts'
import { summarise } from './summary.ts'
import { createBillReader } from './usage-scan.ts'
import { findWorkdirsOf } from './workdirs.ts'

/** Reads what Claude Code keeps under its config folder. Never writes there. */
export function createClaudeSource(configDir: string, meter?: Meter): Source {
  const glance = createGlance()
  const registry = createRegistry(configDir)

  function look(files: SessionFiles): SessionSummary {
    const { sideDir, loose = [] } = files
    const side = sideDir === undefined ? NO_SIDE : readSide(sideDir)
    const subagents = loose.length === 0 ? side.subagents : [...side.subagents, ...loose]
    return summarise(files, { agent: 'claude', side: { ...side, subagents }, glance, meter })
  }

  return {
    agent: 'claude',
    root: configDir,
    format: claudeFormat,
    rewritesInPlace: false,
    findPlace: createPlaceFinder(configDir),
    at: (other) => createClaudeSource(other, meter),
    folders: (under) => findFolders(configDir, under),
    find: () => findSessions(configDir),
    stamp: (now) => stampOfFolders(configDir, now),
    registry,
    look,
    live: () => readLive(registry),
    list: () => listSessions(configDir, look, registry),
    createBillReader,
    findWorkdirs: (path) => findWorkdirsOf(path, meter),
  }
}

async function findSessions(configDir: string): Promise<SourceFiles> {
  const layout = findTranscripts(configDir)
  const loose = await findLooseOwners(layout.looseSubagents, new Set(layout.sessions.map(({ id }) => id)))
  const sessions =
    loose.owned.size === 0
      ? layout.sessions
      : layout.sessions.map((files) => {
          const owned = loose.owned.get(files.id)
          return owned === undefined ? files : { ...files, loose: owned }
        })
  const problems = layout.problems.map((problem) => ({
    ...problem,
    hint: 'Nothing else is affected. Move it away, or put a folder or a file there.',
  }))
  return {
    sessions: [...sessions, ...loose.orphans.map((path) => ({ id: summariseSubagent(path).id, path }))],
    problems: [...problems, ...cleanupProblems(configDir)],
  }
}

async function listSessions(
  configDir: string,
  look: Source['look'],
  registry: Registry,
): Promise<SourceList> {
  const { sessions: all, problems } = await findSessions(configDir)
  const holders = bySession(registry.read().holders)
  const sessions = await lookAtAll(all, (files) => {
    const summary = look(files)
    const held = holders.get(files.id)
    return held === undefined ? summary : { ...summary, live: liveOf(summary, held) }
  })
  return { sessions, problems }
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

function readLive(registry: Registry): ReadonlyMap<string, LiveState> {
  const live = new Map<string, LiveState>()
  for (const [sessionId, holders] of bySession(registry.read().holders)) {
    const state = toLive(holders, {})
    if (state !== undefined) live.set(sessionId, state)
  }
  return live
}

function liveOf({ lastActivityAt }: SessionSummary, holders: readonly Holder[]): LiveState | undefined {
  const ms = Date.parse(lastActivityAt ?? '')
  return toLive(holders, { lastActivityMs: Number.isNaN(ms) ? undefined : ms })
}

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
