import { setTimeout as sleep } from 'node:timers/promises'
import { ThroughlineError } from '#base'
import { endOfLines, formatOf, readOpenLine, type TranscriptFile } from '#sources'
import type { LogFile, LogLine, TeamLog } from '#store'
import { guardAt } from './file-guard.ts'
import {
  findLineEnd,
  isStillThere,
  openOneOf,
  readLines,
  readText,
  toLines,
  whereToGoOn,
} from './outbox-reading.ts'
import { openOutboxState, type Held, type Shipped } from './outbox-state.ts'
import { createRests } from './rests.ts'
import { findStatsOf } from './folder-mark.ts'

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

/**
 * A file of the kind `side` is one text: it is masked as a whole, and shipped to its last byte as soon as nobody has
 * written to it for a moment. So is a last line of a transcript that lacks only its newline.
 */
export interface OfferedFile extends Omit<LogFile, 'identity'> {
  /** Where the same file is found when its agent has deleted it. */
  readonly keptAt?: string | undefined
  /** Somebody may be waiting for it: before everything that is not. */
  readonly urgent?: true | undefined
}

export interface OutboxStatus {
  /** How many files have something to ship. */
  readonly waiting: number
  /** How many bytes of them are not shipped. */
  readonly bytes: number
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
  /** The name of the log: what is remembered of another one does not count. */
  readonly log?: string | undefined
  /**
   * What is sent instead of a line: as long as it is, with its secrets masked. When it throws, the line stays here;
   * with `internal`, it is tried again.
   */
  readonly mask: (line: Buffer) => Promise<Buffer>
  /** Tells how long ago a file was written to. Not there: no file is waited for. */
  readonly now?: (() => number) | undefined
}

const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 10_000
const SAVE_EVERY_MS = 2000

export async function openOutbox(options: OutboxOptions): Promise<Outbox> {
  const { openLog, path, mask, now } = options
  const state = await openOutboxState(path, options.log)
  const offered = new Map<string, OfferedFile>()
  const urgent = new Map<string, OfferedFile>()
  /** What may still be coming is looked at again when nobody has written to its file for a moment. */
  const rests = createRests<OfferedFile>({ onRest: offer, now })
  /** What the log was told of files, so that it is told once. */
  const told = new Map<string, { readonly said: string; readonly number: number }>()
  const closing = new AbortController()
  const waiters: (() => void)[] = []
  let log: Promise<TeamLog> | undefined
  let trouble: Error | undefined
  let working: Promise<void> | undefined
  let savedAt = performance.now()

  function offer(file: OfferedFile): void {
    if (file.urgent === true) urgent.set(file.path, file)
    else offered.set(file.path, file)
    wake()
  }

  const isDone = (): boolean => offered.size === 0 && urgent.size === 0

  function wake(): void {
    if (closing.signal.aborted) return
    working ??= work().finally(() => {
      working = undefined
      if (!isDone()) wake()
    })
  }

  async function work(): Promise<void> {
    let pause = FIRST_PAUSE_MS
    while (!closing.signal.aborted) {
      const queue = urgent.size > 0 ? urgent : offered
      const [next] = queue.values()
      if (next === undefined) break
      try {
        const isWhole = await shipFile(next, () => queue === offered && urgent.size > 0)
        trouble = undefined
        pause = FIRST_PAUSE_MS
        // One that was offered again meanwhile is looked at again.
        if (isWhole && queue.get(next.path) === next) queue.delete(next.path)
        if (performance.now() - savedAt > SAVE_EVERY_MS) await save()
      } catch (error) {
        trouble = error instanceof Error ? error : new Error(String(error))
        told.clear()
        await sleep(pause, undefined, { signal: closing.signal }).catch(() => {})
        pause = Math.min(pause * 2, LONGEST_PAUSE_MS)
      }
    }
    if (!isDone()) return
    await save()
    if (rests.waiting().length > 0) return
    for (const done of waiters.splice(0)) done()
  }

  /** How far it is, is only a hint: a disk that is full does not keep lines from being shipped. */
  async function save(): Promise<void> {
    savedAt = performance.now()
    await state.save().catch((error: unknown) => {
      trouble = error instanceof Error ? error : new Error(String(error))
    })
  }

  /** Whether all of it is shipped that can be. */
  async function shipFile(file: OfferedFile, isOvertaken: () => boolean): Promise<boolean> {
    const transcript = openOneOf([file.path, file.keptAt])
    // Gone before it was shipped, and nobody kept it.
    if (transcript === undefined) return true
    try {
      if (file.kind === 'side' && !rests.isAtRest(file.path, transcript.modifiedMs, file)) return true
      const shipped = whereToGoOn(transcript, state.find(file.path))
      const team = await (log ??= openLog().catch((error: unknown) => {
        log = undefined
        throw error
      }))
      const number = await makeKnown(team, file, `${shipped.identity}:${shipped.generation}`)
      const send = (lines: readonly LogLine[]): Promise<unknown> => team.append(lines)
      return await shipLines(transcript, { file, shipped, send, number, isOvertaken })
    } finally {
      transcript.close()
    }
  }

  async function makeKnown(team: TeamLog, file: OfferedFile, identity: string): Promise<number> {
    const { keptAt: _, urgent: __, ...described } = file
    const said = JSON.stringify([identity, described])
    const known = told.get(file.path)
    if (known?.said === said) return known.number
    const number = await team.putFile({ ...described, identity })
    told.set(file.path, { said, number })
    return number
  }

  async function shipLines(transcript: TranscriptFile, shipping: Shipping): Promise<boolean> {
    const { file, shipped, number, send } = shipping
    const isText = file.kind === 'side'
    const end = isText ? transcript.size : await endOfLines(transcript)
    let { offset, guard } = shipped
    while (offset < end) {
      if (closing.signal.aborted || shipping.isOvertaken()) return false
      const bytes = await (isText ? readText : readLines)(transcript, offset, end)
      const lines = await maskLines({ file, offset, bytes, number })
      const isSame = guardAt(transcript, offset) === guard && isStillThere(transcript, offset, bytes)
      // Looked at again, it is another file.
      if (!isSame) throw new Error(`${file.path} was rewritten while it was read`)
      if (bytes.length === 0) {
        // Longer than anything that is held in memory here.
        const to = isText ? end : await findLineEnd(transcript, offset, end)
        state.hold({ path: file.path, offset, length: to - offset, reason: 'too long' })
        offset = to
      } else {
        await send(lines)
        offset += bytes.length
      }
      guard = guardAt(transcript, offset)
      state.set(file.path, { ...shipped, offset, guard, open: undefined })
    }
    if (offset < transcript.size && file.kind === 'transcript')
      await shipLastLine(transcript, { ...shipping, shipped: { ...shipped, offset, guard } })
    return true
  }

  /**
   * A last line that lacks only its newline. It is sent again, in its place, when it has it: a line is sent from its
   * beginning, so that it is the same one whenever it is sent.
   */
  async function shipLastLine(transcript: TranscriptFile, shipping: Shipping): Promise<void> {
    const { file, shipped, number, send } = shipping
    const { offset } = shipped
    if (!rests.isAtRest(file.path, transcript.modifiedMs, file)) return
    const open = guardAt(transcript, transcript.size)
    const { isReadable } = await readOpenLine(transcript, formatOf(file.path), offset)
    if (!isReadable || state.find(file.path)?.open === open) return
    const bytes = await readText(transcript, offset, transcript.size)
    const lines = await maskLines({ file, offset, bytes, number })
    if (bytes.length === 0 || !isStillThere(transcript, offset, bytes)) return
    await send(lines)
    state.set(file.path, { ...shipped, open })
  }

  async function maskLines({ file, offset, bytes, number }: Masking): Promise<readonly LogLine[]> {
    const pieces = file.kind === 'side' ? [bytes] : toLines(bytes)
    let at = offset
    const places = pieces.map((piece) => {
      const place = at
      at += piece.length
      return place
    })
    const masked = await Promise.all(
      pieces.map((piece, nth) => maskOne(file.path, places[nth] ?? offset, piece)),
    )
    return masked.flatMap((piece, nth) => {
      let from = places[nth] ?? offset
      return (piece === undefined ? [] : toLines(piece)).map((line) => {
        const place = from
        from += line.length
        return { file: number, offset: place, bytes: line }
      })
    })
  }

  async function maskOne(name: string, offset: number, bytes: Buffer): Promise<Buffer | undefined> {
    try {
      const masked = bytes.length === 0 ? bytes : await mask(bytes)
      if (masked.length === bytes.length) return masked
      state.hold({ path: name, offset, length: bytes.length, reason: 'redaction-failed' })
    } catch (error) {
      const code = error instanceof ThroughlineError ? error.code : undefined
      if (code === 'internal') throw error
      state.hold({ path: name, offset, length: bytes.length, reason: code ?? 'internal' })
    }
    return undefined
  }

  function waitingBytes(): number {
    let bytes = 0
    for (const file of [...offered.values(), ...urgent.values()]) {
      const size = findStatsOf(file.path)?.size ?? 0
      bytes += Math.max(0, size - (state.find(file.path)?.offset ?? 0))
    }
    return bytes
  }

  return {
    offer,
    status: () => ({
      waiting: offered.size + urgent.size + rests.waiting().length,
      bytes: waitingBytes(),
      trouble,
      held: state.held,
    }),
    drained: () =>
      isDone() && working === undefined && rests.waiting().length === 0
        ? Promise.resolve()
        : new Promise((resolve) => {
            waiters.push(resolve)
          }),
    async close() {
      closing.abort()
      rests.stop()
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
  /** Whether something else comes first. */
  readonly isOvertaken: () => boolean
}

interface Masking {
  readonly file: OfferedFile
  readonly offset: number
  readonly bytes: Buffer
  readonly number: number
}
