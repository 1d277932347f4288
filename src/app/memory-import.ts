import { createHash } from 'node:crypto'
import { parseJson, string } from '#base'
import { readFireproof, type Documents } from '#memory'
import { readVersion, toVersionJson, type DocumentVersion } from '#model'
import type { ImportReport, ImportRequest } from '#wire'
import type { Blobs } from './blobs.ts'

interface Places {
  readonly documents: Documents
  readonly blobs: Blobs
}

/** Brings documents in. What is there already stays as it is. */
export async function importDocuments(
  request: ImportRequest,
  author: string,
  places: Places,
): Promise<ImportReport> {
  return request.format === 'fireproof'
    ? await importFireproof(request.text, author, places)
    : await importExport(request.text, places)
}

async function importFireproof(text: string, author: string, { documents }: Places): Promise<ImportReport> {
  const read = readFireproof(text)
  const outcomes = await documents.putAll(read.documents, { by: author, change: 'imported' })
  const added = outcomes.filter(({ outcome }) => outcome === 'written').length
  return {
    added,
    known: outcomes.length - added,
    losses: read.losses.map(({ item, reason, id }) => ({
      place: id === undefined ? `item ${item}` : `item ${item} (${id})`,
      reason,
    })),
  }
}

async function importExport(text: string, { documents, blobs }: Places): Promise<ImportReport> {
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
  const changed = await documents.takeIn(versions)
  return { added: changed.size, known: ids.size - changed.size, losses }
}

const BYTES = 'artifact.bytes'

/** Every version of every document, and the bytes of files that were declared: one line each, oldest first. */
export async function exportDocuments({ documents, blobs }: Places): Promise<string> {
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
