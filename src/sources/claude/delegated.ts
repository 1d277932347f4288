import { statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { field, isObject, string } from '#base'
import type { DelegatedEntry, Entry, Envelope } from '#model'
import type { FieldReader } from '../field-reader.ts'
import { KEY } from './keys.ts'

/** Reads a record that stands inside of another one, as if it were a line of its own. */
export type ReadInner = (line: Readonly<Record<string, unknown>>) => Entry | undefined

/**
 * A line of a subagent's conversation: `progress` with `agent_progress`, or `skill_progress` of a skill that is run the
 * same way. Its `data.message` is the line that stands in the subagent's own file, where there is one. Nothing for any
 * other kind of progress.
 */
export function readDelegated(
  fields: FieldReader,
  bytes: Buffer,
  {
    envelope,
    path,
    readInner,
  }: { readonly envelope: Envelope; readonly path: string | undefined; readonly readInner: ReadInner },
): DelegatedEntry | undefined {
  if (!MARKS.some((mark) => fields.contains(bytes, KEY.data, mark))) return undefined
  const data = fields.value(bytes, KEY.data)
  const line = field(data, 'message')
  if (!isObject(line) || !isObject(line['message'])) return undefined
  const inner = readInner(line)
  if (inner === undefined || inner.kind === 'delegated' || inner.kind === 'unknown') return undefined
  const agentId = string(data, 'agentId')
  const callId = fields.repeated(bytes, KEY.parentToolUseID)
  const at = envelope.at ?? inner.at
  const { id, place, sessionId, cwd, gitBranch, version, entrypoint } = envelope
  const own = { id, place, at, sessionId, cwd, gitBranch, version, entrypoint, agentId, link: undefined }
  return {
    ...envelope,
    kind: 'delegated',
    at,
    agentId,
    callId,
    work: { ...toldBy(inner), ...own, raw: NO_BYTES },
    ...(path !== undefined && agentId !== undefined && hasFile(path, agentId, callId)
      ? { inFile: true }
      : {}),
  }
}

/**
 * A line of a subagent that stands among the lines of the session, as clients before 2.1 wrote it: marked as a
 * sidechain, without the id of an agent. Which call started it is told by its first prompt. In newer versions such a
 * line is a whole session that was marked by mistake.
 */
export function toInline(entry: Entry): Entry {
  const { agentId, version } = entry
  if (entry.kind === 'delegated' || agentId !== undefined || !BEFORE_FILES.test(version ?? '')) return entry
  const { id, place, raw, type, link, at, sessionId, cwd, gitBranch, entrypoint, requestId } = entry
  const work = { ...toldBy(entry), link: undefined, raw: NO_BYTES }
  const chain = { id, place, raw, type, link, at, sessionId, cwd, gitBranch, version, entrypoint, requestId }
  return { ...chain, kind: 'delegated', work }
}

const BEFORE_FILES = /^(?:0|1|2\.0)\./

/** What a subagent is told was written by the agent that started it. */
function toldBy(inner: DelegatedEntry['work']): DelegatedEntry['work'] {
  return inner.kind === 'prompt' && inner.origin === 'person' ? { ...inner, origin: 'program' } : inner
}

const MARKS: readonly Buffer[] = [Buffer.from('"agent_progress"'), Buffer.from('"skill_progress"')]
const NO_BYTES = new Uint8Array(0)

/** Whether a subagent of the session has a file of its own, in one of the places where clients and recorders put it. */
function hasFile(transcript: string, agentId: string, callId: string | undefined): boolean {
  if (!ID.test(agentId)) return false
  const folder = dirname(transcript)
  const name = `agent-${agentId}.jsonl`
  const places = [
    join(folder, basename(transcript, '.jsonl'), 'subagents', name),
    join(folder, 'subagents', name),
    join(folder, name),
    ...(callId !== undefined && ID.test(callId) ? [join(folder, 'tasks', callId, name)] : []),
  ]
  return places.some((place) => statSync(place, { throwIfNoEntry: false })?.isFile() === true)
}

const ID = /^[\w-]{1,128}$/
