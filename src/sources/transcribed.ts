import { createHash } from 'node:crypto'
import { join, sep } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import type { SessionSummary } from '#model'
import { createClaudeLayout } from './claude-layout.ts'
import { createClaudeSource } from './claude/source.ts'
import type { SessionFiles, Source, SourceFiles, SourceProblem } from './source.ts'
import type { Meter } from './transcript-file.ts'
import {
  findSize,
  isOfDisk,
  moveNow,
  replaceNow,
  toBytes,
  toWriteProblem,
  writeOn,
  writeWhole,
  type Written,
} from './transcribed-files.ts'
import { createMarks, type Mark, type Marks } from './transcribed-marks.ts'

/** A session as its agent has it, as far as nothing of it has to be read. */
export interface Original {
  /** As the agent names it. */
  readonly id: string
  /** Where it worked. */
  readonly workdir?: string | undefined
  /** Another one when its lines may be others. */
  readonly stamp: string
  readonly title?: string | undefined
  readonly archived?: boolean | undefined
  /** Of a subagent: the session that began it, and how. */
  readonly parentId?: string | undefined
  readonly agentType?: string | undefined
  readonly description?: string | undefined
  readonly toolUseId?: string | undefined
}

/** What an agent has right now. */
export interface Originals<Memory> {
  readonly originals: readonly Original[]
  readonly problems: readonly SourceProblem[]
  /** Whether an original that is not among them is gone, rather than not to be seen at this moment. */
  readonly isComplete: boolean
  /**
   * The lines of a session, without newlines. With what was remembered of the last time only those that came since,
   * unless it says that it began anew. May throw: the session is then listed with the reason.
   */
  transcribe(original: Original, memory: Memory | undefined): Transcription<Memory>
  close(): void
}

export interface Transcription<Memory> {
  readonly lines: readonly string[]
  /** Whether these are all lines, and not only those that came. */
  readonly isWhole: boolean
  readonly memory?: Memory | undefined
}

/** What only one agent's source knows, of an agent that does not write one line per entry. */
export interface TranscribedReader<Memory> {
  readonly agent: string
  /** The folders in which its files change. */
  folders(under?: string): readonly string[]
  /** Changes when a session came, went, or has other lines. Cheap: it is asked with every hint. */
  stamp(): string
  /** Never throws. */
  open(): Originals<Memory>
}

/** Transcriptions made before other work gets its turn. */
const BREATH = 8
/** Sessions of which it is remembered how far they were transcribed; any other is transcribed from its beginning. */
const REMEMBERED = 32

/**
 * A source for an agent whose sessions are no lines: what they hold is written as lines of the shape that Claude Code
 * writes, one file per session, under `dir`, in the layout of Claude Code. These files are derived, and may be deleted
 * at any time. A session that only grew gets lines added, so that whoever follows it sees growth. Nothing of the
 * agent's is ever written.
 */
export function createTranscribedSource<Memory>(
  reader: TranscribedReader<Memory>,
  dir: string,
  meter?: Meter,
): Source {
  const { agent } = reader
  const { registry: _none, ...lines } = createClaudeSource(dir, meter)
  const memories = new Map<string, { readonly memory: Memory; readonly written: Written }>()
  let marks: Marks | undefined
  let turn: Promise<unknown> = Promise.resolve()

  function toMarks(): Marks {
    marks ??= createMarks(join(dir, 'marks'))
    return marks
  }

  async function refresh(): Promise<readonly SourceProblem[]> {
    const known = toMarks()
    const opened = reader.open()
    const problems = [...opened.problems]
    const seen = new Set<string>()
    /** Those that could not be written, and why the last of them. */
    let unwritten = 0
    let cause: unknown
    try {
      const byId = new Map(opened.originals.map((original) => [original.id, original]))
      let made = 0
      for (const original of byId.values()) {
        const name = toName(original.id)
        seen.add(name)
        if (isCurrent(original, known.get(name), toPlace(original, byId))) continue
        if (++made % BREATH === 0) await setImmediate()
        try {
          transcribe(original, toPlace(original, byId), opened)
        } catch (error) {
          unwritten++
          cause = error
        }
      }
    } finally {
      opened.close()
    }
    if (unwritten > 0) problems.push(toWriteProblem(dir, unwritten, cause))
    try {
      if (opened.isComplete) for (const name of known.ids()) if (!seen.has(name)) setAside(name)
    } catch (error) {
      problems.push(toWriteProblem(dir, 0, error))
    }
    return problems
  }

  function isCurrent(original: Original, mark: Mark | undefined, place: string): boolean {
    if (mark === undefined || mark.stamp !== original.stamp || mark.place !== place) return false
    return (findSize(join(dir, place)) ?? -1) >= mark.size
  }

  function transcribe(original: Original, place: string, opened: Originals<Memory>): void {
    const name = toName(original.id)
    const path = join(dir, place)
    const former = toMarks().get(name)
    if (former !== undefined && former.place !== place) moveNow(join(dir, former.place), path)
    const { title, archived } = original
    try {
      const written = write(original, path, opened)
      if (original.parentId !== undefined) writeMeta(original, path)
      toMarks().set(name, { stamp: original.stamp, size: written.size, place, title, archived })
    } catch (error) {
      // What was there before stays, and it is tried again.
      if (isOfDisk(error)) throw error
      const problem = `could not be transcribed: ${error instanceof Error ? error.message : String(error)}`
      memories.delete(name)
      // What was there before stays. Without any file, nobody would be told of the session.
      if (findSize(path) === undefined) replaceNow(path, '')
      const size = findSize(path) ?? 0
      toMarks().set(name, { stamp: original.stamp, size, place, title, archived, problem })
    }
  }

  function write(original: Original, path: string, opened: Originals<Memory>): Written {
    const name = toName(original.id)
    const before = memories.get(name)
    memories.delete(name)
    let told = opened.transcribe(original, before?.memory)
    let written =
      before === undefined || told.isWhole ? undefined : writeOn(path, before.written, toBytes(told.lines))
    if (written === undefined) {
      if (!told.isWhole) told = opened.transcribe(original, undefined)
      written = writeWhole(path, told.lines)
    }
    // Somebody who has seen more wrote more: where this goes on is not where that ended.
    const isAhead = told.isWhole && written.size > toBytes(told.lines).length
    if (told.memory !== undefined && !isAhead) memories.set(name, { memory: told.memory, written })
    for (const oldest of memories.keys()) if (memories.size > REMEMBERED) memories.delete(oldest)
    return written
  }

  /** The agent has it no more. What was in it is not destroyed for that; it is no longer a session of the agent. */
  function setAside(name: string): void {
    const mark = toMarks().get(name)
    if (mark === undefined) return
    memories.delete(name)
    moveNow(join(dir, mark.place), join(dir, 'gone', mark.place))
    moveNow(toMetaPath(join(dir, mark.place)), toMetaPath(join(dir, 'gone', mark.place)))
    toMarks().delete(name)
  }

  /** One after the other: two at a time would do everything twice. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const next = turn.then(work, work)
    turn = next.catch(() => undefined)
    return next
  }

  async function find(): Promise<SourceFiles> {
    const problems = await inTurn(refresh)
    const found = await lines.find()
    return { sessions: found.sessions, problems: [...found.problems, ...problems] }
  }

  function look(files: SessionFiles): SessionSummary {
    return toSummary(lines.look(files), toMarks().get(toName(files.id)))
  }

  function toSummary(seen: SessionSummary, mark: Mark | undefined): SessionSummary {
    const named =
      seen.nameFrom !== 'custom' && mark?.title !== undefined && mark.title !== ''
        ? { name: mark.title, nameFrom: 'agent' as const }
        : {}
    const archived = seen.archived || mark?.archived === true
    const summary = { ...seen, ...named, archived, agent }
    if (mark?.problem === undefined) return summary
    const state = seen.size === 0 ? ('unreadable' as const) : ('damaged' as const)
    return { ...summary, state, problem: mark.problem }
  }

  return {
    ...lines,
    agent,
    at: (root) => createClaudeLayout(agent, root, meter),
    folders: (under) => reader.folders(under),
    stamp(now) {
      // Whoever deletes transcriptions gets them again.
      const made = lines.stamp(now)
      return made === '' ? '' : `${reader.stamp()} ${made}`
    },
    find,
    look,
    live: () => new Map(),
    async list() {
      const { sessions, problems } = await find()
      const summaries: SessionSummary[] = []
      for (const [index, files] of sessions.entries()) {
        if (index % 64 === 63) await setImmediate()
        summaries.push(look(files))
      }
      return { sessions: summaries, problems }
    },
  }
}

function toPlace(original: Original, byId: ReadonlyMap<string, Original>): string {
  const name = toName(original.id)
  const root = rootOf(original, byId)
  const project = `projects${sep}${toProject(root.workdir)}`
  if (root === original) return `${project}${sep}${name}.jsonl`
  return `${project}${sep}${toName(root.id)}${sep}subagents${sep}agent-${name}.jsonl`
}

/** The session that a subagent belongs to in the end. One whose session is gone is a session itself. */
function rootOf(original: Original, byId: ReadonlyMap<string, Original>): Original {
  let root = original
  for (const passed = new Set<Original>(); !passed.has(root);) {
    passed.add(root)
    root = byId.get(root.parentId ?? '') ?? root
  }
  return root
}

function writeMeta(original: Original, path: string): void {
  const { agentType, description, toolUseId, parentId } = original
  const inner = path.includes(`${sep}${toName(parentId ?? '')}${sep}subagents${sep}`)
  const parentAgentId = inner ? undefined : parentId
  replaceNow(toMetaPath(path), JSON.stringify({ agentType, description, toolUseId, parentAgentId }))
}

function toMetaPath(path: string): string {
  return path.replace(/\.jsonl$/u, '.meta.json')
}

/** A name that can stand in a path, and is another one for another id. */
function toName(id: string): string {
  if (/^(?!agent-)[A-Za-z0-9_-]{1,100}$/u.test(id)) return id
  const hash = createHash('sha256').update(id).digest('hex').slice(0, 16)
  return `s_${id.replaceAll(/[^A-Za-z0-9_-]/gu, '_').slice(0, 80)}_${hash}`
}

function toProject(workdir: string | undefined): string {
  if (workdir === undefined || workdir === '') return 'unknown'
  return workdir.replaceAll(/[^A-Za-z0-9]/gu, '-').slice(-150)
}
