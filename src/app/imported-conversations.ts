import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { list, string } from '#base'
import { replaceFile } from '#journal'
import type { MemoryDocument } from '#model'
import { isSessionId } from '#wire'
import { IMPORTED, recordedFolder } from './recorded-sources.ts'

/**
 * Writes the conversations of an imported database as sessions, so that they are listed, searched, shown and woken
 * with like any other. Which session they are is the id they had. The same messages give the same files. Returns the
 * ids of the sessions.
 */
export async function writeConversations(
  home: string,
  documents: readonly MemoryDocument[],
  workdir: string,
): Promise<readonly string[]> {
  const conversations = new Map<string, MemoryDocument[]>()
  for (const document of documents) {
    if (document.type !== 'message' || document.role === undefined) continue
    const id = toSessionId(document.sessionId)
    conversations.set(id, [...(conversations.get(id) ?? []), document])
  }
  const folder = join(recordedFolder(home, IMPORTED), toFolderName(workdir))
  if (conversations.size > 0) await mkdir(folder, { recursive: true, mode: 0o700 })
  for (const [id, messages] of conversations) {
    const path = join(folder, `${id}.jsonl`)
    const lines = toLines(id, messages.toSorted(inOrder), workdir)
    if (lines.length > 0) await replaceFile(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  }
  return [...conversations.keys()].filter((id) => existsSync(join(folder, `${id}.jsonl`)))
}

/** Messages of the first days name no session: they are one conversation. */
function toSessionId(id: string | null): string {
  const name = id ?? 'before-sessions'
  return isSessionId(name) ? name : toUuid(name)
}

function toFolderName(workdir: string): string {
  return workdir.replaceAll(/[^A-Za-z0-9]/g, '-').slice(-100) || '-'
}

/** An id that is always the same for the same text. */
function toUuid(text: string): string {
  const hash = createHash('sha256').update(text).digest('hex')
  return `${hash.slice(0, 8)}-${hash.slice(8, 12)}-4${hash.slice(13, 16)}-8${hash.slice(17, 20)}-${hash.slice(20, 32)}`
}

function inOrder(a: MemoryDocument, b: MemoryDocument): number {
  if (a.createdAt !== b.createdAt) return a.createdAt < b.createdAt ? -1 : 1
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0
}

function toLines(sessionId: string, messages: readonly MemoryDocument[], cwd: string): readonly object[] {
  let parentUuid: string | null = null
  return messages.flatMap((document) => {
    const content = toContent(document)
    if (content.length === 0) return []
    const uuid = toUuid(`${sessionId} ${document.id}`)
    const isPerson = document.role === 'user'
    const line = {
      parentUuid,
      isSidechain: false,
      type: isPerson ? 'user' : 'assistant',
      message: isPerson
        ? { role: 'user', content }
        : { id: `msg_${uuid}`, type: 'message', role: 'assistant', model: 'unknown', content },
      uuid,
      timestamp: document.createdAt,
      userType: 'external',
      entrypoint: 'cli',
      ...(isPerson ? { promptSource: 'typed' } : {}),
      cwd,
      sessionId,
      version: 'imported',
      importedFrom: document.id,
    }
    parentUuid = uuid
    return [line]
  })
}

/** The blocks it had; where it had none, its words. */
function toContent({ content, extra }: MemoryDocument): readonly object[] {
  const blocks = list(extra, 'blocks').flatMap((block) => {
    const type = string(block, 'type')
    if (type === 'text') return [{ type, text: string(block, 'text') ?? '' }]
    return typeof block === 'object' && block !== null && type !== undefined ? [block] : []
  })
  const said = blocks.some((block) => string(block, 'type') === 'text')
  if (said || content.trim() === '') return blocks
  return [{ type: 'text', text: content }, ...blocks]
}
