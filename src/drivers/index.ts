export { AGENT_GONE } from './asking.ts'
export { createAcpDriver } from './acp/acp-driver.ts'
export type { AcpDriverOptions } from './acp/acp-driver.ts'
export { describeAgents } from './agent-list.ts'
export type { AgentPlaces, DescribedAgent } from './agent-list.ts'
export { KNOWN_AGENTS } from './acp/known-agents.ts'
export type { KnownAgent } from './acp/known-agents.ts'
export { createConfiguredDriver, isConfiguredAgent } from './configured-driver.ts'
export type { ConfiguredAgent } from './configured-driver.ts'
export { createClaudeDriver } from './claude/claude-driver.ts'
export type { ClaudeDriverOptions } from './claude/claude-driver.ts'
export { readFolderSettings } from './claude/folder-settings.ts'
export type { FolderSettingsOptions } from './claude/folder-settings.ts'
export { findClaude } from './claude/executable.ts'
export { readHookSituation, readPermissionHook } from './claude/permission-hook.ts'
export type { HookSituation, PermissionHook } from './claude/permission-hook.ts'
export { readSessionStartHook } from './claude/session-start-hook.ts'
export type { SessionStartHook } from './claude/session-start-hook.ts'
export { createStreamReader } from './claude/read-stream.ts'
export type { StreamReader, StreamReaderOptions } from './claude/read-stream.ts'
export {
  AGENT_MARK,
  endAgent,
  endProcesses,
  findAgentProcesses,
  findProcess,
  isRunning,
} from './process-tree.ts'
export type { ProcessId } from './process-tree.ts'
export { toStoppingDriver } from './stopping-driver.ts'
export { createScriptedDriver } from './scripted/scripted-driver.ts'
export type { ScriptedDriverOptions } from './scripted/scripted-driver.ts'
export { readCues, toPieces, toSegments } from './scripted/cues.ts'
export type { Cue, ToolCue } from './scripted/cues.ts'
export type { AgentFact, AgentPrompt, Driver, ResumedSession, RunningAgent, StartOptions } from './driver.ts'
