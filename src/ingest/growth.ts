import { ThroughlineError } from '#base'
import type { Reading } from '#model'
import {
  cursorAt,
  endOfLines,
  findNextLine,
  openTranscript,
  readForward,
  readOpenLine,
  type LineFormat,
  type Meter,
  type TranscriptFile,
} from '#sources'
import { guardAt } from './file-guard.ts'

/** What happened to a file since somebody looked. */
export type GrowthEvent =
  | {
      readonly kind: 'grown'
      readonly readings: readonly Reading[]
      readonly from: number
      readonly to: number
      readonly cursor: string
    }
  /** What was read before is not there any more. The file is followed from its present end on. */
  | { readonly kind: 'reset'; readonly reason: 'truncated' | 'replaced' | 'rewritten' }
  | { readonly kind: 'gone' }

/**
 * Follows a file as it grows, in pieces of bounded size: whole lines, each told once. A last line without its newline
 * is whole when it can be read and nobody has written to the file for a moment.
 */
export interface Growth {
  /** Everything before this offset was told, or was there before. */
  readonly offset: number
  news(): AsyncGenerator<GrowthEvent>
}

export interface GrowthOptions {
  readonly path: string
  readonly format: LineFormat
  /** How large the file was when it was known last: what could be read of it up to there is not news. */
  readonly size: number
  readonly meter?: Meter | undefined
  /** Whether nobody has written to the file for a moment. Whoever says no asks for news again when that is so. */
  readonly isAtRest?: ((modifiedMs: number) => boolean) | undefined
}

export function createGrowth({ path, format, size, meter, isAtRest }: GrowthOptions): Growth {
  let offset: number | undefined
  let known: { readonly identity: string; readonly guard: string; readonly stamp: string } | undefined
  let gone = false
  /** The last line is left out, because it may still be coming. */
  let isUnfinished = false

  async function* news(): AsyncGenerator<GrowthEvent> {
    const file = openIfThere(path, meter)
    if (file === undefined) {
      if (!gone) yield { kind: 'gone' }
      gone = true
      return
    }
    try {
      yield* newsOf(file)
    } finally {
      file.close()
    }
  }

  async function* newsOf(file: TranscriptFile): AsyncGenerator<GrowthEvent> {
    const stamp = `${file.size}:${file.modifiedMs}`
    const isSameFile = known?.identity === file.identity
    if (isSameFile && known?.stamp === stamp && !gone && !isUnfinished) {
      // Two writes can share a time stamp of the file system: look whether it is the same text.
      if (guardAt(file, offset ?? 0) === known.guard) return
    }
    const reason = resetReason(file)
    if (reason !== undefined) {
      offset = (await readOpen(file))?.to ?? (await endOfLines(file))
      known = { identity: file.identity, guard: guardAt(file, offset), stamp }
      gone = false
      yield { kind: 'reset', reason }
      return
    }
    gone = false
    offset ??= await findStart(file)
    // The newline of a line that was told without it is no line.
    let from = findNextLine(file, offset) ?? offset
    offset = from
    // Before it is read: when it is written anew meanwhile, the next look tells so.
    const end = Math.max(from, await endOfLines(file))
    const guard = guardAt(file, end)
    if (end > from) {
      for await (const batch of readForward(file, format, { from, to: end })) {
        const to = batch.next
        if (to <= from) continue
        offset = to
        yield { kind: 'grown', readings: batch.readings, from, to, cursor: cursorAt(file, to) }
        from = to
      }
    }
    known = { identity: file.identity, guard: offset < end ? '' : guard, stamp }
    const last = offset < end ? undefined : await readOpen(file)
    if (last === undefined) return
    const { readings, to } = last
    offset = to
    known = { ...known, guard: guardAt(file, to) }
    yield { kind: 'grown', readings, from, to, cursor: cursorAt(file, to) }
  }

  /** A last line without its newline, when it is whole and was not told. */
  async function readOpen(
    file: TranscriptFile,
  ): Promise<{ readonly readings: readonly Reading[]; readonly to: number } | undefined> {
    const from = await endOfLines(file)
    isUnfinished = false
    if (from === file.size || offset === file.size) return undefined
    if (isAtRest?.(file.modifiedMs) === false) {
      isUnfinished = true
      return undefined
    }
    const { readings, isReadable } = await readOpenLine(file, format, from)
    return isReadable ? { readings, to: file.size } : undefined
  }

  /** Where news begins: behind what was known of it. */
  async function findStart(file: TranscriptFile): Promise<number> {
    const isAll = file.size === size
    return (
      (isAll ? (await readOpen(file))?.to : undefined) ?? (await endOfLines(file, Math.min(size, file.size)))
    )
  }

  function resetReason(file: TranscriptFile): 'truncated' | 'replaced' | 'rewritten' | undefined {
    if (offset === undefined) return file.size < size ? 'truncated' : undefined
    if (file.size < offset) return 'truncated'
    // A line that was told without its newline went on, and is another one.
    if (findNextLine(file, offset) === undefined) return 'rewritten'
    if (known === undefined || guardAt(file, offset) === known.guard) return undefined
    return file.identity === known.identity ? 'rewritten' : 'replaced'
  }

  return {
    get offset() {
      return offset ?? 0
    },
    news,
  }
}

function openIfThere(path: string, meter: Meter | undefined): TranscriptFile | undefined {
  try {
    return openTranscript(path, meter)
  } catch (error) {
    if (error instanceof ThroughlineError) return undefined
    throw error
  }
}
