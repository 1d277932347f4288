import { basename, join } from 'node:path'
import { list, number, parseJson, string } from '#base'
import type { CopiedFrom } from '#model'
import { openTranscript, type TranscriptFile } from '../transcript-file.ts'

/** What Codex keeps of its threads beside their rollouts. */
export interface Side {
  /** The names that threads were given; the last one counts. */
  readonly names: ReadonlyMap<string, string>
  /** Threads that Codex made out of another agent's sessions. */
  readonly copies: ReadonlyMap<string, CopiedFrom>
}

/** The largest side file that is read. */
const LARGEST = 64 * 1024 * 1024

/** Reads the side files of a home, again only when they changed. */
export function createSideReader(codexHome: string): () => Side {
  const readNames = createFileReader(join(codexHome, 'session_index.jsonl'), toNames)
  const readCopies = createFileReader(join(codexHome, 'external_agent_session_imports.json'), toCopies)
  return () => ({ names: readNames(), copies: readCopies() })
}

function createFileReader<T>(path: string, read: (text: string) => T): () => T {
  let known: { readonly stamp: string; readonly value: T } | undefined
  return () => {
    const file = openIfThere(path)
    if (file === undefined) return read('')
    try {
      const stamp = `${file.identity} ${file.size} ${file.modifiedMs}`
      if (known?.stamp === stamp) return known.value
      const bytes = Buffer.allocUnsafe(Math.min(file.size, LARGEST))
      const value = read(bytes.toString('utf8', 0, file.readNow(bytes, bytes.length, 0)))
      known = { stamp, value }
      return value
    } finally {
      file.close()
    }
  }
}

function openIfThere(path: string): TranscriptFile | undefined {
  try {
    return openTranscript(path)
  } catch {
    return undefined
  }
}

function toNames(text: string): ReadonlyMap<string, string> {
  const names = new Map<string, string>()
  for (const line of text.split('\n')) {
    const row = line === '' ? undefined : parseJson(line)
    const id = string(row, 'id')
    const name = string(row, 'thread_name')
    if (id !== undefined && name !== undefined && name.trim() !== '') names.set(id, name)
  }
  return names
}

function toCopies(text: string): ReadonlyMap<string, CopiedFrom> {
  const copies = new Map<string, CopiedFrom>()
  for (const record of list(text === '' ? undefined : parseJson(text), 'records')) {
    const id = string(record, 'imported_thread_id')
    const path = string(record, 'source_path')
    if (id === undefined || path === undefined) continue
    // Codex takes over sessions of Claude Code, whose files are named by their ids.
    copies.set(id, {
      agent: 'claude',
      id: basename(path, '.jsonl'),
      path,
      kind: 'imported',
      until: toEnd(number(record, 'imported_at')),
    })
  }
  return copies
}

/** The lines of an import have the time at which they were written, and the ledger is written right after them. */
function toEnd(importedAt: number | undefined): string | undefined {
  const end = new Date(((importedAt ?? Number.NaN) + IMPORT_SECONDS) * 1000)
  return Number.isNaN(end.getTime()) ? undefined : end.toISOString()
}

/** The ledger has whole seconds, and nobody goes on sooner. */
const IMPORT_SECONDS = 2
