import { setTimeout as sleep } from 'node:timers/promises'
import { ThroughlineError } from '#base'
import type { Listening, LogNews, NumberedLine, StoredFile, TeamLog } from '#store'
import { openMirrorCopies, type Glanced, type MirrorChange } from './mirror-copies.ts'
import { LONGEST_FILE } from './mirror-fetch.ts'
import type { MirroredFile } from './mirror-file.ts'
import { openMirrorFolder } from './mirror-folder.ts'

/**
 * What other machines of the team share, as files on this one: with the offsets that they have there, as long as they
 * are there, and with holes. Both ends of a transcript are always here; what lies between is fetched when it is read.
 */
export interface Mirror {
  files(): readonly MirroredFile[]
  find(path: string): MirroredFile | undefined
  /** Where a file of another machine is here. */
  findHere(origin: string, path: string): string | undefined
  /** Whose machine it is that has this folder here. */
  ownerOf(folder: string): string | undefined
  /** Fetches all of a file. Rejects with `team-unreached`. */
  whole(path: string): Promise<void>
  status(): MirrorStatus
  /** Resolves when everything is here that the team has now. Waits for the database. */
  settled(): Promise<void>
  close(): Promise<void>
}

export interface MirrorStatus {
  readonly files: number
  /** What is here of them. */
  readonly bytes: number
  /** What came over the network since it was opened. */
  readonly fetched: number
}

export interface MirrorOptions {
  readonly openLog: () => Promise<TeamLog>
  /** `<home>/team`, by its real path. */
  readonly dir: string
  /** Whether a place is one of a layout that is read here. */
  readonly isPlace: (place: string) => boolean
  /** Looks at a transcript as a list would. What it misses is fetched before anybody is told of the file. */
  readonly glance: (look: Glanced) => void
  readonly onChange: (change: MirrorChange) => void
  readonly onTrouble?: ((error: Error) => void) | undefined
  /** Everything that may be seen was looked at. */
  readonly onConnected?: (() => void) | undefined
  readonly pollMs?: number | undefined
}

const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 10_000
const KINDS = ['transcript', 'side', 'document', 'name'] as const
/** Files that are begun at the same time. */
const AT_ONCE = 6
const FILES_PAGE = 1000

/** Opens at once, with what was here before. The database may come later. */
export function openMirror(options: MirrorOptions): Mirror {
  const folder = openMirrorFolder(options.dir, options.isPlace)
  const closing = new AbortController()
  const { signal } = closing
  let log: TeamLog | undefined
  let self: string | undefined
  let listening: Listening | undefined
  let looking: Promise<void> | undefined
  let looksAgain = false
  let taking: Promise<void> = Promise.resolve()
  /** Files that have no place here, this machine's own among them. */
  const ignored = new Set<number>()
  /** Files that are not for the mirror, by number. */
  const others = new Set<number>()
  const { glance, onChange } = options
  const copies = openMirrorCopies({ folder, log: () => log, glance, onChange, onTrouble: tell })
  const connecting = connect()

  async function connect(): Promise<void> {
    for (let pause = FIRST_PAUSE_MS; !signal.aborted; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
      let opened: TeamLog | undefined
      try {
        opened = await options.openLog()
        // What this machine has itself is not mirrored.
        self = opened.self.origin
        const after = await opened.newest()
        log = opened
        if (!signal.aborted) listening = listen(opened, after)
        return
      } catch (error) {
        await opened?.close().catch(() => undefined)
        tell(error)
        await sleep(pause, undefined, { signal }).catch(() => undefined)
      }
    }
  }

  function listen(opened: TeamLog, after: number): Listening {
    return opened.listen({
      after,
      onNews(news) {
        taking = takeNews(news)
        return taking
      },
      // What is new to be seen, and what is not to be seen any more.
      onAccess: () => void look().catch(tell),
      onTrouble: tell,
      ...(options.pollMs === undefined ? {} : { pollMs: options.pollMs }),
    })
  }

  function tell(error: unknown): void {
    if (signal.aborted) return
    // Somebody has ended this machine's way in.
    if (error instanceof ThroughlineError && error.code === 'not-in-team')
      for (const { number } of copies.all()) copies.remove(number)
    options.onTrouble?.(error instanceof Error ? error : new Error(String(error)))
  }

  /** Looks at everything that may be seen. Asked while it looks, it looks once more. */
  function look(): Promise<void> {
    looksAgain = true
    looking ??= (async () => {
      while (looksAgain && !signal.aborted) {
        looksAgain = false
        await list()
      }
    })().finally(() => {
      looking = undefined
    })
    return looking
  }

  async function list(): Promise<void> {
    ignored.clear()
    // What comes meanwhile is not in the list, and stays.
    const before = copies.all()
    const wanted = await findWanted()
    if (wanted === undefined) return
    for (const { here, number } of before) if (!wanted.has(here)) copies.remove(number)
    const queue = [...wanted].toSorted(([, one], [, other]) => other.number - one.number).values()
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        for (const [here, stored] of queue) if (!signal.aborted) await bring(here, stored)
      }),
    )
    if (!signal.aborted) options.onConnected?.()
  }

  async function findWanted(): Promise<ReadonlyMap<string, StoredFile> | undefined> {
    const wanted = new Map<string, StoredFile>()
    for (const kind of KINDS) {
      for (let after = 0; ;) {
        if (log === undefined || signal.aborted) return undefined
        const page = await log.files({ kind, after, limit: FILES_PAGE })
        for (const stored of page) {
          const here = toHere(stored)
          // What was rewritten is another file with the same name: the newest counts.
          if (here !== undefined && (wanted.get(here)?.number ?? 0) < stored.number) wanted.set(here, stored)
        }
        const last = page.at(-1)
        if (last === undefined || page.length < FILES_PAGE) break
        after = last.number
      }
    }
    return wanted
  }

  /** One file that cannot be had does not keep the others away; a database that does not answer does. */
  async function bring(here: string, stored: StoredFile): Promise<void> {
    try {
      await copies.bring(here, stored)
    } catch (error) {
      if (error instanceof ThroughlineError && error.code.startsWith('database-')) throw error
      tell(error)
    }
  }

  function toHere(stored: StoredFile): string | undefined {
    const isOdd = stored.size > LONGEST_FILE || (stored.kind === 'transcript' && stored.size === 0)
    return stored.origin === self || isOdd ? undefined : folder.pathOf(stored)
  }

  async function takeNews({ lines }: LogNews): Promise<void> {
    for (const line of toRuns(lines)) {
      if (signal.aborted) return
      if (others.has(line.file)) continue
      if (ignored.has(line.file)) continue
      if (copies.byNumber(line.file) === undefined) await beginNew(line.file)
      else await copies.take(line)
    }
  }

  /** Of a file that nobody has told of: it is new, or it is none that is mirrored. */
  async function beginNew(number: number): Promise<void> {
    const stored = await log?.findFile(number)
    if (stored === undefined) return
    // Once is enough: what is written here comes back by the thousand lines.
    if (stored.origin === self || !KINDS.some((kind) => kind === stored.kind)) {
      others.add(number)
      return
    }
    const here = toHere(stored)
    if (here !== undefined) await bring(here, stored)
  }

  return {
    files: () => copies.all(),
    find: (path) => copies.find(path),
    findHere: (origin, path) => copies.findHere(origin, path),
    ownerOf: (dir) => copies.ownerOf(dir),
    async whole(path) {
      const range = copies.whole(path)
      if (range === undefined) throw folder.unreached(path)
      await copies.ensure(range)
    },
    status: () => copies.status(),
    async settled() {
      await connecting
      await look()
    },
    async close() {
      closing.abort()
      await connecting
      await listening?.close()
      await looking?.catch(() => undefined)
      await taking.catch(() => undefined)
      await copies.close()
      await log?.close().catch(() => undefined)
    },
  }
}

/** What is written at once. */
const RUN = 1024 * 1024

/** Lines of one file that stand behind each other, put together. */
function toRuns(lines: readonly NumberedLine[]): readonly NumberedLine[] {
  const runs: { readonly first: NumberedLine; readonly pieces: Buffer[]; length: number }[] = []
  for (const line of lines) {
    const last = runs.at(-1)
    const goesOn =
      last !== undefined &&
      last.first.file === line.file &&
      last.first.offset + last.length === line.offset &&
      last.pieces.length > 0 &&
      last.length < RUN
    if (goesOn && line.bytes !== undefined) {
      last.pieces.push(line.bytes)
      last.length += line.length
    } else
      runs.push({ first: line, pieces: line.bytes === undefined ? [] : [line.bytes], length: line.length })
  }
  return runs.map(({ first, pieces, length }) =>
    pieces.length < 2 ? first : { ...first, length, bytes: Buffer.concat(pieces) },
  )
}
