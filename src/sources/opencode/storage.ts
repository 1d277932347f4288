import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { isObject, number, object, parseJson, string, type JsonObject } from '#base'
import { openTranscript } from '../transcript-file.ts'
import type { OpencodeMessage, OpencodeRows, OpencodeSession } from './rows.ts'
import { findStats } from '../folders.ts'

/** Reads the tree of small files that opencode kept before it had a database. */
export function openStorage(storageDir: string): OpencodeRows {
  const root = join(storageDir, 'session')
  const sessions = namesIn(root).flatMap((project) =>
    namesIn(join(root, project)).flatMap((name): readonly OpencodeSession[] => {
      const path = join(root, project, name)
      const session = name.endsWith('.json') ? readObject(path) : undefined
      const id = string(session, 'id')
      if (session === undefined || id === undefined) return []
      const time = object(session, 'time')
      const stamp = [path, join(storageDir, 'message', id)].map(stampOf).join(' ')
      return [
        {
          id,
          parentId: string(session, 'parentID'),
          projectId: string(session, 'projectID'),
          directory: string(session, 'directory'),
          title: string(session, 'title'),
          version: string(session, 'version'),
          archived: number(time, 'archived') !== undefined,
          created: number(time, 'created'),
          stamp: `${stamp} ${String(number(time, 'updated'))}`,
        },
      ]
    }),
  )
  return {
    sessions,
    messagesOf(sessionId) {
      return readFolder(join(storageDir, 'message', sessionId)).map(({ id, data }): OpencodeMessage => ({
        id,
        data,
        parts: readFolder(join(storageDir, 'part', id)),
      }))
    },
    close: () => undefined,
  }
}

/** Changes with the folders of sessions. */
export function stampOfStorage(storageDir: string): string {
  const root = join(storageDir, 'session')
  return [root, ...namesIn(root).map((project) => join(root, project))].map(stampOf).join(' ')
}

function readFolder(dir: string): readonly { readonly id: string; readonly data: JsonObject }[] {
  return namesIn(dir)
    .filter((name) => name.endsWith('.json'))
    .toSorted()
    .map((name) => {
      const data = readObject(join(dir, name))
      return { id: name.slice(0, -'.json'.length), data: data ?? { type: 'unreadable', text: '' } }
    })
}

function readObject(path: string): JsonObject | undefined {
  try {
    const file = openTranscript(path)
    try {
      const bytes = Buffer.alloc(file.size)
      const value = parseJson(bytes.toString('utf8', 0, file.readNow(bytes, file.size, 0)))
      return isObject(value) ? value : undefined
    } finally {
      file.close()
    }
  } catch {
    return undefined
  }
}

function namesIn(dir: string): readonly string[] {
  try {
    return readdirSync(dir)
  } catch {
    return []
  }
}

function stampOf(path: string): string {
  const stats = findStats(path)
  return stats === undefined ? '-' : `${String(stats.size)}:${String(stats.mtimeMs)}`
}
