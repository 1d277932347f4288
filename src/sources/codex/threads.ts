import { statSync } from 'node:fs'
import type { SubagentSummary } from '#model'
import type { SessionFiles, SourceProblem } from '../source.ts'
import { openPlainFile, type Meter, type TranscriptFile } from '../transcript-file.ts'
import { readHead, type Head } from './head.ts'
import { findRollouts, type RolloutFile } from './layout.ts'

/** A thread: the file in which it goes on, and what its first line says. */
interface Thread {
  readonly file: RolloutFile
  readonly head: Head | undefined
}

export interface Threads {
  readonly sessions: readonly SessionFiles[]
  readonly problems: readonly SourceProblem[]
}

/** Reads the first lines of rollouts, each once: what a first line says stays said. */
export type HeadReader = (file: RolloutFile) => Head | undefined

export function createHeadReader(meter?: Meter): HeadReader {
  const known = new Map<string, { readonly identity: string; readonly head: Head }>()
  return ({ path, compressed }) => {
    if (compressed) return undefined
    let file: TranscriptFile
    try {
      file = openPlainFile(path, meter)
    } catch {
      known.delete(path)
      return undefined
    }
    try {
      const before = known.get(path)
      if (before?.identity === file.identity) return before.head
      const head = readHead(file)
      if (head !== undefined) known.set(path, { identity: file.identity, head })
      return head
    } finally {
      file.close()
    }
  }
}

/** The threads of a home: the files of each put together, and subagents with those that started them. */
export function findThreads(codexHome: string, readHeadOf: HeadReader): Threads {
  const layout = findRollouts(codexHome)
  const problems: SourceProblem[] = layout.problems.map((problem) => ({
    ...problem,
    hint: 'Nothing else is affected. Move it away, or put a folder or a file there.',
  }))
  const threads = new Map<string, Thread>()
  const names = new Map<string, RolloutFile>()
  for (const file of layout.files) {
    const head = readHeadOf(file)
    const id = head?.id ?? file.id
    if (!file.compressed) names.set(file.segment ?? file.id, file)
    const other = threads.get(id)
    if (other === undefined || isLater(file, other.file)) threads.set(id, { file, head })
  }
  const subagents = new Map<string, SubagentSummary[]>()
  for (const [id, { file, head }] of threads) {
    const owner = findOwner(id, threads)
    if (owner !== undefined) append(subagents, owner, toSubagent(id, file, head))
    const { base } = head ?? {}
    if (base !== undefined && !names.has(base.id))
      problems.push({
        path: file.path,
        message: `goes on from ${base.id}, whose file is not there: what was said before is missing`,
        hint: 'Put that rollout back into the sessions folder of Codex; unpack it first if it is a .zst.',
      })
  }
  const sessions: SessionFiles[] = []
  for (const [id, { file, head }] of threads) {
    if (findOwner(id, threads) !== undefined) continue
    const loose = subagents.get(id)
    const delegated = loose?.flatMap((subagent) => findHistory(threads.get(subagent.id)?.head)) ?? []
    const history = [...delegated, ...findHistory(head)]
    sessions.push({
      id,
      path: file.path,
      ...(loose === undefined ? {} : { loose }),
      ...(history.length === 0 ? {} : { history }),
    })
  }
  return { sessions, problems }

  /** The files that a thread goes on from, as its first line and theirs say. */
  function findHistory(head: Head | undefined): readonly string[] {
    const found = new Set<string>()
    for (let base = head?.base; base !== undefined;) {
      const file = names.get(base.id)
      if (file === undefined || found.has(file.path)) break
      found.add(file.path)
      base = readHeadOf(file)?.base
    }
    return [...found]
  }
}

/** A file that can be read counts before one that cannot, and of a thread that was reverted the last segment. */
function isLater(file: RolloutFile, other: RolloutFile): boolean {
  if (file.compressed !== other.compressed) return other.compressed
  return (file.segment ?? '') > (other.segment ?? '')
}

/** The session that a subagent belongs to, through those between. None for a session, and when it is not there. */
function findOwner(id: string, threads: ReadonlyMap<string, Thread>): string | undefined {
  const seen = new Set<string>()
  let at = id
  for (;;) {
    const subagent = threads.get(at)?.head?.subagent
    if (subagent === undefined) return at === id || !threads.has(at) ? undefined : at
    if (subagent.parentId === undefined || seen.has(at)) return undefined
    seen.add(at)
    at = subagent.parentId
  }
}

function toSubagent(id: string, { path }: RolloutFile, head: Head | undefined): SubagentSummary {
  return {
    id,
    path,
    size: statSync(path, { throwIfNoEntry: false })?.size ?? 0,
    agentType: head?.subagent?.agentType,
    description: head?.subagent?.description,
    parentAgentId: head?.subagent?.parentId,
  }
}

function append(map: Map<string, SubagentSummary[]>, key: string, value: SubagentSummary): void {
  const values = map.get(key)
  if (values === undefined) map.set(key, [value])
  else values.push(value)
}
