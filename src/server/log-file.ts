import { constants, existsSync } from 'node:fs'
import { open, rename, type FileHandle } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Log, LogFields } from './log.ts'
import { makePrivateFolder } from './secret.ts'

/** A log of JSON lines that never grows past a few files. */
export interface LogFile {
  readonly log: Log
  /** Writes no more, whatever is logged: the file is not where it was. */
  abandon(): void
  close(): Promise<void>
}

const LOG_BYTES = 5 * 1024 * 1024
const KEPT = 3
/** What waits for a slow disk. What comes on top is counted and dropped: a log is no reason to run out of memory. */
const MOST_WAITING = 1024 * 1024

/**
 * Opens a log for appending. It is no journal: lines are written as they come, and a crash may cost the last ones.
 * Control characters are escaped, so that looking at it does nothing.
 */
export async function openLogFile(
  path: string,
  options: {
    readonly now: () => number
    readonly mostBytes?: number
    /** Takes secrets out of a field. What it throws on is left out. */
    readonly mask?: (text: string) => string
  },
): Promise<LogFile> {
  const most = options.mostBytes ?? LOG_BYTES
  await makePrivateFolder(dirname(path))
  let file = await openForAppending(path)
  let size = (await file.stat()).size
  let waiting = ''
  let dropped = 0
  let writing: Promise<void> | undefined
  let isOver = false

  async function drain(): Promise<void> {
    for (;;) {
      if (waiting === '' || isOver) return
      // Whole lines, and no more of them than a file may have.
      const end = waiting.length <= most ? waiting.length : waiting.lastIndexOf('\n', most) + 1
      const bytes = Buffer.from(end === 0 ? waiting : waiting.slice(0, end))
      waiting = end === 0 ? '' : waiting.slice(end)
      if (size > 0 && size + bytes.length > most) await rotate()
      await file.write(bytes)
      size += bytes.length
    }
  }

  async function rotate(): Promise<void> {
    await file.close()
    for (let age = KEPT - 1; age >= 1; age--) {
      const from = age === 1 ? path : `${path}.${age - 1}`
      if (existsSync(from)) await rename(from, `${path}.${age}`)
    }
    file = await openForAppending(path)
    size = 0
  }

  return {
    log(level, event, fields = {}) {
      if (isOver) return
      if (waiting.length > MOST_WAITING) {
        dropped++
        return
      }
      const lost = dropped === 0 ? {} : { dropped }
      dropped = 0
      waiting += `${toLogLine({ at: new Date(options.now()).toISOString(), level, event, ...masked(fields, options.mask), ...lost })}\n`
      // A disk that takes no log is no reason to stop serving.
      writing ??= drain().then(finish, finish)
    },
    abandon() {
      isOver = true
    },
    async close() {
      await writing
      isOver = true
      await file.close()
    },
  }

  function finish(): void {
    writing = undefined
  }
}

/** Shorter ones are codes and counts. */
const SHORTEST_SECRET = 12

function masked(fields: LogFields, mask: ((text: string) => string) | undefined): LogFields {
  if (mask === undefined) return fields
  return Object.fromEntries(
    Object.entries(fields).map(([key, value]) => {
      if (typeof value !== 'string' || value.length < SHORTEST_SECRET) return [key, value]
      try {
        return [key, mask(value)]
      } catch {
        return [key, '[left out]']
      }
    }),
  )
}

/** One line of JSON in which nothing can move a cursor, ring a bell or turn text around. */
function toLogLine(value: object): string {
  return JSON.stringify(value).replaceAll(
    /[\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

async function openForAppending(path: string): Promise<FileHandle> {
  const { O_APPEND, O_CREAT, O_NOFOLLOW, O_WRONLY } = constants
  return await open(path, O_APPEND | O_CREAT | O_WRONLY | (O_NOFOLLOW ?? 0), 0o600)
}
