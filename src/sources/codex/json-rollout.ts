import { isObject, list, object, parseJson, string } from '#base'
import type { TranscriptFile } from '../transcript-file.ts'

/** More than any of these files ever had: they were written anew with every answer. */
const LARGEST = 64 * 1024 * 1024

/**
 * A rollout of the first Codex, which kept a session as one JSON object, as the lines that Codex wrote after it: the
 * object's `session`, then its `items`. Only the lines exist for whoever opens the file. A file that holds no such
 * object is returned as it is.
 */
export function asLines(file: TranscriptFile): TranscriptFile {
  if (file.size > LARGEST) return file
  const original = Buffer.alloc(file.size)
  const rollout = parseJson(original.toString('utf8', 0, file.readNow(original, original.length, 0)))
  const session = object(rollout, 'session')
  if (session === undefined) return file
  const lines = [session, ...list(rollout, 'items').map(toItem)]
  const bytes = Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  const readNow = (target: Buffer, length: number, position: number): number =>
    bytes.copy(target, 0, position, Math.min(bytes.length, position + length))
  return {
    path: file.path,
    identity: file.identity,
    modifiedMs: file.modifiedMs,
    size: bytes.length,
    readNow,
    read: (target, length, position) => Promise.resolve(readNow(target, length, position)),
    close: () => file.close(),
  }
}

/** Messages without a type, as programs derived from Codex wrote them. */
function toItem(item: unknown): unknown {
  const role = string(item, 'role')
  const isMessage = role === 'user' || role === 'assistant'
  return isObject(item) && item['type'] === undefined && isMessage ? { type: 'message', ...item } : item
}
