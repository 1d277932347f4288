import { setTimeout as sleep } from 'node:timers/promises'
import { ThroughlineError } from '#base'
import { endOfLines, openPlainFile, type TranscriptFile } from '#sources'
import type { LogFile, LogLine, TeamLog } from '#store'
import { guardAt } from './file-guard.ts'
import { openOutboxState, type Held, type Shipped } from './outbox-state.ts'

/**
 * Ships what is written on this machine to the log of a team. The files themselves are what waits: they are on disk
 * before anybody ships them, so nothing is copied, nothing is lost while the database is away, and whoever writes them
 * waits for nobody.
 */
export interface Outbox {
  /** A file to be shipped, as far as it has whole lines. Offered again when it has grown, or is to be seen by others. */
  offer(file: OfferedFile): void
  status(): OutboxStatus
  /** Resolves when everything that was offered is shipped or held back. */
  drained(): Promise<void>
  close(): Promise<void>
}

export interface OfferedFile extends Omit<LogFile, 'identity'> {
  /** Where the same file is found when its agent has deleted it. */
  readonly keptAt?: string | undefined
}

export interface OutboxStatus {
  /** How many files have something to ship. */
  readonly waiting: number
  /** Why nothing can be shipped at the moment. */
  readonly trouble?: Error | undefined
  /** Lines that stay on this machine. */
  readonly held: readonly Held[]
}

export interface OutboxOptions {
  /** Opened when there is something to ship, and again after it broke. */
  readonly openLog: () => Promise<TeamLog>
  /** Where it is remembered how far everything is. */
  readonly path: string
  /** What is sent instead of a line: the line with its secrets masked. When it throws, the line stays here. */
  readonly mask: (line: Buffer) => Promise<Buffer>
}

/** What is read and sent at once. */
const PIECE = 1024 * 1024
const LONGEST = 64 * 1024 * 1024
const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 10_000
const SAVE_EVERY_MS = 2000
const NEWLINE = 10

export async function openOutbox({ openLog, path, mask }: OutboxOptions): Promise<Outbox> {
  const state = await openOutboxState(path)
  const offered = new Map<string, OfferedFile>()
  const closing = new AbortController()
  const waiters: (() => void)[] = []
  let log: Promise<TeamLog> | undefined
  let trouble: Error | undefined
  let working: Promise<void> | undefined
  let savedAt = performance.now()

  function wake(): void {
    if (closing.signal.aborted) return
    working ??= work().finally(() => {
      working = undefined
      if (offered.size > 0) wake()
    })
  }

  async function work(): Promise<void> {
    let pause = FIRST_PAUSE_MS
    while (!closing.signal.aborted) {
      const [next] = offered.values()
      if (next === undefined) break
      try {
        await shipFile(next)
        trouble = undefined
        pause = FIRST_PAUSE_MS
        // One that was offered again meanwhile is looked at again.
        if (offered.get(next.path) === next) offered.delete(next.path)
        if (performance.now() - savedAt > SAVE_EVERY_MS) await save()
      } catch (error) {
        trouble = error instanceof Error ? error : new Error(String(error))
        await sleep(pause, undefined, { signal: closing.signal }).catch(() => {})
        pause = Math.min(pause * 2, LONGEST_PAUSE_MS)
      }
    }
    if (offered.size > 0) return
    await save()
    for (const done of waiters.splice(0)) done()
  }

  /** How far it is, is only a hint: a disk that is full does not keep lines from being shipped. */
  async function save(): Promise<void> {
    savedAt = performance.now()
    await state.save().catch((error: unknown) => {
      trouble = error instanceof Error ? error : new Error(String(error))
    })
  }

  async function shipFile(file: OfferedFile): Promise<void> {
    const transcript = openOneOf(file)
    // Gone before it was shipped, and nobody kept it.
    if (transcript === undefined) return state.forget(file.path)
    try {
      const shipped = whereToGoOn(transcript, state.find(file.path))
      const { keptAt: _, ...described } = file
      const team = await (log ??= openLog().catch((error: unknown) => {
        log = undefined
        throw error
      }))
      const identity = `${shipped.identity}:${shipped.generation}`
      const number = await team.putFile({ ...described, identity })
      await shipLines(transcript, { file, shipped, send: (lines) => team.append(lines), number })
    } finally {
      transcript.close()
    }
  }

  async function shipLines(transcript: TranscriptFile, shipping: Shipping): Promise<void> {
    const { file, shipped, number, send } = shipping
    const end = endOfLines(transcript)
    let { offset, guard } = shipped
    while (offset < end && !closing.signal.aborted) {
      const bytes = await readLines(transcript, offset, end)
      const lines: LogLine[] = []
      for (let from = 0; from < bytes.length;) {
        const to = bytes.indexOf(NEWLINE, from) + 1
        const line = await maskLine({
          path: file.path,
          offset: offset + from,
          bytes: bytes.subarray(from, to),
        })
        if (line !== undefined) lines.push({ file: number, offset: offset + from, bytes: line })
        from = to
      }
      const isSame = guardAt(transcript, offset) === guard && isStillThere(transcript, offset, bytes)
      // Looked at again, it is another file.
      if (!isSame) throw new Error(`${file.path} was rewritten while it was read`)
      if (bytes.length === 0) {
        // Longer than anything that is held in memory here.
        const to = findLineEnd(transcript, offset, end)
        state.hold({ path: file.path, offset, length: to - offset, reason: 'too long' })
        offset = to
      } else {
        await send(lines)
        offset += bytes.length
      }
      guard = guardAt(transcript, offset)
      state.set(file.path, { ...shipped, offset, guard })
    }
  }

  async function maskLine(line: {
    path: string
    offset: number
    bytes: Buffer
  }): Promise<Buffer | undefined> {
    try {
      return await mask(line.bytes)
    } catch (error) {
      const reason = error instanceof ThroughlineError ? error.code : 'internal'
      state.hold({ path: line.path, offset: line.offset, length: line.bytes.length, reason })
      return undefined
    }
  }

  return {
    offer(file) {
      offered.set(file.path, file)
      wake()
    },
    status: () => ({ waiting: offered.size, trouble, held: state.held }),
    drained: () =>
      offered.size === 0 && working === undefined
        ? Promise.resolve()
        : new Promise((resolve) => {
            waiters.push(resolve)
          }),
    async close() {
      closing.abort()
      await working
      await save()
      await log?.then((team) => team.close()).catch(() => {})
    },
  }
}

interface Shipping {
  readonly file: OfferedFile
  readonly shipped: Shipped
  readonly number: number
  readonly send: (lines: readonly LogLine[]) => Promise<unknown>
}

function openOneOf({ path, keptAt }: OfferedFile): TranscriptFile | undefined {
  for (const name of keptAt === undefined ? [path] : [path, keptAt]) {
    try {
      return openPlainFile(name)
    } catch {
      // The next one, if there is one.
    }
  }
  return undefined
}

/** Where it goes on. What was rewritten is another file from then on: what was shipped of it stays as it was. */
function whereToGoOn(file: TranscriptFile, known: Shipped | undefined): Shipped {
  const anew = { identity: file.identity, generation: 0, offset: 0, guard: guardAt(file, 0) }
  if (known === undefined || known.identity !== file.identity) return anew
  if (known.offset <= file.size && guardAt(file, known.offset) === known.guard) return known
  return { ...anew, generation: known.generation + 1 }
}

/** Whole lines from an offset on: as many as fit a piece, or one that is longer. Empty when even that is too long. */
async function readLines(file: TranscriptFile, offset: number, end: number): Promise<Buffer> {
  for (let size = PIECE; ; size *= 4) {
    const length = Math.min(size, end - offset)
    const bytes = Buffer.allocUnsafe(length)
    const found = bytes.subarray(0, await file.read(bytes, length, offset))
    const whole = found.subarray(0, found.lastIndexOf(NEWLINE) + 1)
    if (whole.length > 0) return whole
    if (length === end - offset || size > LONGEST) return whole
  }
}

/** Whether what was read is still what the file has at its end. */
function isStillThere(file: TranscriptFile, offset: number, bytes: Buffer): boolean {
  const tail = bytes.subarray(-TAIL)
  const now = Buffer.allocUnsafe(tail.length)
  const count = file.readNow(now, tail.length, offset + bytes.length - tail.length)
  return now.subarray(0, count).equals(tail)
}

const TAIL = 4096

function findLineEnd(file: TranscriptFile, offset: number, end: number): number {
  const bytes = Buffer.allocUnsafe(PIECE)
  for (let at = offset; at < end; at += PIECE) {
    const count = file.readNow(bytes, Math.min(PIECE, end - at), at)
    const found = bytes.subarray(0, count).indexOf(NEWLINE)
    if (found >= 0) return at + found + 1
    if (count === 0) break
  }
  return end
}
