import { readFileSync } from 'node:fs'
import { list, parseJson, string } from '#base'
import { openTranscript } from '../transcript-file.ts'
import { replaceNow } from '../transcribed-files.ts'
import type { GeminiFile } from './layout.ts'

/** Which session a file belongs to: its name has only the first eight characters of the id. */
export interface Headers {
  idOf(file: GeminiFile): string
  /** Leaves what is known for the next process. */
  save(): void
}

const HEAD = 4096

/** Remembers what the first bytes of files said; those never change. `path`: where it is kept. */
export function createHeaders(path: string): Headers {
  const known = new Map<string, string>()
  let isChanged = false
  for (const row of list(read(path), 'headers')) {
    const key = string(row, 'key')
    const id = string(row, 'id')
    if (key !== undefined && id !== undefined) known.set(key, id)
  }
  return {
    idOf(file) {
      const key = `${file.stamp.split(':')[0] ?? ''} ${file.path}`
      const before = known.get(key)
      if (before !== undefined) return before
      const id = readId(file.path)
      // A file that says nothing yet may say it in a moment. Until then it has the name that it has.
      if (id === undefined) return file.path.replace(/^.*[\\/]/u, '').replace(/\.jsonl?$/u, '')
      known.set(key, id)
      isChanged = true
      return id
    },
    save() {
      if (!isChanged) return
      const headers = [...known].map(([key, id]) => ({ key, id }))
      try {
        replaceNow(path, JSON.stringify({ headers }))
        isChanged = false
      } catch {
        // Only the next process has more to read for it.
      }
    },
  }
}

function read(path: string): unknown {
  try {
    return parseJson(readFileSync(path, 'utf8'))
  } catch {
    return undefined
  }
}

function readId(path: string): string | undefined {
  try {
    const file = openTranscript(path)
    try {
      const head = Buffer.alloc(HEAD)
      const text = head.toString('utf8', 0, file.readNow(head, Math.min(HEAD, file.size), 0))
      const first = path.endsWith('.json') ? text : (text.split('\n', 1)[0] ?? '')
      return /"sessionId"\s*:\s*"([^"\\]+)"/u.exec(first)?.[1]
    } finally {
      file.close()
    }
  } catch {
    return undefined
  }
}
