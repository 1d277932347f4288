import type { LineFormat, Meter } from '#sources'
import { createGrowth, type GrowthEvent, type GrowthOptions } from './growth.ts'
import { createRests } from './rests.ts'
import { findStatsOf } from './folder-mark.ts'

/** A file whose growth somebody wants to hear of. */
export interface FollowedFile {
  /** Everything before this offset was told, or was there before. */
  readonly offset: number
  /** Looks at the file now. One look at a time; asked meanwhile, it looks once more. */
  refresh(): Promise<void>
  /** Whether it is being looked at. */
  readonly busy: Promise<void> | undefined
  listen(listener: (event: GrowthEvent) => void): () => void
  readonly listeners: number
}

interface FollowedFileOptions extends GrowthOptions {
  /** Told before all listeners. */
  readonly onEvent?: (event: GrowthEvent) => void
  /** After every look. */
  readonly onLooked?: () => Promise<void>
}

function createFollowedFile(options: FollowedFileOptions): FollowedFile {
  const growth = createGrowth(options)
  const listeners = new Set<(event: GrowthEvent) => void>()
  let busy: Promise<void> | undefined
  let again = false

  async function look(): Promise<void> {
    do {
      again = false
      for await (const event of growth.news()) {
        options.onEvent?.(event)
        for (const listener of listeners) listener(event)
      }
      await options.onLooked?.()
    } while (again)
  }

  return {
    get offset() {
      return growth.offset
    },
    get busy() {
      return busy
    },
    get listeners() {
      return listeners.size
    },
    refresh() {
      if (busy !== undefined) {
        again = true
        return busy
      }
      busy = look().finally(() => {
        busy = undefined
      })
      return busy
    },
    listen(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

/** Files that are followed: those of sessions, and those beside them that somebody listens to. */
export interface FollowedFiles {
  /** The file of a session. */
  own(options: FollowedFileOptions): FollowedFile
  /** A file beside one, once. Those that nobody listens to any more are let go. */
  follow(path: string, format: LineFormat): FollowedFile
  /** The file beside one, when somebody follows it. */
  find(path: string): FollowedFile | undefined
  /** Looks that are under way. */
  busy(): readonly Promise<void>[]
  /** Resolves when no look is under way, nor any `other` work, and no last line is waited for that is waited for now. */
  settled(other: () => readonly Promise<void>[]): Promise<void>
  /** Waits for no last line any more. */
  close(): void
}

interface FollowedFilesOptions {
  readonly meter?: Meter | undefined
  /** The time, in milliseconds. */
  readonly now: () => number
  /** How long nobody writes to a file before its last line is taken without a newline. */
  readonly restMs?: number | undefined
}

/** `owners`: the sessions, with those of their files that are followed. */
export function createFollowedFiles(
  owners: ReadonlyMap<string, { readonly file: FollowedFile | undefined }>,
  { meter, now, restMs }: FollowedFilesOptions,
): FollowedFiles {
  const beside = new Map<string, FollowedFile>()
  const rests = createRests<string>({
    onRest: (path) => void (owners.get(path)?.file ?? beside.get(path))?.refresh(),
    restMs,
    now,
  })

  function open(options: FollowedFileOptions): FollowedFile {
    const { path } = options
    return createFollowedFile({
      ...options,
      meter,
      isAtRest: (modifiedMs) => rests.isAtRest(path, modifiedMs, path),
    })
  }

  function busy(): readonly Promise<void>[] {
    const owned = [...owners.values()].flatMap(({ file }) => file ?? [])
    return [...owned, ...beside.values()].flatMap((file) => file.busy ?? [])
  }

  return {
    own: open,
    find: (path) => beside.get(path),
    follow(path, format) {
      const size = findStatsOf(path)?.size ?? 0
      const known = beside.get(path) ?? open({ path, format, size })
      for (const [other, file] of beside) if (file.listeners === 0) beside.delete(other)
      beside.set(path, known)
      return known
    },
    busy,
    async settled(other) {
      const quiet = async (): Promise<void> => {
        for (let all = other(); all.length > 0 || busy().length > 0; all = other())
          await Promise.all([...all, ...busy()])
      }
      await quiet()
      await rests.settled()
      await quiet()
    },
    close: () => rests.stop(),
  }
}
