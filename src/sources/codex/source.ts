import { setImmediate } from 'node:timers/promises'
import { ThroughlineError } from '#base'
import { toPromptTitle, type LiveState, type SessionSummary } from '#model'
import { bySession, toLive, type Registry } from '../holder.ts'
import type { SessionFiles, Source, SourceList } from '../source.ts'
import { openTranscript, type Meter } from '../transcript-file.ts'
import { glance } from './glance.ts'
import { createPlaceFinder, findFolders, stampOfFolders } from './layout.ts'
import { codexFormat } from './read-line.ts'
import { createRegistry } from './registry.ts'
import { createSideReader, type Side } from './side-files.ts'
import { createSpawnFinder, type SpawnFinder } from './spawns.ts'
import { createHeadReader, findThreads, type HeadReader } from './threads.ts'
import { createBillReader } from './usage-scan.ts'
import { findWorkdirs } from './workdirs.ts'

export interface CodexSourceOptions {
  readonly meter?: Meter | undefined
}

/** Files looked at before other work gets its turn. */
const BREATH = 64

/** Reads what Codex keeps under its home. Never writes there, and never opens its databases. */
export function createCodexSource(codexHome: string, options: CodexSourceOptions = {}): Source {
  const { meter } = options
  const readHead = createHeadReader(meter)
  const readSide = createSideReader(codexHome)
  const registry = createRegistry(codexHome)
  const place = createPlaceFinder(codexHome)
  const findSpawns = createSpawnFinder()
  const look = (files: SessionFiles): SessionSummary =>
    summarise(files, {
      side: readSide(),
      readHead,
      findSpawns,
      meter,
      archived: isArchived(place, files.path),
    })
  return {
    agent: 'codex',
    root: codexHome,
    format: codexFormat,
    // `codex migrate-rollouts --apply` does.
    rewritesInPlace: true,
    findPlace: place,
    at: (other) => createCodexSource(other, options),
    folders: (under) => findFolders(codexHome, under),
    find: () => Promise.resolve(findThreads(codexHome, readHead)),
    stamp: (now) => stampOfFolders(codexHome, now),
    registry,
    look,
    live: () => readLive(registry),
    list: () => listSessions(codexHome, { readHead, look, registry }),
    createBillReader,
    async findWorkdirs(path) {
      const file = openTranscript(path, meter)
      try {
        return await findWorkdirs(file)
      } finally {
        file.close()
      }
    },
  }
}

async function listSessions(
  codexHome: string,
  tools: {
    readonly readHead: HeadReader
    readonly look: (files: SessionFiles) => SessionSummary
    readonly registry: Registry
  },
): Promise<SourceList> {
  const { sessions: all, problems } = findThreads(codexHome, tools.readHead)
  const live = readLive(tools.registry)
  const sessions: SessionSummary[] = []
  for (const [index, files] of all.entries()) {
    if (index % BREATH === BREATH - 1) await setImmediate()
    const held = live.get(files.id)
    const summary = tools.look(files)
    sessions.push(held === undefined ? summary : { ...summary, live: held })
  }
  return { sessions, problems }
}

function isArchived(place: (path: string) => string | undefined, path: string): boolean {
  return place(path)?.startsWith('archived_sessions') ?? false
}

function summarise(
  files: SessionFiles,
  {
    side,
    readHead,
    findSpawns,
    meter,
    archived,
  }: {
    readonly side: Side
    readonly readHead: HeadReader
    readonly findSpawns: SpawnFinder
    readonly meter: Meter | undefined
    readonly archived: boolean
  },
): SessionSummary {
  const { id, path, loose = [] } = files
  const copiedFrom = side.copies.get(id)
  const common = {
    id,
    agent: 'codex',
    path,
    subagents: loose,
    toolResults: [],
    archived,
    ...(copiedFrom === undefined ? {} : { copiedFrom }),
  }
  try {
    if (path.endsWith('.zst')) throw packed(path)
    const file = openTranscript(path, meter)
    try {
      const seen = glance(file)
      const head = readHead({ path, id, segment: undefined, archived, compressed: false })
      return {
        ...common,
        subagents: loose.length === 0 ? loose : findSpawns(file, loose),
        size: file.size,
        ...nameOf(side.names.get(id), seen.firstPrompt),
        firstPrompt: seen.firstPrompt,
        workdirs: seen.workdirs,
        workdirsComplete: seen.workdirsComplete,
        gitBranch: head?.gitBranch ?? seen.gitBranch,
        // Of a fork, what was said before is older than itself.
        createdAt: seen.firstId === id ? seen.createdAt : (head?.at ?? seen.createdAt),
        lastActivityAt: seen.lastActivityAt,
        state: seen.state,
      }
    } finally {
      file.close()
    }
  } catch (error) {
    const problem = error instanceof ThroughlineError ? toProblem(error) : String(error)
    return { ...common, size: 0, workdirs: [], workdirsComplete: false, state: 'unreadable', problem }
  }
}

function packed(path: string): ThroughlineError {
  return new ThroughlineError('not-a-transcript', `${path} is packed with zstd, which is not read here`, {
    hint: 'Unpack it with `zstd -d`, or open the session in Codex once: it unpacks it itself.',
  })
}

function toProblem({ message, hint, code }: ThroughlineError): string {
  return code === 'not-a-transcript' && message.includes('zstd') && hint !== undefined
    ? `${message}. ${hint}`
    : message
}

/** The name it was given, else the first prompt. */
function nameOf(
  given: string | undefined,
  firstPrompt: string | undefined,
): Pick<SessionSummary, 'name' | 'nameFrom'> {
  if (given !== undefined) return { name: given, nameFrom: 'custom' }
  if (firstPrompt === undefined) return { name: undefined, nameFrom: undefined }
  return { name: toPromptTitle(firstPrompt), nameFrom: 'prompt' }
}

function readLive(registry: Registry): ReadonlyMap<string, LiveState> {
  const live = new Map<string, LiveState>()
  for (const [sessionId, holders] of bySession(registry.read().holders)) {
    const state = toLive(holders, {})
    if (state !== undefined) live.set(sessionId, state)
  }
  return live
}
