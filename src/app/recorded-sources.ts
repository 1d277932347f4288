import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { createClaudeSource, type Meter, type Source } from '#sources'

/** Agents whose sessions are recorded in the home: they leave no transcript that can be read, or it was on another disk. */
const RECORDED: readonly string[] = ['scripted', 'codex', 'gemini', 'opencode', 'claude']

/** Where the recordings of an agent are, in the layout of Claude Code. */
export function recordedFolder(home: string, agent: string): string {
  return join(recordedRoot(home, agent), 'projects')
}

function recordedRoot(home: string, agent: string): string {
  return join(home, 'recorded', agent)
}

/** The ids under which an agent itself knows sessions that were run here. */
export function claimedIn(home: string, agent: string): ReadonlySet<string> {
  try {
    return new Set(readdirSync(join(recordedRoot(home, agent), 'names')))
  } catch {
    return new Set()
  }
}

/** What was recorded of agents that leave no transcript of their own, each under its agent's name. */
export function createRecordedSources(home: string, meter?: Meter): readonly Source[] {
  return RECORDED.map((agent) => {
    const { registry: _none, ...source } = createClaudeSource(recordedRoot(home, agent), meter)
    return {
      ...source,
      agent,
      look: (files) => ({ ...source.look(files), agent }),
      async list() {
        const { sessions, problems } = await source.list()
        return { sessions: sessions.map((session) => ({ ...session, agent })), problems }
      },
    }
  })
}
