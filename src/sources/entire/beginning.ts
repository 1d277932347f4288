import { isObject, parseJson, string, ThroughlineError, type JsonObject } from '#base'
import { openTranscript } from '../transcript-file.ts'

/** What the first lines of a transcript tell of who wrote it. */
export interface Beginning {
  /** The agent that its recorder names. */
  readonly agent?: string | undefined
  /** The agent's own id of the session, where its recorder knew it. */
  readonly clientSessionId?: string | undefined
  /** Whose format it is, where it is one that is not read here. */
  readonly foreign?: string | undefined
}

/** The first lines, and no more of a first line that is longer. */
const HEAD = 64 * 1024

/** Looks at the first line that is an object. A file that cannot be opened tells nothing. */
export function readBeginning(path: string): Beginning {
  const head = readHead(path)
  if (head === undefined) return {}
  // A document of many lines. OpenCode's begins with what it calls `info`.
  if (/^\s*\{\s*\n/.test(head)) return { foreign: /^\s*\{\s*"info"/.test(head) ? 'opencode' : 'gemini' }
  const lines = head.split('\n')
  for (const line of lines) {
    const value = parseJson(line)
    if (isObject(value)) return toBeginning(value, findForeign(value))
  }
  const cut = parseBeginning(lines.at(-1) ?? '')
  return isObject(cut) ? toBeginning(cut, findForeignKey(cut)) : {}
}

function readHead(path: string): string | undefined {
  try {
    const file = openTranscript(path)
    try {
      const buffer = Buffer.allocUnsafe(Math.min(HEAD, file.size))
      return buffer.toString('utf8', 0, file.readNow(buffer, buffer.length, 0))
    } finally {
      file.close()
    }
  } catch (error) {
    if (error instanceof ThroughlineError) return undefined
    throw error
  }
}

/** What stands before the long value of a line that is not at hand whole: an object, with a brace behind it. */
function parseBeginning(line: string): unknown {
  for (const key of ['"message":', '"payload":', '"messages":']) {
    const at = line.indexOf(key)
    const value = at < 0 ? undefined : parseJson(`${line.slice(0, at)}${key}null}`)
    if (value !== undefined) return value
  }
  return undefined
}

function toBeginning(line: JsonObject, foreign: string | undefined): Beginning {
  if (foreign !== undefined) return { foreign }
  return { agent: string(line, 'agent'), clientSessionId: string(line, 'clientSessionId') }
}

/** Whose line it is, unless it has the shape that is read here: a type, and an id of its own or of its session. */
function findForeign(line: JsonObject): string | undefined {
  const byKey = findForeignKey(line)
  if (byKey !== undefined) return byKey
  const type = string(line, 'type')
  if (type === undefined) return 'role' in line ? 'cursor' : 'unknown'
  if (LINE_KEYS.some((key) => string(line, key) !== undefined)) return undefined
  if (type.startsWith('session.') || 'data' in line) return 'copilot'
  if ('parentId' in line || type === 'session') return 'pi'
  return type === 'message' || type === 'session_start' ? 'droid' : 'unknown'
}

/** The same by one key, which is enough where the rest of the line is not at hand. */
function findForeignKey(line: JsonObject): string | undefined {
  if ('messages' in line) return 'info' in line ? 'opencode' : 'gemini'
  return 'payload' in line ? 'codex' : undefined
}

const LINE_KEYS: readonly string[] = ['uuid', 'sessionId', 'messageId', 'leafUuid']
