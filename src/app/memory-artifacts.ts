import { createHash } from 'node:crypto'
import { isAbsolute, join, relative } from 'node:path'
import { boolean, field, list, string } from '#base'
import type { DocumentVersion, MemoryDocument, Passage, SessionSummary, ToolCall } from '#model'
import type { ArtifactContent, PassageOptions } from '#wire'
import { mediaTypeOf } from './media-type.ts'

/** Files that agents wrote, as their transcripts have them. */
export interface SessionArtifacts {
  /** The files that a session wrote, as they were last. */
  find(session: SessionSummary): Promise<readonly MemoryDocument[]>
  /** Every content that a file had, oldest first; of a file that was never written here, none. */
  versions(session: SessionSummary, id: string): Promise<readonly DocumentVersion[]>
  content(session: SessionSummary, id: string, hash?: string): Promise<ArtifactContent | undefined>
}

interface WrittenFile {
  readonly path: string
  readonly workdir: string | undefined
  readonly versions: WrittenVersion[]
}

interface WrittenVersion {
  readonly hash: string
  readonly text: string
  readonly at: string
  readonly entryId: string
}

/** Tools that write a whole file. */
const WRITES: ReadonlySet<string> = new Set(['Write', 'write_file', 'create_file'])
/** Tools that change a part of one. */
const EDITS: ReadonlySet<string> = new Set(['Edit', 'MultiEdit', 'replace'])
/** So many sessions are kept with the contents of their files; what files there are is kept of all. */
const KEPT = 8

export function createSessionArtifacts(
  passages: (session: SessionSummary, options?: PassageOptions) => AsyncIterable<readonly Passage[]>,
): SessionArtifacts {
  const kept = new Map<string, { readonly mark: string; readonly files: readonly WrittenFile[] }>()
  const found = new Map<string, { readonly mark: string; readonly documents: readonly MemoryDocument[] }>()

  async function read(session: SessionSummary): Promise<readonly WrittenFile[]> {
    if (session.path === '' || session.state === 'unreadable') return []
    const mark = markOf(session)
    const known = kept.get(session.path)
    if (known?.mark === mark) return known.files
    const calls: PlacedCall[] = []
    try {
      await collect(passages(session), session, calls)
      for (const { id } of session.subagents)
        await collect(passages(session, { subagent: id }), session, calls)
    } catch {
      // A transcript that is gone or cannot be read shows nothing; the list tells why.
    }
    const files = toFiles(calls)
    kept.delete(session.path)
    kept.set(session.path, { mark, files })
    const [oldest] = kept.keys()
    if (kept.size > KEPT && oldest !== undefined) kept.delete(oldest)
    return files
  }

  async function findFile(session: SessionSummary, id: string): Promise<WrittenFile | undefined> {
    return (await read(session)).find(({ path }) => toArtifactId(session.id, path) === id)
  }

  return {
    async find(session) {
      const mark = markOf(session)
      const known = found.get(session.path)
      if (known?.mark === mark) return known.documents
      const files = await read(session)
      const documents = files.flatMap((file) => toDocument(session, file, file.versions.at(-1)) ?? [])
      found.set(session.path, { mark, documents })
      return documents
    },
    async versions(session, id) {
      const file = await findFile(session, id)
      if (file === undefined) return []
      return file.versions.flatMap((version, n) => {
        const document = toDocument(session, file, version)
        if (document === undefined) return []
        return [
          { version: n + 1, change: n === 0 ? 'put' : 'edited', by: session.agent, at: version.at, document },
        ]
      })
    },
    async content(session, id, hash) {
      const file = await findFile(session, id)
      const version =
        hash === undefined ? file?.versions.at(-1) : file?.versions.find((one) => one.hash === hash)
      if (file === undefined || version === undefined) return undefined
      const bytes = Buffer.from(version.text)
      return {
        path: file.path,
        hash: version.hash,
        mediaType: mediaTypeOf(file.path, bytes),
        bytes: bytes.toString('base64'),
      }
    },
  }
}

/** Another one when the transcripts may say something else. */
function markOf({ size, lastActivityAt, subagents }: SessionSummary): string {
  return [size, lastActivityAt, ...subagents.map((subagent) => subagent.size)].join(' ')
}

/** The id of a file that a session wrote. */
function toArtifactId(sessionId: string, path: string): string {
  return `artifact:${sessionId}:${hashOf(path).slice(0, 16)}`
}

type PlacedCall = {
  readonly call: ToolCall
  readonly at: string
  readonly entryId: string
  readonly workdir: string | undefined
}

async function collect(
  passages: AsyncIterable<readonly Passage[]>,
  session: SessionSummary,
  into: PlacedCall[],
): Promise<void> {
  for await (const some of passages) {
    for (const passage of some) {
      if (passage.kind !== 'reply') continue
      const workdir = passage.entries.find(({ cwd }) => cwd !== undefined)?.cwd ?? session.workdirs[0]
      for (const call of passage.calls) {
        if (call.state !== 'done' || !(WRITES.has(call.use.name) || EDITS.has(call.use.name))) continue
        into.push({ call, workdir, entryId: passage.id, at: passage.at ?? session.createdAt ?? '' })
      }
    }
  }
}

/** Files whose whole content is known, in the order in which they were first written. */
function toFiles(calls: readonly PlacedCall[]): readonly WrittenFile[] {
  const files = new Map<string, WrittenFile>()
  for (const { call, at, entryId, workdir } of calls.toSorted((a, b) =>
    a.at < b.at ? -1 : a.at > b.at ? 1 : 0,
  )) {
    const { name, input } = call.use
    const given = string(input, 'file_path') ?? string(input, 'path')
    if (given === undefined || given === '') continue
    const path = isAbsolute(given) || workdir === undefined ? given : join(workdir, given)
    const known = files.get(path)
    const before = known?.versions.at(-1)
    const text = WRITES.has(name) ? string(input, 'content') : before && edited(before.text, input)
    if (text === undefined) continue
    const hash = hashOf(text)
    if (before?.hash === hash) continue
    const version = { hash, text, at, entryId }
    if (known === undefined) files.set(path, { path, workdir, versions: [version] })
    else known.versions.push(version)
  }
  return [...files.values()]
}

/** A text after the edits of a call; `undefined` when they do not fit it: somebody else changed the file meanwhile. */
function edited(text: string, input: unknown): string | undefined {
  const edits = Array.isArray(field(input, 'edits')) ? list(input, 'edits') : [input]
  let now = text
  for (const edit of edits) {
    const old = string(edit, 'old_string')
    const next = string(edit, 'new_string')
    if (old === undefined || next === undefined || old === '' || !now.includes(old)) return undefined
    now =
      boolean(edit, 'replace_all') === true ? now.replaceAll(old, () => next) : now.replace(old, () => next)
  }
  return now
}

function toDocument(
  session: SessionSummary,
  { path, workdir, versions }: WrittenFile,
  version: WrittenVersion | undefined,
): MemoryDocument | undefined {
  const [first] = versions
  if (first === undefined || version === undefined) return undefined
  const inside = workdir === undefined ? path : relative(workdir, path)
  return {
    id: toArtifactId(session.id, path),
    type: 'artifact',
    category: 'knowledge',
    sessionId: session.id,
    role: 'assistant',
    speakerType: 'agent',
    speakerName: session.agent,
    tags: [],
    content: inside === '' || inside.startsWith('..') ? path : inside,
    provenance: { sessionId: session.id, entryId: version.entryId, block: 0, position: 0 },
    createdAt: first.at,
    updatedAt: version.at,
    pinned: false,
    contradicts: [],
    confirmations: [],
    ...(workdir === undefined ? {} : { workdir }),
    files: [{ path, hash: version.hash }],
    extra: {
      bytes: Buffer.byteLength(version.text),
      mediaType: mediaTypeOf(path, Buffer.from(version.text)),
    },
  }
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}
