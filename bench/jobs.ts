import { join } from 'node:path'
import { parseAll, rawReadAll, statAll, transcriptsOf, windowAll } from './limits.ts'
import { firstPage, fullRead, lastPage, listAll, modelView, scan, usageReport, usageTotal } from './ours.ts'
import { loadPeer, peerFirstPage, peerLastPage, peerList, peerModelView } from './peers.ts'
import { Pending } from './pending.ts'
import { compactOne, convertAll, parseSample, restoreAll } from './restoring.ts'

/** What a job is told. `configDir` is also the SDK's `CLAUDE_CONFIG_DIR`. */
export interface JobArguments {
  readonly configDir: string
  /** Session by id, for the SDK, and by path relative to the config dir, for us. */
  readonly id?: string
  readonly path?: string
  readonly entries?: number
  /** Throughline's home, and what is searched for. */
  readonly home?: string
  readonly q?: string
  /** The interface or the agent that a session is written for. */
  readonly to?: string
  readonly sample?: readonly SampleSession[]
}

export interface SampleSession {
  readonly id: string
  readonly path: string
  readonly visible: number
}

interface Job {
  /** Runs before the clock starts. */
  readonly prepare?: () => Promise<void>
  readonly run: (told: JobArguments) => unknown
}

export type JobName =
  | 'ours list'
  | 'peer list'
  | 'limit stat'
  | 'limit windows'
  | 'ours last page'
  | 'ours first page'
  | 'peer last page'
  | 'peer first page'
  | 'ours view'
  | 'peer view'
  | 'compare views'
  | 'ours read all'
  | 'limit parse all'
  | 'limit read all'
  | 'ours read one'
  | 'ours usage'
  | 'ours usage report'
  | 'ours scan'
  | 'ours restore'
  | 'ours convert'
  | 'limit parse sample'
  | 'ours compact'

/** Everything that is measured, each in a process of its own. */
export const JOBS: Readonly<Record<JobName, Job>> = {
  'ours list': { run: ({ configDir }) => listAll(configDir) },
  'peer list': { prepare: loadPeer, run: () => peerList() },
  'limit stat': { run: ({ configDir }) => statAll(configDir) },
  'limit windows': { run: ({ configDir }) => windowAll(configDir) },

  'ours last page': { run: (told) => lastPage(pathOf(told), told.entries ?? 50) },
  'ours first page': { run: (told) => firstPage(pathOf(told), told.entries ?? 50) },
  'peer last page': { prepare: loadPeer, run: (told) => peerLastPage(idOf(told), told.entries ?? 50) },
  'peer first page': { prepare: loadPeer, run: (told) => peerFirstPage(idOf(told), told.entries ?? 50) },

  'ours view': { run: (told) => modelView(pathOf(told)) },
  'peer view': { prepare: loadPeer, run: (told) => peerModelView(idOf(told)) },
  'compare views': { prepare: loadPeer, run: compareViews },

  'ours read all': { run: ({ configDir }) => readAll(configDir) },
  'limit parse all': { run: ({ configDir }) => parseAll(configDir) },
  'limit read all': { run: ({ configDir }) => rawReadAll(configDir) },
  'ours read one': { run: (told) => fullRead(pathOf(told)) },

  'ours usage': { run: ({ configDir }) => usageTotal(configDir) },
  'ours usage report': { run: ({ configDir, home = '' }) => usageReport(configDir, home) },
  'ours restore': { run: (told) => restoreAll(sampleOf(told), told.to) },
  'ours convert': { run: (told) => convertAll(sampleOf(told), told.to) },
  'limit parse sample': { run: (told) => parseSample(sampleOf(told)) },
  'ours compact': { run: (told) => compactOne(told.configDir, told.home ?? '', idOf(told)) },

  'ours scan': { run: ({ configDir, home = '', q = '' }) => scan(configDir, home, q) },
}

export function isJobName(name: string): name is JobName {
  return Object.hasOwn(JOBS, name)
}

async function readAll(configDir: string): Promise<{ readonly entries: number; readonly bytes: number }> {
  let entries = 0
  let bytes = 0
  for (const path of transcriptsOf(configDir)) {
    const read = await fullRead(path)
    entries += read.entries
    bytes += read.bytes
  }
  return { entries, bytes }
}

interface ViewComparison {
  readonly checked: number
  /** Sessions where the SDK shows as many messages as the corpus says there are. */
  readonly asGenerated: number
  /** Sessions where our uuids are the SDK's, in the same order; left out when ours is pending. */
  readonly equal?: number
  readonly differing: readonly string[]
}

async function compareViews({ configDir, sample = [] }: JobArguments): Promise<ViewComparison> {
  let asGenerated = 0
  let equal = 0
  let pending = false
  const differing: string[] = []
  for (const { id, path, visible } of sample) {
    const theirs = await peerModelView(id)
    if (theirs.length === visible) asGenerated += 1
    const ours = await modelView(join(configDir, path)).catch((error: unknown) => String(error))
    pending ||= typeof ours === 'string' && ours.startsWith(Pending.name)
    if (typeof ours !== 'string' && ours.join() === theirs.join()) equal += 1
    else differing.push(typeof ours === 'string' ? `${id} (${ours})` : id)
  }
  const checked = sample.length
  return pending ? { checked, asGenerated, differing: [] } : { checked, asGenerated, equal, differing }
}

function sampleOf({ configDir, sample = [] }: JobArguments): readonly string[] {
  return sample.map(({ path }) => join(configDir, path))
}

function pathOf({ configDir, path }: JobArguments): string {
  if (path === undefined) throw new TypeError('the job needs a path')
  return join(configDir, path)
}

function idOf({ id }: JobArguments): string {
  if (id === undefined) throw new TypeError('the job needs a session id')
  return id
}
