import { field, number, object, parseJson, string } from '#base'
import type { TranscriptFile } from '../transcript-file.ts'

/** What the first line of a rollout says of its thread. Later lines of the same type are copies of somebody else's. */
export interface Head {
  readonly id: string
  /** When it was written. */
  readonly at?: string | undefined
  readonly cwd?: string | undefined
  readonly gitBranch?: string | undefined
  /** What stands before this file's lines, in another file. */
  readonly base?: HistoryBase | undefined
  /** Set for subagents. */
  readonly subagent?: SubagentHead | undefined
}

/** The lines of another file that come before those of this one. */
export interface HistoryBase {
  /** The last id in the other file's name: its thread, or its segment. */
  readonly id: string
  readonly endOrdinal: number | undefined
  readonly endOffset: number | undefined
}

interface SubagentHead {
  readonly parentId: string | undefined
  readonly agentType: string | undefined
  readonly description: string | undefined
}

/** The longest first line that is looked at: it holds the instructions of the model. */
const LONGEST = 16 * 1024 * 1024
const FIRST_PIECE = 64 * 1024
const NEWLINE = 0x0a

/** Reads the first line of a rollout. Nothing for a file that does not begin with one that says which thread it is. */
export function readHead(file: TranscriptFile): Head | undefined {
  let buffer = Buffer.allocUnsafe(Math.min(FIRST_PIECE, Math.max(file.size, 1)))
  for (;;) {
    const count = file.readNow(buffer, Math.min(buffer.length, file.size), 0)
    const newline = buffer.subarray(0, count).indexOf(NEWLINE)
    if (newline >= 0) return toHead(parseJson(buffer.toString('utf8', startOf(buffer), newline)))
    if (count >= file.size || buffer.length >= LONGEST)
      return toHead(parseJson(buffer.toString('utf8', startOf(buffer), count)))
    buffer = Buffer.allocUnsafe(Math.min(buffer.length * 4, LONGEST, file.size))
  }
}

function startOf(bytes: Buffer): number {
  return bytes[0] === 0xef && bytes[1] === 0xbb ? 3 : 0
}

function toHead(line: unknown): Head | undefined {
  const payload = object(line, 'payload')
  if (payload === undefined) return toBareHead(line)
  const id = string(payload, 'id')
  if (string(line, 'type') !== 'session_meta' || id === undefined) return undefined
  return {
    id,
    at: string(line, 'timestamp'),
    cwd: string(payload, 'cwd'),
    gitBranch: string(object(payload, 'git'), 'branch'),
    base: toBase(field(payload, 'history_base')),
    subagent: toSubagent(payload),
  }
}

/** The first line of a file from before lines had envelopes. */
function toBareHead(line: unknown): Head | undefined {
  const id = string(line, 'id')
  const at = string(line, 'timestamp')
  if (string(line, 'type') !== undefined || id === undefined || at === undefined) return undefined
  return { id, at, gitBranch: string(object(line, 'git'), 'branch') }
}

function toBase(value: unknown): HistoryBase | undefined {
  const id = string(value, 'thread_id')
  if (id === undefined) return undefined
  return {
    id,
    endOrdinal: number(value, 'end_ordinal_exclusive'),
    endOffset: number(value, 'end_byte_offset'),
  }
}

/** The thread that a fork or a subagent was made of, as its first line names it. */
export function toParent(payload: unknown): string | undefined {
  return (
    string(payload, 'forked_from_id') ??
    string(field(field(field(payload, 'source'), 'subagent'), 'thread_spawn'), 'parent_thread_id') ??
    string(payload, 'parent_thread_id')
  )
}

function toSubagent(payload: unknown): SubagentHead | undefined {
  const by = field(field(payload, 'source'), 'subagent')
  if (string(payload, 'thread_source') !== 'subagent' && by === undefined) return undefined
  const spawn = object(by, 'thread_spawn')
  const session = string(payload, 'session_id')
  return {
    parentId:
      string(spawn, 'parent_thread_id') ??
      string(payload, 'parent_thread_id') ??
      (session === string(payload, 'id') ? undefined : session),
    agentType:
      string(spawn, 'agent_role') ??
      string(payload, 'agent_role') ??
      (typeof by === 'string' ? by : undefined),
    description: string(spawn, 'agent_path') ?? string(spawn, 'agent_nickname'),
  }
}
