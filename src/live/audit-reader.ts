import { open, readdir, stat } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { field, number, string, ThroughlineError } from '#base'
import { readJournal } from '#journal'
import type { AuditEntry, AuditReport, AuditVerdict, Place } from '#model'
import { isSessionId } from '#wire'
import { createChainCheck, isLink } from './audit-chain.ts'
import type { ChainCheck, FoundLine } from './audit-chain.ts'
import { readAuditFact } from './audit-fact.ts'

/** Where the audit log of a session is. Throws `request-invalid` when this is no id of a session. */
export function auditPath(home: string, sessionId: string): string {
  if (isSessionId(sessionId)) return join(home, 'audit', `${sessionId}.jsonl`)
  throw new ThroughlineError('request-invalid', 'this is no id of a session', {
    hint: 'List the audit logs to see which there are.',
  })
}

/**
 * Reads the audit log of a session, and says whether it is as it was written. Never throws on content; of a session
 * that has none, it is whole and empty. Beside a living host the last line may be on its way.
 */
export async function readAudit(home: string, sessionId: string): Promise<AuditReport> {
  const path = auditPath(home, sessionId)
  const check = createChainCheck(sessionId)
  const entries: AuditEntry[] = []
  const { isCut } = await readLines(path, (line) => {
    check.add(line)
    const entry = toEntry(line.value)
    if (entry) entries.push(entry)
  })
  return { sessionId, entries, verdict: toVerdict(check, isCut) }
}

/** The sessions that have an audit log, those first to which something was added last. */
export async function listAudits(
  home: string,
): Promise<readonly { readonly sessionId: string; readonly bytes: number; readonly changedAt: string }[]> {
  const folder = join(home, 'audit')
  const found = await Promise.all(
    (await namesIn(folder)).map(async (name) => {
      const sessionId = name.slice(0, -'.jsonl'.length)
      const at = await stat(join(folder, name)).catch(() => undefined)
      if (!at?.isFile() || !isSessionId(sessionId)) return []
      return [{ sessionId, bytes: at.size, changedAt: at.mtime.toISOString() }]
    }),
  )
  return found.flat().toSorted((a, b) => (a.changedAt < b.changedAt ? 1 : -1))
}

/** Reads every line with its bytes, in order. `isCut`: something follows the last newline. */
export async function readLines(
  path: string,
  onLine: (line: FoundLine) => void,
): Promise<{ readonly isCut: boolean }> {
  const file = await openIfThere(path)
  if (!file) return { isCut: false }
  try {
    const { size } = await file.stat()
    const bytesAt = createWindow(file)
    let end = 0
    for await (const item of readJournal(path)) {
      onLine({
        bytes: await bytesAt(item.place),
        value: item.kind === 'line' ? item.value : undefined,
      })
      end = item.place.offset + item.place.length + 1
    }
    return { isCut: end < size }
  } finally {
    await file.close()
  }
}

export function toEntry(value: unknown): AuditEntry | undefined {
  if (!isLink(value)) return undefined
  return {
    ...readAuditFact(value),
    seq: number(value, 'seq') ?? 0,
    at: string(value, 'at') ?? '',
    prev: string(value, 'prev') ?? '',
    hash: string(value, 'hash') ?? '',
  }
}

function toVerdict(check: ChainCheck, isCut: boolean): AuditVerdict {
  const found = check.findBreak()
  if (found) return { kind: 'broken', ...found }
  const lines = check.count()
  if (isCut) return { kind: 'broken', line: lines + 1, why: 'cut-at-end' }
  return { kind: 'whole', lines, head: lines === 0 ? undefined : check.end().prev }
}

const WINDOW = 1024 * 1024

/** Gives bytes of a file that is read from its beginning to its end, a large piece at a time. */
function createWindow(file: FileHandle): (place: Place) => Promise<Buffer> {
  let start = 0
  let held: Buffer = Buffer.alloc(0)
  return async ({ offset, length }) => {
    if (offset < start || offset + length > start + held.length) {
      held = await readFrom(file, offset, Math.max(WINDOW, length))
      start = offset
    }
    return held.subarray(offset - start, offset - start + length)
  }
}

async function readFrom(file: FileHandle, offset: number, length: number): Promise<Buffer> {
  const bytes = Buffer.alloc(length)
  let end = 0
  for (let read = 1; read > 0 && end < length; end += read) {
    read = (await file.read(bytes, end, length - end, offset + end)).bytesRead
  }
  return bytes.subarray(0, end)
}

async function openIfThere(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, 'r')
  } catch (error) {
    if (field(error, 'code') === 'ENOENT') return undefined
    throw error
  }
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return (await readdir(folder)).filter((name) => name.endsWith('.jsonl'))
  } catch (error) {
    if (field(error, 'code') === 'ENOENT') return []
    throw error
  }
}
