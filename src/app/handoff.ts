import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { mkdir, open, readdir, rename, rm, statfs } from 'node:fs/promises'
import { dirname, join, sep } from 'node:path'
import { Readable } from 'node:stream'
import { createGunzip, createGzip } from 'node:zlib'
import { field, list, number, object, parseJson, string, ThroughlineError } from '#base'
import { transcriptsOf, type SessionSummary } from '#model'
import { openTranscript } from '#sources'
import { readSaid, type SaidBy } from './author-log.ts'

/**
 * A session on its way to another machine: one packed file of lines. The first names what follows, with the hash of
 * every file; then come the files, piece by piece, byte for byte, and the documents that were promoted in the session.
 */
interface HandoffManifest {
  readonly session: { readonly id: string; readonly agent: string; readonly name?: string | undefined }
  /** Where the session worked, over there. */
  readonly workdir?: string | undefined
  readonly createdAt?: string | undefined
  readonly files: readonly HandoffFile[]
  readonly documents: number
  /** Who said what, where that is known. */
  readonly authors: readonly SaidBy[]
}

interface HandoffFile {
  /** Where it stands in its agent's layout: enough to know how it reads. The first is the transcript. */
  readonly place: string
  readonly bytes: number
  readonly sha256: string
}

const FORMAT = 'throughline-handoff'
const VERSION = 1
const PIECE = 1024 * 1024
/** So much of a path says whose transcript it is. */
const TELLING_PARTS = 4

/** Packs a session. Nothing of it is changed; what grows meanwhile is left out from where it was. */
export async function* packHandoff(
  session: SessionSummary,
  {
    documents,
    authors = [],
  }: { readonly documents: readonly object[]; readonly authors?: readonly SaidBy[] },
): AsyncGenerator<Uint8Array> {
  const paths = await findFiles(session)
  const files: (HandoffFile & { readonly path: string })[] = []
  for (const path of paths) files.push({ path, ...(await digest(path)), place: placeOf(path, session) })
  const manifest = {
    format: FORMAT,
    version: VERSION,
    session: { id: session.id, agent: session.agent, name: session.name },
    workdir: session.workdirs[0],
    createdAt: session.createdAt,
    files: files.map(({ place, bytes, sha256 }) => ({ place, bytes, sha256 })),
    documents: documents.length,
    ...(authors.length === 0 ? {} : { authors }),
  }
  const lines = async function* (): AsyncGenerator<string> {
    yield `${JSON.stringify(manifest)}\n`
    for (const { path, place, bytes } of files) {
      for await (const piece of bytesOf(path, bytes))
        yield `${JSON.stringify({ place, data: piece.toString('base64') })}\n`
    }
    for (const document of documents) yield `${JSON.stringify({ document })}\n`
  }
  const packed: AsyncIterable<unknown> = Readable.from(lines()).pipe(createGzip())
  for await (const piece of packed) if (Buffer.isBuffer(piece)) yield piece
}

/** The transcript first, then its subagents, then what stands beside it. */
async function findFiles(session: SessionSummary): Promise<readonly string[]> {
  const beside = session.path.replace(/\.jsonl$/u, '')
  const folders = [`${beside}${sep}tool-results`, join(dirname(session.path), 'blobs')]
  const found = await Promise.all(folders.map(filesIn))
  return [...new Set([...transcriptsOf(session), ...found.flat()])]
}

async function filesIn(folder: string): Promise<readonly string[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true })
    return entries.filter((entry) => entry.isFile()).map((entry) => join(folder, entry.name))
  } catch {
    return []
  }
}

async function digest(path: string): Promise<Pick<HandoffFile, 'bytes' | 'sha256'>> {
  const hash = createHash('sha256')
  let bytes = 0
  for await (const piece of bytesOf(path)) {
    hash.update(piece)
    bytes += piece.length
  }
  return { bytes, sha256: hash.digest('hex') }
}

/** The bytes of a file, up to a length. A transcript that goes on from others is whole: over there they are not. */
async function* bytesOf(path: string, length?: number): AsyncGenerator<Buffer> {
  const file = openTranscript(path)
  try {
    const end = Math.min(file.size, length ?? file.size)
    for (let at = 0; at < end;) {
      const piece = Buffer.allocUnsafe(Math.min(PIECE, end - at))
      const count = await file.read(piece, piece.length, at)
      if (count === 0) return
      yield piece.subarray(0, count)
      at += count
    }
  } finally {
    file.close()
  }
}

function placeOf(path: string, session: SessionSummary): string {
  const root = session.path.split(sep).slice(0, -TELLING_PARTS).join(sep)
  return path.startsWith(`${root}${sep}`)
    ? path
        .slice(root.length + 1)
        .split(sep)
        .join('/')
    : path.split(sep).slice(-TELLING_PARTS).join('/')
}

export interface UnpackedHandoff {
  readonly manifest: HandoffManifest
  /** The transcript, as it was. */
  readonly path: string
  readonly documents: readonly unknown[]
}

/**
 * Unpacks a session into a folder of its own below `into`, whole or not at all: every file is checked by its hash.
 * Where it is there already it is left as it is. A bundle gets no more room than it says it needs, and no more than
 * there is.
 */
export async function unpackHandoff(bundle: string, into: string): Promise<UnpackedHandoff> {
  const draft = join(into, `.draft-${String(process.pid)}-${String(Math.trunc(performance.now()))}`)
  const documents: unknown[] = []
  let manifest: HandoffManifest | undefined
  let left = new Map<string, number>()
  let documentLength = 0
  try {
    for await (const line of linesOf(bundle)) {
      const value = parseJson(line)
      if (manifest === undefined) {
        manifest = getManifest(value)
        left = new Map(manifest.files.map(({ place, bytes }) => [place, bytes]))
        await expectRoom(manifest, into)
      } else if (field(value, 'document') !== undefined) {
        if (documents.length >= manifest.documents) throw damaged('it holds more documents than it names')
        documentLength += line.length
        if (documentLength > LONGEST_DOCUMENTS) throw damaged('its documents are too long')
        documents.push(field(value, 'document'))
      } else await addPiece(draft, value, left)
    }
    if (manifest === undefined) throw damaged('it is empty')
    for (const file of manifest.files) await expectFile(join(draft, file.place), file)
    if (documents.length !== manifest.documents) throw damaged('documents are missing')
    const folder = join(into, manifest.session.id)
    await rm(folder, { recursive: true, force: true })
    await rename(draft, folder)
    return { manifest, documents, path: join(folder, manifest.files[0]?.place ?? '') }
  } catch (error) {
    await rm(draft, { recursive: true, force: true })
    if (error instanceof ThroughlineError) throw error
    if (field(error, 'code') === 'ENOENT' && field(error, 'path') === bundle) throw isMissing(bundle)
    throw damaged(error instanceof Error ? error.message : String(error))
  }
}

/** A piece of a file is a line of less than two megabytes; a document is shorter. */
const LONGEST_LINE = 16 * 1024 * 1024
/** Of all documents together, in characters. They are held in memory. */
const LONGEST_DOCUMENTS = 64 * 1024 * 1024
const MOST_FILES = 20_000

/** The lines of a packed file. A line that has no end is not waited for. */
async function* linesOf(bundle: string): AsyncGenerator<string> {
  const unpacked = createGunzip()
  const read = createReadStream(bundle)
  read.on('error', (error) => unpacked.destroy(error))
  read.pipe(unpacked)
  try {
    let rest: Buffer[] = []
    let length = 0
    const pieces: AsyncIterable<unknown> = unpacked
    for await (const piece of pieces) {
      if (!Buffer.isBuffer(piece)) continue
      let from = 0
      for (let end = piece.indexOf(0x0a); end >= 0; end = piece.indexOf(0x0a, from)) {
        yield Buffer.concat([...rest, piece.subarray(from, end)]).toString('utf8')
        rest = []
        length = 0
        from = end + 1
      }
      rest.push(piece.subarray(from))
      length += piece.length - from
      if (length > LONGEST_LINE) throw damaged('it has a line that is too long')
    }
    if (length > 0) yield Buffer.concat(rest).toString('utf8')
  } finally {
    read.destroy()
    unpacked.destroy()
  }
}

async function expectRoom({ files }: HandoffManifest, into: string): Promise<void> {
  await mkdir(into, { recursive: true, mode: 0o700 })
  const { bavail, bsize } = await statfs(into)
  const needed = files.reduce((sum, { bytes }) => sum + bytes, 0)
  if (needed <= bavail * bsize) return
  throw new ThroughlineError(
    'request-invalid',
    `the bundle needs ${needed} bytes, more than there is room for`,
    {
      hint: 'Free some space, or check where the bundle comes from.',
    },
  )
}

function getManifest(value: unknown): HandoffManifest {
  if (string(value, 'format') !== FORMAT) throw damaged('it is no handoff')
  if (number(value, 'version') !== VERSION) throw damaged('it is of a version that is not known here')
  const session = object(value, 'session')
  const id = string(session, 'id') ?? ''
  const files = list(value, 'files').map((file) => ({
    place: string(file, 'place') ?? '',
    bytes: number(file, 'bytes') ?? -1,
    sha256: string(file, 'sha256') ?? '',
  }))
  const isGood = files.every(
    ({ place, bytes }) => isPlace(place) && Number.isSafeInteger(bytes) && bytes >= 0,
  )
  if (!/^[\w-]{1,128}$/u.test(id) || files.length === 0 || files.length > MOST_FILES || !isGood)
    throw damaged('it names what cannot be a session')
  return {
    session: { id, agent: string(session, 'agent') ?? 'unknown', name: string(session, 'name') },
    workdir: string(value, 'workdir'),
    createdAt: string(value, 'createdAt'),
    files,
    documents: number(value, 'documents') ?? 0,
    authors: readSaid(value, 'authors'),
  }
}

/** Below the folder, by names alone, which are shown as they are: nothing in them is invisible. */
function isPlace(place: string): boolean {
  const parts = place.split('/')
  return (
    parts.length <= 12 &&
    parts.every(
      (part) => part !== '' && part !== '.' && part !== '..' && !/[\\\p{C}\p{Zl}\p{Zp}]/u.test(part),
    )
  )
}

async function addPiece(draft: string, value: unknown, left: Map<string, number>): Promise<void> {
  const place = string(value, 'place')
  const data = string(value, 'data')
  const room = left.get(place ?? '')
  if (data === undefined || place === undefined || room === undefined)
    throw damaged('it holds something that it does not name')
  const bytes = Buffer.from(data, 'base64')
  if (bytes.length > room) throw damaged(`${place} is longer than was packed`)
  left.set(place, room - bytes.length)
  const path = join(draft, place)
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const file = await open(path, 'a', 0o600)
  try {
    await file.appendFile(bytes)
  } finally {
    await file.close()
  }
}

async function expectFile(path: string, { bytes, sha256, place }: HandoffFile): Promise<void> {
  if (bytes === 0) {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    await (await open(path, 'a', 0o600)).close()
    return
  }
  const found = await digest(path).catch(() => undefined)
  if (found?.bytes !== bytes || found.sha256 !== sha256) throw damaged(`${place} is not what was packed`)
}

function isMissing(bundle: string): ThroughlineError {
  return new ThroughlineError('bad-usage', `${bundle} does not exist`, {
    hint: 'Name the file that `throughline handoff <session>` wrote.',
  })
}

function damaged(why: string): ThroughlineError {
  return new ThroughlineError('request-invalid', `the bundle cannot be taken in: ${why}`, {
    hint: 'Make it again with `throughline handoff`, and copy it as a binary file.',
  })
}
