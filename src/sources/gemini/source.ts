import { ThroughlineError } from '#base'
import { join } from 'node:path'
import type { Source } from '../source.ts'
import { openTranscript, type Meter } from '../transcript-file.ts'
import {
  createTranscribedSource,
  type Original,
  type Originals,
  type TranscribedReader,
  type Transcription,
} from '../transcribed.ts'
import { isContextOnly } from './blocks.ts'
import { createHeaders } from './headers.ts'
import { findChats, findFolders, type GeminiFile } from './layout.ts'
import { readOperation, readWholeSession, type Operation } from './operations.ts'
import { createGeminiTranscriber, type GeminiTranscriber } from './transcribe.ts'

/**
 * Reads what Gemini CLI keeps under its folder. Never writes there. Its files are logs of operations: what they say is
 * transcribed to lines under `dir`.
 */
export function createGeminiSource(geminiDir: string, dir: string, meter?: Meter): Source {
  return createTranscribedSource(createGeminiReader(geminiDir, join(dir, 'headers.json')), dir, meter)
}

/** A file of this length may have a beginning and nothing else. */
const BEGINNING = 16 * 1024

/** How far a file was read. */
interface Progress {
  readonly transcriber: GeminiTranscriber
  readonly path: string
  readonly identity: string
  readonly offset: number
  /** The last bytes before the offset. */
  readonly tail: Buffer
  /** The session's other files, as they were. */
  readonly others: string
}

interface GeminiOriginal extends Original {
  readonly files: readonly GeminiFile[]
}

function createGeminiReader(geminiDir: string, headersPath: string): TranscribedReader<Progress> {
  const headers = createHeaders(headersPath)
  /** Whether something was said in them, of files that are short enough to be nothing but a beginning. */
  const spoken = new Map<string, { readonly stamp: string; readonly isSpoken: boolean }>()

  /** Every start of the client over its protocol leaves a file with a beginning and nothing else. */
  function isSpoken(file: GeminiFile): boolean {
    if (file.size > BEGINNING) return true
    const before = spoken.get(file.path)
    if (before?.stamp === file.stamp) return before.isSpoken
    const known = { stamp: file.stamp, isSpoken: readFile(file).operations.some(saysSomething) }
    spoken.set(file.path, known)
    return known.isSpoken
  }

  return {
    agent: 'gemini',
    folders: (under) => findFolders(geminiDir, under),
    stamp: () =>
      findChats(geminiDir)
        .files.map(({ path, stamp }) => `${path} ${stamp}`)
        .join('\n'),
    open(): Originals<Progress> {
      const layout = findChats(geminiDir)
      const sessions = groupBySession(layout.files, (file) => headers.idOf(file)).filter(({ files }) =>
        files.some(isSpoken),
      )
      headers.save()
      const hint = 'Nothing else is affected. Check that you may read it.'
      return {
        originals: sessions,
        problems: layout.problems.map((problem) => ({ ...problem, hint })),
        isComplete: layout.problems.length === 0,
        transcribe: (original, progress) =>
          transcribe(sessions.find(({ id }) => id === original.id) ?? { ...original, files: [] }, progress),
        close: () => undefined,
      }
    },
  }
}

/** Files of one session are put together: a resumed session leaves a second one, and older versions wrote another kind. */
function groupBySession(
  files: readonly GeminiFile[],
  idOf: (file: GeminiFile) => string,
): readonly GeminiOriginal[] {
  const groups = new Map<string, GeminiFile[]>()
  for (const file of files.toSorted(byAge)) {
    const id = idOf(file)
    groups.set(id, [...(groups.get(id) ?? []), file])
  }
  return [...groups].map(([id, own]) => {
    const [first] = own
    const stamp = own.map((file) => `${file.path} ${file.stamp}`).join('\n')
    return { id, stamp, workdir: first?.workdir, parentId: first?.parent, files: own }
  })
}

/** What older versions wrote comes first; the names of the others have their times in them. */
function byAge(a: GeminiFile, b: GeminiFile): number {
  const isLegacy = Number(b.path.endsWith('.json')) - Number(a.path.endsWith('.json'))
  return isLegacy === 0 ? (a.path < b.path ? -1 : 1) : isLegacy
}

function transcribe(session: GeminiOriginal, progress: Progress | undefined): Transcription<Progress> {
  const grown = progress === undefined ? undefined : readOn(session, progress)
  if (grown !== undefined) return grown
  const transcriber = createGeminiTranscriber({ id: session.id, cwd: session.workdir })
  const read = session.files.map((file) => ({ file, ...readFile(file) }))
  // A file with nothing but a beginning is left by every resumption. It says nothing, and would say so last.
  const spoken = read.filter(({ operations }) => operations.some(saysSomething))
  const told = spoken.length === 0 ? read.slice(0, 1) : spoken
  const lines = told.flatMap(({ operations }) => operations.flatMap((each) => transcriber.take(each)))
  const [only, another] = told
  const memory =
    only === undefined || another !== undefined || only.end === undefined
      ? undefined
      : {
          transcriber,
          path: only.file.path,
          identity: identityOf(only.file),
          ...only.end,
          others: othersOf(session, only.file.path),
        }
  return { lines, isWhole: true, memory }
}

/** What came since. Nothing when the file is not the one that was read, or its other files changed. */
function readOn(session: GeminiOriginal, progress: Progress): Transcription<Progress> | undefined {
  const file = session.files.find(({ path }) => path === progress.path)
  if (file === undefined || identityOf(file) !== progress.identity) return undefined
  if (othersOf(session, file.path) !== progress.others || file.size < progress.offset) return undefined
  const from = progress.offset - progress.tail.length
  const bytes = readBytes(file.path, from)
  if (!bytes.subarray(0, progress.tail.length).equals(progress.tail)) return undefined
  const { operations, end } = readLines(bytes.subarray(progress.tail.length), progress.offset)
  if (end === undefined) return undefined
  const lines = operations.flatMap((each) => progress.transcriber.take(each))
  const tail = end.offset === progress.offset ? progress.tail : end.tail
  return { lines, isWhole: false, memory: { ...progress, offset: end.offset, tail } }
}

function identityOf({ stamp }: GeminiFile): string {
  return stamp.split(':', 1)[0] ?? ''
}

function othersOf({ files }: GeminiOriginal, path: string): string {
  return files.flatMap((file) => (file.path === path ? [] : [`${file.path} ${file.stamp}`])).join('\n')
}

function saysSomething(operation: Operation): boolean {
  switch (operation.kind) {
    case 'message':
      return !isContextOnly(operation.message)
    case 'facts':
      return operation.messages.some((message) => !isContextOnly(message))
    case 'rewind':
    case 'unknown':
    case 'damage':
      return true
  }
}

interface ReadFile {
  readonly operations: readonly Operation[]
  /** Where to read on; nothing when that cannot be told. */
  readonly end: { readonly offset: number; readonly tail: Buffer } | undefined
}

function readFile(file: GeminiFile): ReadFile {
  const bytes = readBytes(file.path, 0)
  if (!file.path.endsWith('.json')) return readLines(bytes, 0)
  return { operations: readWholeSession(bytes.toString('utf8')), end: undefined }
}

/** As many bytes before a place say that a file is still the one that was read. */
const TAIL = 64

/**
 * The operations of whole lines. A last line without its newline counts when it is an operation: then it is whole, and
 * only a process that died has left its newline out.
 */
function readLines(bytes: Buffer, offset: number): ReadFile {
  const end = bytes.lastIndexOf(0x0a) + 1
  const operations = bytes
    .toString('utf8', 0, end)
    .split('\n')
    .flatMap((line) => readOperation(line.replace(/\r$/u, '')) ?? [])
  const last = end === bytes.length ? undefined : readOperation(bytes.toString('utf8', end))
  if (last !== undefined && last.kind !== 'damage')
    return { operations: [...operations, last], end: undefined }
  return {
    operations,
    end: { offset: offset + end, tail: Buffer.from(bytes.subarray(Math.max(0, end - TAIL), end)) },
  }
}

function readBytes(path: string, from: number): Buffer {
  const file = openTranscript(path)
  try {
    if (file.size - from > LARGEST) throw tooLarge(path)
    const bytes = Buffer.alloc(Math.max(0, file.size - from))
    return bytes.subarray(0, file.readNow(bytes, bytes.length, from))
  } finally {
    file.close()
  }
}

/** As much as fits a string. */
const LARGEST = 400 * 1024 * 1024

function tooLarge(path: string): ThroughlineError {
  return new ThroughlineError('not-a-transcript', `${path} is larger than 400 MB`, {
    hint: 'A Gemini session is read in one piece. If the file is full of zero bytes, restore it from a copy.',
  })
}
