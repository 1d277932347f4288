import {
  createDigestFold,
  transcriptsOf,
  type Damage,
  type Digest,
  type DigestFold,
  type Reading,
  type SessionSummary,
} from '#model'
import { guardAt } from '#ingest'
import {
  endOfLines,
  findNextLine,
  formatOf,
  openTranscript,
  readForward,
  readOpenLine,
  type Meter,
  type TranscriptFile,
} from '#sources'
import { inSteps } from './in-steps.ts'

/** The digests of sessions. Those that were asked for last are kept, and go on with what was added since. */
export interface Digests {
  read(session: SessionSummary): Promise<Digest>
}

/** A digest of a large session takes some ten megabytes to keep. */
const KEPT = 4

export function createDigests(meter?: Meter): Digests {
  /** By the path of the transcript, the one that was asked for last at the end. */
  const kept = new Map<string, Kept>()
  /** Two who ask at the same time do not read at the same time. */
  const reading = new Map<string, Promise<Digest>>()

  async function readOn(session: SessionSummary): Promise<Digest> {
    const known = kept.get(session.path)
    kept.delete(session.path)
    const files = openAll(session, meter)
    try {
      const found = known !== undefined && isGrown(known, files) ? known : createKept(session.id)
      let hasNews = found.digest === undefined
      for (const file of files) {
        const add: Add = file.path === session.path ? addOwn(found.fold) : addDelegated(found.fold, file.path)
        const before = found.states.get(file.path)
        const after = await readFile(file, { add, state: before })
        found.states.set(file.path, after)
        hasNews ||= before === undefined || before.offset !== after.offset || !isSameTail(before, after)
      }
      const tail = found.states.get(session.path)?.tail ?? []
      const digest =
        found.digest === undefined || hasNews ? await inSteps(found.fold.finishing(tail)) : found.digest
      found.digest = digest
      keep(session.path, found)
      return digest
    } finally {
      for (const file of files) file.close()
    }
  }

  function keep(path: string, found: Kept): void {
    kept.set(path, found)
    const [oldest] = kept.keys()
    if (kept.size > KEPT && oldest !== undefined) kept.delete(oldest)
  }

  return {
    read(session) {
      const before = reading.get(session.path) ?? Promise.resolve()
      const next = before.catch(() => undefined).then(() => readOn(session))
      reading.set(session.path, next)
      const forget = (): void => {
        if (reading.get(session.path) === next) reading.delete(session.path)
      }
      next.then(forget, forget)
      return next
    },
  }
}

interface Kept {
  readonly fold: DigestFold
  readonly states: Map<string, FileState>
  digest?: Digest
}

/** How far a file is in the fold. */
interface FileState {
  /** Everything before it was taken in. */
  readonly offset: number
  /** What stands before it. */
  readonly guard: string
  /** Behind it, not taken in: the beginning of a line that is still being written, or was torn. */
  readonly tail: readonly Damage[]
}

interface Add {
  lines(count: number): void
  reading(reading: Reading): void
}

function addOwn(fold: DigestFold): Add {
  return { lines: (count) => fold.addLines(count), reading: (reading) => fold.add(reading) }
}

function addDelegated(fold: DigestFold, path: string): Add {
  return { lines: () => undefined, reading: (reading) => fold.addSubagent(reading, path) }
}

function openAll(session: SessionSummary, meter: Meter | undefined): readonly TranscriptFile[] {
  const files: TranscriptFile[] = []
  try {
    for (const path of transcriptsOf(session)) files.push(openTranscript(path, meter))
  } catch (error) {
    for (const file of files) file.close()
    throw error
  }
  return files
}

function createKept(session: string): Kept {
  return { fold: createDigestFold(session), states: new Map() }
}

/** Whether all files that were read are still there, and only grew. */
function isGrown(known: Kept, files: readonly TranscriptFile[]): boolean {
  const stay = files.filter(({ path }) => known.states.has(path))
  return stay.length === known.states.size && stay.every((file) => goesOn(known, file))
}

/** Whether a file only grew since it was read; one that was not read yet did. */
function goesOn({ states }: Kept, file: TranscriptFile): boolean {
  const state = states.get(file.path)
  if (state === undefined) return true
  const { offset, guard } = state
  // What was read is here, unless it is another file by now.
  if (file.has?.(Math.min(offset, file.size), 0) === false) return false
  if (file.size < offset || guardAt(file, offset) !== guard) return false
  return findNextLine(file, offset) !== undefined
}

async function readFile(
  file: TranscriptFile,
  { add, state }: { readonly add: Add; readonly state: FileState | undefined },
): Promise<FileState> {
  // The newline of a line that was taken in without it is no line.
  const from = state === undefined ? 0 : (findNextLine(file, state.offset) ?? state.offset)
  if (state !== undefined && file.size === state.offset) return { ...state, tail: [] }
  const end = Math.max(from, await endOfLines(file))
  // Before it is read: when it is written anew meanwhile, the next look tells so.
  const guard = guardAt(file, end)
  if (end > from) {
    for await (const { readings, lineStarts } of readForward(file, formatOf(file.path), { from, to: end })) {
      add.lines(lineStarts.length)
      for (const reading of readings) add.reading(reading)
    }
  }
  if (end >= file.size) return { offset: end, guard, tail: [] }
  return await readTail(file, { add, state: { offset: end, guard, tail: [] } })
}

/** What stands behind the last whole line is taken in if it can be read; else it waits for the rest of it. */
async function readTail(
  file: TranscriptFile,
  { add, state }: { readonly add: Add; readonly state: FileState },
): Promise<FileState> {
  const { readings, isReadable } = await readOpenLine(file, formatOf(file.path), state.offset)
  if (!isReadable) {
    const tail = readings.flatMap((reading) => (reading.kind === 'damage' ? [reading.damage] : []))
    return { ...state, tail }
  }
  add.lines(1)
  for (const reading of readings) add.reading(reading)
  return { offset: file.size, guard: guardAt(file, file.size), tail: [] }
}

function isSameTail(a: FileState, b: FileState): boolean {
  return JSON.stringify(a.tail) === JSON.stringify(b.tail)
}
