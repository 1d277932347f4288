import { mkdir, readdir, rename, stat } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import { isObject, string, ThroughlineError } from '#base'
import { openSharedJournal, readJournal, readJournalMark } from '#journal'
import * as world from '../world.ts'
import { toPath, toSubpath } from './session-store-path.ts'

/** Which transcript is meant: a session of a project, or something below it, such as a subagent. */
export interface SessionStoreKey {
  projectKey: string
  sessionId: string
  subpath?: string
}

/** A line of a transcript, as the Agent SDK hands it over. */
export interface SessionStoreEntry {
  type: string
  uuid?: string
  timestamp?: string
  [key: string]: unknown
}

/** What the Agent SDK calls a `SessionStore`: give it to `query({ options: { sessionStore } })`. */
export interface FileSessionStore {
  /** Resolves when the entries are on disk. One whose `uuid` is there already is not written again. */
  append(key: SessionStoreKey, entries: SessionStoreEntry[]): Promise<void>
  /** Every entry as it was appended, in order; `null` when nothing ever was. */
  load(key: SessionStoreKey): Promise<SessionStoreEntry[] | null>
  listSessions(projectKey: string): Promise<{ sessionId: string; mtime: number }[]>
  /** Puts a session, or one transcript of it, aside. Its bytes stay, in the folder `.deleted`. */
  delete(key: SessionStoreKey): Promise<void>
  listSubkeys(key: { projectKey: string; sessionId: string }): Promise<string[]>
  /** Waits for what is being written. The store can be used again. */
  close(): Promise<void>
}

export interface SessionStoreOptions {
  /** Has `projects/` in it. Default: where Throughline keeps what it records, so that its sessions are listed. */
  readonly folder?: string | undefined
}

/** Of so many files it is remembered what is in them; of the others it is read again. */
const MOST_KNOWN = 64

/** The ids of the entries in a file, and how it stood when that was so. */
interface Known {
  readonly mark: string
  readonly uuids: Set<string>
}

/**
 * A `SessionStore` of the Agent SDK on files, in the layout of Claude Code. Several processes may use the same folder:
 * a file is held only while entries are added to it.
 */
export function createSessionStore(options: SessionStoreOptions = {}): FileSessionStore {
  const root = join(options.folder ?? join(world.homeFolder(), 'recorded', 'claude'), 'projects')
  const known = new Map<string, Known>()
  /** One call after another for each file: what is asked for is what was written before. */
  const queues = new Map<string, Promise<unknown>>()

  function inTurn<T>(path: string, work: () => Promise<T>): Promise<T> {
    const done = (queues.get(path) ?? Promise.resolve()).then(work)
    const settled = done
      .catch(() => {})
      .finally(() => {
        if (queues.get(path) === settled) queues.delete(path)
      })
    queues.set(path, settled)
    return done
  }

  /** Asked for while the file is held: nobody else adds to it meanwhile. */
  async function uuidsOf(path: string): Promise<Set<string>> {
    const before = known.get(path)
    return before !== undefined && before.mark === (await readJournalMark(path))
      ? before.uuids
      : readUuids(path)
  }

  function remember(path: string, now: Known): void {
    known.delete(path)
    known.set(path, now)
    const [oldest] = known.keys()
    if (known.size > MOST_KNOWN && oldest !== undefined) known.delete(oldest)
  }

  async function append(path: string, entries: readonly SessionStoreEntry[]): Promise<void> {
    if (entries.length === 0) return
    const journal = await openSharedJournal(path)
    try {
      const uuids = await uuidsOf(path)
      const taken = new Set<string>()
      const fresh = entries.filter((entry) => {
        const uuid = string(entry, 'uuid')
        if (uuid === undefined) return true
        const isNew = !uuids.has(uuid) && !taken.has(uuid)
        taken.add(uuid)
        return isNew
      })
      if (fresh.length > 0) await journal.appendAll(fresh)
      for (const uuid of taken) uuids.add(uuid)
      remember(path, { mark: await readJournalMark(path), uuids })
    } finally {
      await journal.close()
    }
  }

  async function putAside(path: string): Promise<void> {
    known.delete(path)
    const aside = join(root, '.deleted', `${relative(root, path)}-${world.newUuid()}`)
    await mkdir(dirname(aside), { recursive: true, mode: 0o700 })
    await rename(path, aside).catch(orMissing)
  }

  return {
    append: async (key, entries) => {
      const path = toPath(root, key)
      await inTurn(path, () => append(path, entries))
    },
    load: async (key) => {
      const path = toPath(root, key)
      return await inTurn(path, () => readEntries(path))
    },
    async listSessions(projectKey) {
      const folder = dirname(toPath(root, { projectKey, sessionId: 'any' }))
      const names = await readdir(folder).catch(() => [])
      const found = names.filter((name) => name.endsWith('.jsonl'))
      return await Promise.all(
        found.map(async (name) => ({
          sessionId: decodeURIComponent(name.slice(0, -'.jsonl'.length)),
          mtime: Math.floor((await stat(join(folder, name))).mtimeMs),
        })),
      )
    },
    async delete(key) {
      const path = toPath(root, key)
      await inTurn(path, () => putAside(path))
      if (key.subpath !== undefined) return
      const below = path.slice(0, -'.jsonl'.length)
      for (const held of known.keys()) if (held.startsWith(below + sep)) known.delete(held)
      await putAside(below)
    },
    async listSubkeys(key) {
      const folder = toPath(root, key).slice(0, -'.jsonl'.length)
      const names = await readdir(folder, { recursive: true }).catch(() => [])
      return names.filter((name) => name.endsWith('.jsonl')).map(toSubpath)
    },
    async close() {
      await Promise.all(queues.values())
    },
  }
}

async function readUuids(path: string): Promise<Set<string>> {
  const uuids = new Set<string>()
  for await (const item of readJournal(path)) {
    const uuid = item.kind === 'line' ? string(item.value, 'uuid') : undefined
    if (uuid !== undefined) uuids.add(uuid)
  }
  return uuids
}

async function readEntries(path: string): Promise<SessionStoreEntry[] | null> {
  const isThere = await stat(path).then(
    () => true,
    () => false,
  )
  if (!isThere) return null
  const entries: SessionStoreEntry[] = []
  for await (const item of readJournal(path)) {
    if (item.kind === 'line' && isEntry(item.value)) entries.push(item.value)
  }
  return entries
}

function isEntry(value: unknown): value is SessionStoreEntry {
  return isObject(value)
}

function orMissing(cause: unknown): void {
  if (isObject(cause) && cause['code'] === 'ENOENT') return
  throw new ThroughlineError('journal-unwritable', 'a transcript could not be put aside', {
    hint: 'Check the permissions of its folder.',
    cause,
  })
}
