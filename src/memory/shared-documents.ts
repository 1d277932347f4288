import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { field, parseJson } from '#base'
import { openJournal } from '#journal'
import { readVersion, toVersionJson, versionKeyOf, type DocumentScope, type MemoryDocument } from '#model'
import type { Documents } from './document-calls.ts'
import { findSharingObstacle } from './sharing.ts'

/**
 * What is shared of the documents, as files that can be shipped: one for each document that ever was, in
 * `<home>/shared`. It has the versions that were written here while the document was shared, and no other.
 */
export interface SharedDocuments {
  files(): readonly SharedFile[]
  /** Called when a file is new, longer, or for others than before. Returns how to stop it. */
  onChange(listener: () => void): () => void
  /** Resolves when everything that was shared so far is in its file. */
  settled(): Promise<void>
  close(): Promise<void>
}

/** The file of one document. */
export interface SharedFile {
  readonly path: string
  /** Who may read it now. `private`: it was shared, and is not any more. */
  readonly scope: DocumentScope
  /** The folder the document was learned in. */
  readonly workdir?: string | undefined
}

const STATES = ['active', 'quarantined', 'expired', 'superseded', 'retired'] as const

/** Keeps the files up with the documents. */
export async function openSharedDocuments(
  home: string,
  documents: Documents,
  onProblem: (error: unknown) => void,
): Promise<SharedDocuments> {
  const dir = join(home, 'shared')
  const listeners = new Set<() => void>()
  const names = new Set(await readNames(dir))
  /** What was found of documents as they are: looking for secrets takes its time. */
  const looked = new WeakMap<MemoryDocument, boolean>()
  /** The versions that each file has. */
  const written = new Map<string, Set<string>>()
  let files: readonly SharedFile[] = []
  let told = ''
  let queue: Promise<void> = Promise.resolve()

  function isShareable(document: MemoryDocument): boolean {
    if (document.scope === undefined) return false
    const found = looked.get(document) ?? findSharingObstacle(document) === undefined
    looked.set(document, found)
    return found
  }

  async function look(): Promise<void> {
    const found: SharedFile[] = []
    for (const document of documents.query({ state: STATES })) {
      const { id, workdir } = document
      if (document.scope === undefined && names.size === 0) continue
      const name = `${createHash('sha256').update(id).digest('hex').slice(0, 32)}.jsonl`
      if (document.scope === undefined && !names.has(name)) continue
      const scope = isShareable(document) ? document.scope : undefined
      if (scope === undefined && !names.has(name)) continue
      const path = join(dir, name)
      if (scope !== undefined) await writeMissing(path, id)
      names.add(name)
      found.push({ path, scope: scope ?? 'private', ...(workdir === undefined ? {} : { workdir }) })
    }
    files = found
  }

  /** Lines are only ever added: a file that is written anew would be another one. */
  async function writeMissing(path: string, id: string): Promise<void> {
    const known = written.get(path) ?? (await readKeys(path))
    written.set(path, known)
    const missing = documents
      .versions(id)
      .filter(
        (version) =>
          version.document.scope !== undefined &&
          version.elsewhere === undefined &&
          !known.has(versionKeyOf(version)) &&
          isShareable(version.document),
      )
    if (missing.length === 0) return
    await mkdir(dir, { recursive: true, mode: 0o700 })
    const journal = await openJournal(path)
    try {
      for (const version of missing) {
        await journal.append(toVersionJson(version))
        known.add(versionKeyOf(version))
      }
      told = ''
    } finally {
      await journal.close()
    }
  }

  function lookSoon(): void {
    queue = queue.then(look).then(tell).catch(onProblem)
  }

  function tell(): void {
    const now = JSON.stringify(files)
    if (now === told) return
    told = now
    for (const listener of listeners) listener()
  }

  const stop = documents.subscribe({ state: STATES }, lookSoon)
  return {
    files: () => files,
    onChange(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    settled: () => queue,
    async close() {
      stop()
      listeners.clear()
      await queue
    },
  }
}

async function readNames(dir: string): Promise<readonly string[]> {
  return await readdir(dir).catch((error: unknown) => {
    if (field(error, 'code') === 'ENOENT') return []
    throw error
  })
}

async function readKeys(path: string): Promise<Set<string>> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    if (field(error, 'code') === 'ENOENT') return ''
    throw error
  })
  const versions = text.split('\n').flatMap((line) => readVersion(parseJson(line)) ?? [])
  return new Set(versions.map(versionKeyOf))
}
