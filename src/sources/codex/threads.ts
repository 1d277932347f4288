import type { SubagentSummary } from '#model'
import type { SessionFiles, SourceProblem } from '../source.ts'
import { openPlainFile, type Meter, type TranscriptFile } from '../transcript-file.ts'
import { asLines } from './json-rollout.ts'
import { readHead, type Head } from './head.ts'
import { findRollouts, type RolloutFile } from './layout.ts'
import { findStats } from '../folders.ts'

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
      file = openOwnLines(path, meter)
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

/** The lines of this file, without those of a file that it continues. */
function openOwnLines(path: string, meter: Meter | undefined): TranscriptFile {
  const file = openPlainFile(path, meter)
  return path.endsWith('.json') ? asLines(file) : file
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
  const files = new Map<string, RolloutFile[]>()
  for (const file of layout.files) {
    const head = readHeadOf(file)
    const id = head?.id ?? file.id
    if (!file.compressed) {
      names.set(file.segment ?? file.id, file)
      append(files, id, file)
    }
    const other = threads.get(id)
    if (other === undefined || isAfter(file, other.file)) threads.set(id, { file, head })
  }
  for (const each of files.values()) problems.push(...findDoubles(each))
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
    const delegated = loose?.flatMap((subagent) => findHistory(threads.get(subagent.id))) ?? []
    const history = [...new Set([...delegated, ...findHistory({ file, head })])]
    sessions.push({
      id,
      path: file.path,
      ...(loose === undefined ? {} : { loose }),
      ...(history.length === 0 ? {} : { history }),
    })
  }
  return { sessions, problems }

  /** The files that a thread continues: its own before a revert, and those that its first line and theirs name. */
  function findHistory(thread: Thread | undefined): readonly string[] {
    if (thread === undefined) return []
    const { file, head } = thread
    const own = files.get(head?.id ?? file.id) ?? []
    const older = own.filter(({ segment }) => (segment ?? '') < (file.segment ?? ''))
    const found = new Set(older.map(({ path }) => path))
    const seen = new Set<RolloutFile>()
    for (let base = head?.base; base !== undefined;) {
      const continued = names.get(base.id)
      if (continued === undefined || seen.has(continued)) break
      seen.add(continued)
      found.add(continued.path)
      base = readHeadOf(continued)?.base
    }
    return [...found]
  }
}

/**
 * A file that can be read counts before one that cannot, and of a thread that was reverted the last segment. Of copies
 * the one that holds most.
 */
function isLater(file: RolloutFile, other: RolloutFile): boolean {
  if (file.compressed !== other.compressed) return other.compressed
  if (file.segment !== other.segment) return (file.segment ?? '') > (other.segment ?? '')
  const [a, b] = [sizeOf(file), sizeOf(other)]
  return a === b ? other.archived && !file.archived : a > b
}

function sizeOf({ path }: RolloutFile): number {
  return findStats(path)?.size ?? 0
}

/** Files that say that they are the same thread, and are not its pieces: one of them is read, and the others are told. */
function findDoubles(files: readonly RolloutFile[]): readonly SourceProblem[] {
  return files.flatMap((file) => {
    const rivals = files.filter((other) => other !== file && other.segment === file.segment)
    const read = rivals.find((other) => rivals.every((each) => each === other || isAfter(other, each)))
    if (read === undefined || !isAfter(read, file)) return []
    return {
      path: file.path,
      message: `has the id of ${read.path}, which is read in its place: what is only in this file is not shown`,
      hint: 'Compare the two files, and move one of them out of the sessions folder of Codex.',
    }
  })
}

/** Whether a file is the one that is read, rather than another one of the same thread. Of equals, the first by its path. */
function isAfter(file: RolloutFile, other: RolloutFile): boolean {
  return isLater(file, other) || (!isLater(other, file) && file.path < other.path)
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
    size: findStats(path)?.size ?? 0,
    agentType: head?.subagent?.agentType,
    description: head?.subagent?.description,
    parentAgentId: head?.subagent?.parentId,
  }
}

function append<T>(map: Map<string, T[]>, key: string, value: T): void {
  const values = map.get(key)
  if (values === undefined) map.set(key, [value])
  else values.push(value)
}
