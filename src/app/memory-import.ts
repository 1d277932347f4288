import { createHash } from 'node:crypto'
import { parseJson, shorten, string, ThroughlineError } from '#base'
import { isUndecided, readFireproof, toOutsideDocument, type Documents, type TakeInHow } from '#memory'
import { readVersion, toVersionJson, type DocumentVersion } from '#model'
import type { ImportReport, ImportRequest } from '#wire'
import type { Blobs } from './blobs.ts'
import { writeConversations } from './imported-conversations.ts'

interface Places {
  readonly home: string
  readonly documents: Documents
  readonly blobs: Blobs
}

/**
 * Brings documents in. What is there already stays as it is. Nobody here answers for what a file says: it waits until
 * a person has approved it, unless `accept` says that a person has.
 */
export async function importDocuments(
  request: ImportRequest,
  author: string,
  places: Places,
): Promise<ImportReport> {
  const from = request.accept === true ? undefined : shorten(request.from ?? SOURCES[request.format], LONGEST)
  return request.format === 'fireproof'
    ? await importFireproof(request, { by: author, from }, places)
    : await importExport(request.text, { by: author, from }, places)
}

const SOURCES = { documents: 'an export', fireproof: 'a Fireproof export' } as const
const LONGEST = 200

async function importFireproof(
  { text, workdir }: ImportRequest,
  { by, from }: TakeInHow,
  { home, documents }: Places,
): Promise<ImportReport> {
  const read = readFireproof(text)
  if (read.documents.length === 0 && read.losses.some(({ reason }) => reason !== 'deleted'))
    throw notFireproof(text)
  const drafts =
    from === undefined ? read.documents : read.documents.map((document) => toOutsideDocument(document, from))
  const outcomes = await documents.putAll(drafts, { by, change: 'imported' })
  const added = outcomes.filter(({ outcome }) => outcome === 'written').length
  for (const { outcome, document } of outcomes) {
    const waits = document.quarantine !== undefined && isUndecided(document.id, documents)
    if (from === undefined && outcome === 'known' && waits) await documents.approve(document.id, { by })
  }
  const accepted = from === undefined ? documents.query({ type: 'message' }) : []
  const messages = read.documents.filter(({ type }) => type === 'message')
  const named = new Set(messages.map(({ sessionId }) => sessionId))
  // Nothing that nobody answers for becomes a session.
  const sessions =
    workdir === undefined
      ? []
      : await writeConversations(
          home,
          accepted.filter(({ sessionId }) => named.has(sessionId)),
          workdir,
        )
  return {
    added,
    known: outcomes.length - added,
    held: from === undefined ? 0 : added,
    sessions,
    losses: read.losses.map(({ item, reason, id }) => ({
      place: id === undefined ? `item ${item}` : `item ${item} (${id})`,
      reason,
    })),
  }
}

function notFireproof(text: string): ThroughlineError {
  const isOurs = text.split('\n', 1).some((line) => readVersion(parseJson(line)) !== undefined)
  return new ThroughlineError('request-invalid', 'this is no export of a Fireproof database', {
    hint: isOurs
      ? 'It was written by `throughline documents export`: `throughline documents import <file>` takes it in.'
      : 'Give what the page of `throughline import fireproof --exporter` saved: a JSON array, or one document per line.',
  })
}

async function importExport(
  text: string,
  how: TakeInHow,
  { documents, blobs }: Places,
): Promise<ImportReport> {
  const versions: DocumentVersion[] = []
  const losses: { place: string; reason: string }[] = []
  for (const [at, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue
    const value = parseJson(line)
    const version = readVersion(value)
    const bytes = string(value, 'kind') === BYTES ? string(value, 'bytes') : undefined
    if (version !== undefined) versions.push(version)
    else if (bytes !== undefined) await blobs.put(Buffer.from(bytes, 'base64'))
    else losses.push({ place: `line ${at + 1}`, reason: value === undefined ? 'not-json' : 'not-a-version' })
  }
  const ids = new Set(versions.map(({ document }) => document.id))
  const { changed, refused } = await documents.takeIn(versions, how)
  for (const id of refused) losses.push({ place: id, reason: 'differs-from-known' })
  const added = changed.size
  return { added, known: ids.size - added, held: how.from === undefined ? 0 : added, sessions: [], losses }
}

const BYTES = 'artifact.bytes'

/** Every version of every document, and the bytes of files that were declared: one line each, oldest first. */
export async function exportDocuments({ documents, blobs }: Omit<Places, 'home'>): Promise<string> {
  const all = documents.query({ state: ['active', 'quarantined', 'expired', 'superseded', 'retired'] })
  const versions = all.flatMap(({ id }) => documents.versions(id)).toSorted(inOrder)
  const hashes = new Set(
    versions
      .flatMap(({ document }) => (document.type === 'artifact' ? (document.files ?? []) : []))
      .map(({ hash }) => hash),
  )
  const lines = versions.map((version) => JSON.stringify(toVersionJson(version)))
  for (const hash of hashes) {
    const bytes = await blobs.find(hash)
    if (bytes !== undefined && createHash('sha256').update(bytes).digest('hex') === hash) {
      lines.push(JSON.stringify({ kind: BYTES, hash, bytes: bytes.toString('base64') }))
    }
  }
  return lines.map((line) => `${line}\n`).join('')
}

function inOrder(a: DocumentVersion, b: DocumentVersion): number {
  if (a.at !== b.at) return a.at < b.at ? -1 : 1
  if (a.document.id !== b.document.id) return a.document.id < b.document.id ? -1 : 1
  return a.version - b.version
}
