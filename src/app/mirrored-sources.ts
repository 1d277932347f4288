import { readdirSync } from 'node:fs'
import { join, sep } from 'node:path'
import type { CatalogueSource } from '#ingest'
import type { SessionOrigin, SessionSummary } from '#model'
import { MIRROR_SUFFIX, type Meter, type SessionFiles, type Source } from '#sources'
import { createLayout, LAYOUTS } from './team-layouts.ts'

export interface MirroredOptions {
  /** `<home>/team`. */
  readonly dir: string
  /** The folders of other machines that are here now. */
  readonly folders: () => readonly string[]
  /** Whether a folder is that of another machine of one's own. */
  readonly isMine: (folder: string) => boolean
  /** Where a session is that has its transcript there. */
  readonly originOf: (path: string) => SessionOrigin | undefined
  readonly meter?: Meter | undefined
}

/**
 * What the sessions of other machines are read from: for each layout one source over all of them, whichever there are
 * at the moment.
 */
export function createMirroredSources(options: MirroredOptions): readonly CatalogueSource[] {
  const folders = ownFirst(options)
  return LAYOUTS.map((layout) => ({
    source: createMirroredSource(layout, { ...options, folders }),
    isArchive: false,
    isMirror: true as const,
    ...(layout === 'entire' ? { isRecorded: true as const } : {}),
  }))
}

/** Of a session that several machines have, one's own is shown, whatever others say. */
function ownFirst({ folders, isMine }: MirroredOptions): () => readonly string[] {
  return () => {
    const all = folders()
    return [...all.filter(isMine), ...all.filter((folder) => !isMine(folder))]
  }
}

function createMirroredSource(layout: string, { dir, folders, originOf, meter }: MirroredOptions): Source {
  const known = new Map<string, Source>()
  const template = createLayout(layout, join(dir, 'nowhere'), meter)

  function sourceIn(folder: string): Source {
    const found = known.get(folder) ?? createLayout(layout, join(folder, layout), meter)
    known.set(folder, found)
    return found
  }

  function all(): readonly Source[] {
    const there = folders()
    for (const folder of known.keys()) if (!there.includes(folder)) known.delete(folder)
    return there.map(sourceIn)
  }

  function sourceOf(path: string): Source {
    const [machine = ''] = path.slice(dir.length + 1).split(sep)
    return sourceIn(join(dir, machine))
  }

  function look(files: SessionFiles): SessionSummary {
    const origin = originOf(files.path)
    return { ...sourceOf(files.path).look(files), ...(origin === undefined ? {} : { origin }) }
  }

  async function find(): ReturnType<Source['find']> {
    const found = await Promise.all(all().map((source) => source.find()))
    // What lies there is written here: nobody else can do anything about it.
    return { sessions: found.flatMap(({ sessions }) => sessions), problems: [] }
  }

  return {
    ...template,
    root: dir,
    // Nobody watches them: who writes them says so.
    folders: () => [],
    find,
    stamp(now) {
      const stamps = all().map((source) => source.stamp(now))
      return stamps.includes('') ? '' : `none ${stamps.join('\n')}`
    },
    look,
    findPlace: (path) => sourceOf(path).findPlace(path),
    at: (root) => createLayout(layout, root, meter),
    async list() {
      const { sessions } = await find()
      return { sessions: sessions.map(look), problems: [] }
    },
    findWorkdirs: (path) => sourceOf(path).findWorkdirs(path),
  }
}

/** The folders of other machines that are here. */
export function mirrorFolders(dir: string): readonly string[] {
  return readdirSync(dir)
    .filter((name) => name.endsWith(MIRROR_SUFFIX) && !name.startsWith('coming.'))
    .map((name) => join(dir, name))
}
