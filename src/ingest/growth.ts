import { ThroughlineError } from '#base'
import type { Reading } from '#model'
import {
  cursorAt,
  endOfLines,
  openTranscript,
  readForward,
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

/** Follows a file as it grows, in pieces of bounded size: whole lines, each told once. */
export interface Growth {
  /** Everything before this offset was told, or was there before. */
  readonly offset: number
  news(): AsyncGenerator<GrowthEvent>
}

export interface GrowthOptions {
  readonly path: string
  readonly format: LineFormat
  /** How large the file was when it was known last: its whole lines up to there are not news. */
  readonly size: number
  readonly meter?: Meter | undefined
}

export function createGrowth({ path, format, size, meter }: GrowthOptions): Growth {
  let offset: number | undefined
  let known: { readonly identity: string; readonly guard: string; readonly stamp: string } | undefined
  let gone = false

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
    if (isSameFile && known?.stamp === stamp && !gone) {
      // Two writes can share a time stamp of the file system: look whether it is the same text.
      if (guardAt(file, offset ?? 0) === known.guard) return
    }
    const reason = resetReason(file)
    if (reason !== undefined) {
      offset = endOfLines(file)
      known = { identity: file.identity, guard: guardAt(file, offset), stamp }
      gone = false
      yield { kind: 'reset', reason }
      return
    }
    gone = false
    let from = (offset ??= endOfLines(file, Math.min(size, file.size)))
    // Before it is read: when it is written anew meanwhile, the next look tells so.
    const end = endOfLines(file)
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
  }

  function resetReason(file: TranscriptFile): 'truncated' | 'replaced' | 'rewritten' | undefined {
    if (offset === undefined) return file.size < size ? 'truncated' : undefined
    if (file.size < offset) return 'truncated'
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
