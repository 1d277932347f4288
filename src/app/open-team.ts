import { mkdirSync } from 'node:fs'
import { basename, dirname, join, sep } from 'node:path'
import { ThroughlineError } from '#base'
import { openMirror, type CatalogueSource, type Mirror, type MirrorChange, type MirroredFile } from '#ingest'
import type { SharedDocuments } from '#memory'
import type { SessionOrigin, TeamSelf } from '#model'
import type { Meter } from '#sources'
import { openTeamBook, openTeamLog, type PostgresAddress, type TeamBook } from '#store'
import type { TeamStatus } from '#wire'
import { realPathOf } from './config.ts'
import type { Keeper } from './keeper.ts'
import { readLocalSettings } from './local-settings.ts'
import { openMaskThread } from './mask-thread.ts'
import { createMirroredSources, mirrorFolders } from './mirrored-sources.ts'
import { openOnce } from './open-once.ts'
import type { Sources } from './open-sources.ts'
import { shareLog } from './shared-log.ts'
import {
  openTeamDocuments,
  type DocumentFile,
  type DocumentFiles,
  type TeamDocuments,
} from './team-documents.ts'
import { openTeamFeed, type TeamFeed } from './team-feed.ts'
import { createWorkdirsHere } from './team-folders.ts'
import { createLayout, isTeamPlace } from './team-layouts.ts'
import { teamFolder } from './team-membership.ts'
import { readNames, type NameElsewhere } from './team-names.ts'
import { openTeamSearch, type TeamSearch } from './team-search.ts'
import { readSelf, writeSelf } from './team-self.ts'
import { createShips, openShipping, type Shipping } from './team-shipping.ts'
import type { Config } from './throughline.ts'

/** This machine in its team: what it ships, and what is here of others. Works on while the database is away. */
export interface Team extends DocumentFiles {
  readonly address: PostgresAddress
  /** Who asks, as far as the database has ever said it. */
  self(): TeamSelf | undefined
  status(): TeamStatus
  /** Who is in it, and what is shared. Opened with the first call; rejects while the database is away. */
  book(): Promise<TeamBook>
  /** What the sessions of other machines are read from. */
  readonly sources: readonly CatalogueSource[]
  /** Where a session is that has its transcript at this path. Not there: here. */
  originOf(path: string): SessionOrigin | undefined
  /** What is known of a file of another machine that is here: its workdir, its repository. */
  findFile(path: string): MirroredFile | undefined
  /** Where a file of another machine is here. */
  mirrorPathOf(origin: string, path: string): string | undefined
  /** What the person has decided about a session on another machine of his. */
  nameOf(sessionId: string): NameElsewhere | undefined
  /** Fetches all of a session's transcript. Rejects with `team-unreached`. */
  whole(path: string): Promise<void>
  /** Begins to ship, and to tell the keeper what comes. `shared`: what is shared of the documents of this machine. */
  begin(keeper: Keeper, shared?: SharedDocuments): Promise<void>
  /** What other machines have, searched. */
  readonly search: TeamSearch
  /** The documents of other machines. */
  documents(): Promise<TeamDocuments>
  /** The connection came about, or was lost. Returns how to stop it. */
  onState(listener: (state: TeamStatus['state']) => void): () => void
  /** Resolves when everything here is shipped, and everything of others that was there is here. Waits for the database. */
  settled(): Promise<void>
  close(): Promise<void>
}

/** How long news of files are gathered before the keeper looks at them, and from how many on it looks at all. */
const TELL_MS = 30
const MANY = 20

export interface TeamOptions {
  readonly config: Config
  readonly address: PostgresAddress
  readonly sources: Sources
  /** Folders whose sessions stay here. */
  readonly keepHere: readonly string[]
  /** Folders of other machines, and those that are the same here. */
  readonly workdirs: Readonly<Record<string, string>>
  readonly now: () => number
  readonly meter?: Meter | undefined
}

/** The team of a machine that is in one. */
export async function findTeam(
  options: Omit<TeamOptions, 'address' | 'keepHere' | 'workdirs'>,
): Promise<Team | undefined> {
  // Who cannot be asked what stays here ships nothing. What is wrong with the settings is said to whoever needs them.
  const settings = await readLocalSettings(options.config.home).catch(() => undefined)
  const address = options.config.store ?? settings?.store
  if (address === undefined || settings === undefined) return undefined
  return openTeam({ ...options, address, ...settings.team })
}

/** Opens at once, with what was here before. */
export function openTeam(options: TeamOptions): Team {
  const { config, address, sources, keepHere, workdirs, now, meter } = options
  const dir = realPathOf(teamFolder(config.home))
  const listeners = new Set<() => void>()
  const stateListeners = new Set<(state: TeamStatus['state']) => void>()
  const masking = openMaskThread()
  let self = readSelf(dir, address.shown)
  mkdirSync(dir, { recursive: true, mode: 0o700 })
  let keeper: Keeper | undefined
  let shipping: Shipping | undefined
  let feed: TeamFeed | undefined
  const book = openOnce(() => openTeamBook({ address, most: 2 }))
  let documents: Promise<TeamDocuments> | undefined
  let stopDocuments: (() => void) | undefined
  let names: ReadonlyMap<string, NameElsewhere> | undefined
  let state: TeamStatus['state'] = 'connecting'
  let since = now()
  let trouble: Error | undefined
  const changed = new Set<string>()
  let telling: NodeJS.Timeout | undefined

  const open = shareLog(async () => {
    const log = await openTeamLog({ address, most: 4 })
    if (JSON.stringify(self) !== JSON.stringify(log.self)) writeSelf(dir, address.shown, log.self)
    self = log.self
    return log
  })

  const mirror: Mirror = openMirror({
    openLog: open,
    dir,
    isPlace: isTeamPlace,
    glance: ({ path, root }) => glance(path, root),
    onChange: take,
    onTrouble: (error) => become('away', error),
    onConnected: () => become('connected'),
  })

  const mirrorPathOf = (origin: string, path: string): string | undefined => mirror.findHere(origin, path)
  const search = openTeamSearch({ address, mirrorPathOf, now })

  function become(next: TeamStatus['state'], error?: Error): void {
    trouble = error
    if (state === next) return
    state = next
    since = now()
    for (const listener of stateListeners) listener(next)
  }

  function take({ file }: MirrorChange): void {
    if (file.kind === 'name') {
      names = undefined
      keeper?.catalogue.refresh()
    } else if (file.kind === 'document') for (const listener of listeners) listener()
    else {
      changed.add(file.here)
      search.hear()
      telling ??= setTimeout(tellKeeper, TELL_MS).unref()
    }
  }

  /** Lines come by the thousand: the keeper is told once of each file, or once of all of them. */
  function tellKeeper(): void {
    telling = undefined
    const paths = [...changed]
    changed.clear()
    if (paths.length > MANY) void keeper?.catalogue.sweep()
    else for (const path of paths) keeper?.catalogue.hint(dirname(path), basename(path))
  }

  function toOrigin({ origin, machine, owner }: MirroredFile): SessionOrigin {
    return { origin, machine, person: owner, mine: owner === self?.person }
  }

  function documentFiles(): readonly DocumentFile[] {
    return mirror.files().flatMap((file) => {
      if (file.kind !== 'document') return []
      return [{ path: file.here, origin: toOrigin(file), scope: file.scope }]
    })
  }

  const workdirHere = createWorkdirsHere({
    map: workdirs,
    remoteOf: (workdir, origin) =>
      mirror.files().find((file) => file.origin === origin && file.workdir === workdir)?.remote,
    sessions: () => keeper?.catalogue.sessions() ?? [],
    now,
  })

  function onChange(listener: () => void): () => void {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }

  return {
    address,
    self: () => self,
    status() {
      // Who only looks on ships nothing, and nothing of his waits.
      const ships = self?.role === 'viewer' ? undefined : shipping?.status()
      const { waiting = 0, bytes: waitingBytes = 0, held = [] } = ships ?? {}
      const { files, bytes } = mirror.status()
      const why = trouble ?? (state === 'connected' ? ships?.trouble : undefined)
      return {
        state,
        store: address.shown,
        ...(self === undefined ? {} : { self }),
        since: new Date(since).toISOString(),
        ...(why === undefined ? {} : { trouble: toTrouble(why) }),
        outbox: { waiting, bytes: waitingBytes, held },
        mirror: { files, bytes },
      }
    },
    book: book.open,
    sources: createMirroredSources({
      dir,
      folders: () => mirrorFolders(dir),
      isMine: (folder) => mirror.ownerOf(folder) === self?.person,
      originOf: (path) => originOf(path),
      meter,
    }),
    originOf,
    findFile: (path) => mirror.find(path),
    mirrorPathOf,
    search,
    nameOf(sessionId) {
      names ??= readNames(
        mirror
          .files()
          .flatMap(({ kind, owner, here }) => (kind === 'name' && owner === self?.person ? [here] : [])),
      )
      return names.get(sessionId)
    },
    whole: (path) => mirror.whole(path),
    documentFiles,
    onChange,
    async begin(kept, shared) {
      keeper = kept
      const { home } = config
      shipping = await openShipping({
        openLog: open,
        log: address.shown,
        home,
        sources,
        keeper: kept,
        mask: (line) => masking.mask(line),
        keepHere,
        now,
      })
      stopDocuments = offerDocuments(shared, shipping)
      feed = openTeamFeed({ address, keeper: kept, ships: createShips(keepHere) })
      // What came while the catalogue was opened.
      void kept.catalogue.sweep()
    },
    documents: () => (documents ??= openTeamDocuments({ documentFiles, onChange, workdirHere }, now)),
    onState(listener) {
      stateListeners.add(listener)
      return () => stateListeners.delete(listener)
    },
    async settled() {
      await shipping?.drained()
      await feed?.settled()
      await mirror.settled()
      await keeper?.catalogue.settled()
    },
    async close() {
      clearTimeout(telling)
      stopDocuments?.()
      await documents?.then((opened) => opened.close()).catch(() => undefined)
      await feed?.close()
      await search.close()
      await shipping?.close()
      await mirror.close()
      await masking.close()
      await (await book.opened())?.close()
    },
  }

  function originOf(path: string): SessionOrigin | undefined {
    const file = mirror.find(path)
    return file && toOrigin(file)
  }
}

function offerDocuments(shared: SharedDocuments | undefined, shipping: Shipping): (() => void) | undefined {
  const offer = (): void => {
    for (const file of shared?.files() ?? []) shipping.offer({ kind: 'document', ...file })
  }
  offer()
  return shared?.onChange(offer)
}

/** Looks at a transcript as a list does. What comes of it is of no use here: who misses something says so. */
function glance(path: string, root: string): void {
  const [layout = ''] = path.slice(root.length + 1).split(sep)
  createLayout(layout, join(root, layout)).look({ id: basename(path, '.jsonl'), path })
}

function toTrouble(error: Error): NonNullable<TeamStatus['trouble']> {
  if (!(error instanceof ThroughlineError)) return { code: 'internal', message: error.message }
  const { code, message, hint } = error
  return { code, message, ...(hint === undefined ? {} : { hint }) }
}
