import { join } from 'node:path'
import { createClaudeLayout, type Meter, type Source } from '#sources'

/** What conversations are listed under that came out of another program's database. */
export const IMPORTED = 'imported'

/** Agents whose sessions are recorded in the home: they leave no transcript that can be read, or it was on another disk. */
const RECORDED: readonly string[] = ['scripted', 'codex', 'gemini', 'opencode', 'claude', IMPORTED]

/** Where the recordings of an agent are, in the layout of Claude Code. */
export function recordedFolder(home: string, agent: string): string {
  return join(recordedRoot(home, agent), 'projects')
}

function recordedRoot(home: string, agent: string): string {
  return join(home, 'recorded', agent)
}

/** What was recorded of agents that leave no transcript of their own, each under its agent's name. */
export function createRecordedSources(home: string, meter?: Meter): readonly Source[] {
  return RECORDED.map((agent) => createClaudeLayout(agent, recordedRoot(home, agent), meter))
}
