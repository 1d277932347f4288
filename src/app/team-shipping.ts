import { readdirSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { filesOf, openOutbox, type CatalogueChange, type OfferedFile, type OutboxStatus } from '#ingest'
import type { SessionSummary } from '#model'
import type { TeamLog } from '#store'
import { isWithin, realPathOf } from './config.ts'
import { findRemote } from './git-remote.ts'
import type { Keeper } from './keeper.ts'
import { LINEAGE_FILE } from './lineage-log.ts'
import type { Sources } from './open-sources.ts'
import { createPlaceFinder } from './team-layouts.ts'

/** Ships what this machine writes: its sessions with all that lies beside them, and what Throughline writes of them. */
export interface Shipping {
  /** A file that somebody else knows of: documents that are shared. */
  offer(file: OfferedFile): void
  status(): OutboxStatus
  /** Looks at what is there now, and resolves when all of it is shipped or held back. */
  drained(): Promise<void>
  close(): Promise<void>
}

export interface ShippingOptions {
  readonly openLog: () => Promise<TeamLog>
  /** The name of the log. */
  readonly log: string
  readonly home: string
  readonly sources: Sources
  readonly keeper: Pick<Keeper, 'catalogue' | 'onChange'>
  readonly mask: (line: Buffer) => Promise<Buffer>
  /** Folders whose sessions stay here. */
  readonly keepHere: readonly string[]
  readonly now: () => number
}

/** How long files beside a session may wait: they come in numbers. */
const BESIDE_MS = 3000
/** How often the files are looked at that nobody tells of. */
const LOOK_MS = 5000
/** How long it is believed of which repository a folder is a clone. */
const REMOTE_MS = 60_000

/** Offers everything there is, and from then on what changes. Nobody waits for it. */
export async function openShipping(options: ShippingOptions): Promise<Shipping> {
  const { home, keeper, openLog, mask, now } = options
  const isShipped = createShips(options.keepHere)
  const findPlace = createPlaceFinder(options.sources, { home })
  const state = { path: join(home, 'outbox.json'), log: options.log }
  const outbox = await openOutbox({ openLog, ...state, mask, now })
  const remotes = new Map<string, { readonly at: number; readonly remote: string | undefined }>()
  const seen = new Map<string, string>()
  const beside = new Map<string, NodeJS.Timeout>()

  function remoteOf(workdir: string): string | undefined {
    const known = remotes.get(workdir)
    if (known !== undefined && now() - known.at < REMOTE_MS) return known.remote
    const remote = findRemote(workdir)
    remotes.set(workdir, { at: now(), remote })
    return remote
  }

  function toOffer(session: SessionSummary, path: string): OfferedFile | undefined {
    const found = findPlace(path)
    const isLines = path.endsWith('.jsonl')
    if (found === undefined || path.endsWith('.zst') || path.endsWith('.tmp')) return undefined
    const [workdir] = session.workdirs
    return {
      kind: isLines ? 'transcript' : 'side',
      ...found,
      agent: session.agent,
      session: session.id,
      ...(workdir === undefined ? {} : { workdir, remote: remoteOf(workdir) }),
      scope: 'private',
    }
  }

  /** Not again what is as it was when it was offered last. */
  function offer(file: OfferedFile | undefined): void {
    if (file === undefined) return
    const stats = statSync(file.path, { throwIfNoEntry: false })
    const mark = JSON.stringify([stats?.size, stats?.mtimeMs, stats?.ino, { ...file, urgent: undefined }])
    if (seen.get(file.path) === mark) return
    seen.set(file.path, mark)
    outbox.offer(file)
  }

  function offerAll(session: SessionSummary): void {
    if (!isShipped(session)) return
    const files = keeper.catalogue.filesOf(session.path) ?? { id: session.id, path: session.path }
    const subagents = session.subagents.map(({ path }) => path)
    for (const path of new Set([...filesOf(files), ...subagents])) offer(toOffer(session, path))
  }

  function take(change: CatalogueChange): void {
    const { session } = change
    // A name was given, perhaps.
    offerNames()
    if (change.kind === 'removed' || !isShipped(session)) return
    for (const path of change.kind === 'changed' ? change.files : []) {
      const file = toOffer(session, path)
      if (file !== undefined) offer({ ...file, urgent: true })
    }
    if (beside.has(session.id)) return
    const later = setTimeout(() => {
      beside.delete(session.id)
      offerAll(keeper.catalogue.byPath(session.path) ?? session)
    }, BESIDE_MS)
    beside.set(session.id, later.unref())
  }

  function offerNames(): void {
    for (const name of ['preferences.jsonl', LINEAGE_FILE])
      offer({ kind: 'name', path: join(home, name), scope: 'private', urgent: true })
  }

  /** What Throughline writes itself. */
  function offerOwn(): void {
    const own = { scope: 'private' as const }
    offerNames()
    offer({ kind: 'document', path: join(home, 'documents.jsonl'), ...own })
    for (const path of linesBelow(join(home, 'audit')))
      offer({ kind: 'audit', path, session: basename(path, '.jsonl'), ...own })
    for (const path of linesBelow(join(home, 'journal')))
      offer({ kind: 'journal', path, session: basename(path, '.jsonl'), ...own })
    const codex = options.sources.others.find(({ agent }) => agent === 'codex')
    const names = 'session_index.jsonl'
    if (codex !== undefined)
      offer({
        kind: 'side',
        agent: 'codex',
        path: join(codex.root, names),
        place: `codex/${names}`,
        ...own,
      })
  }

  function offerEverything(): void {
    for (const session of keeper.catalogue.sessions()) offerAll(session)
    offerOwn()
  }

  offerEverything()
  const stop = keeper.onChange(take)
  const looking = setInterval(offerOwn, LOOK_MS).unref()

  return {
    offer,
    status: () => outbox.status(),
    async drained() {
      offerEverything()
      await outbox.drained()
    },
    async close() {
      stop()
      clearInterval(looking)
      for (const timer of beside.values()) clearTimeout(timer)
      await outbox.close()
    },
  }
}

/** Says of sessions whether they are this machine's own, and its person lets them go. */
export function createShips(keepHere: readonly string[]): (session: SessionSummary) => boolean {
  const folders = keepHere.map(realPathOf)
  return ({ origin, demo, path, workdirs }) => {
    if (origin !== undefined || demo === true || path === '') return false
    return folders.length === 0 || !workdirs.some((workdir) => isWithin(workdir, folders))
  }
}

function linesBelow(folder: string): readonly string[] {
  try {
    return readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.jsonl'))
      .map((name) => join(folder, name))
  } catch {
    return []
  }
}
