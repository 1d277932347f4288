import { statSync } from 'node:fs'
import type { LineFormat, Meter } from '#sources'
import { createGrowth, type GrowthEvent, type GrowthOptions } from './growth.ts'

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

export interface FollowedFileOptions extends GrowthOptions {
  /** Told before all listeners. */
  readonly onEvent?: (event: GrowthEvent) => void
  /** After every look. */
  readonly onLooked?: () => Promise<void>
}

export function createFollowedFile(options: FollowedFileOptions): FollowedFile {
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

/** Files that somebody follows, each once. Those that nobody listens to any more are let go. */
export interface FollowedFiles {
  find(path: string): FollowedFile | undefined
  follow(path: string, format: LineFormat): FollowedFile
  /** Looks that are under way. */
  busy(): readonly Promise<void>[]
}

export function createFollowedFiles(meter?: Meter): FollowedFiles {
  const files = new Map<string, FollowedFile>()
  return {
    find: (path) => files.get(path),
    follow(path, format) {
      const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0
      const known = files.get(path) ?? createFollowedFile({ path, format, size, meter })
      for (const [other, file] of files) if (file.listeners === 0) files.delete(other)
      files.set(path, known)
      return known
    },
    busy: () => [...files.values()].flatMap((file) => file.busy ?? []),
  }
}
