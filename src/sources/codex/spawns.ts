import type { SubagentSummary } from '#model'
import type { TranscriptFile } from '../transcript-file.ts'

/** How much of a session is looked through for the calls that started its subagents. */
const FURTHEST = 64 * 1024 * 1024
const CHUNK = 1024 * 1024
const OVERLAP = 4096

/** Which call started which subagent: a subagent's own file does not say it, an event beside the call does. */
export type SpawnFinder = (
  file: TranscriptFile,
  subagents: readonly SubagentSummary[],
) => readonly SubagentSummary[]

/** Looks for a call once: who started a subagent does not change. */
export function createSpawnFinder(): SpawnFinder {
  const calls = new Map<string, string>()
  const searched = new Map<string, number>()
  return (file, subagents) => {
    const isUnknown = subagents.some(({ id }) => !calls.has(id))
    if (isUnknown) {
      // What was looked through without a find is not looked through again.
      const from = searched.get(`${file.path} ${subagents.length}`) ?? 0
      const end = search(file, from, calls)
      searched.set(`${file.path} ${subagents.length}`, Math.max(0, end - OVERLAP))
    }
    return subagents.map((each) => {
      const toolUseId = calls.get(each.id)
      return toolUseId === undefined ? each : { ...each, toolUseId }
    })
  }
}

/** Looks through a file as far as it is here, and says how far that was. */
function search(file: TranscriptFile, from: number, calls: Map<string, string>): number {
  const chunk = Buffer.allocUnsafe(CHUNK + OVERLAP)
  for (let at = from; at < Math.min(file.size, from + FURTHEST); at += CHUNK) {
    const length = Math.min(chunk.length, file.size - at)
    // A session of another machine is not fetched for it.
    if (file.has?.(length, at) === false) return at
    const count = file.readNow(chunk, length, at)
    if (count === 0) break
    const bytes = chunk.subarray(0, count)
    for (let found = bytes.indexOf(STARTED); found >= 0; found = bytes.indexOf(STARTED, found + 1)) {
      const around = bytes.toString('latin1', Math.max(0, found - 200), found + 200)
      const [, call, agent] = EVENT.exec(around) ?? []
      if (call !== undefined && agent !== undefined) calls.set(agent, call)
    }
  }
  return file.size
}

const STARTED = Buffer.from('"kind":"started","agent_thread_id":"')
const EVENT = /"id":"([^"\\]{1,128})","kind":"started","agent_thread_id":"([A-Za-z0-9-]{1,128})"/u
