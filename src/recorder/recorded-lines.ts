import { dirname, join } from 'node:path'
import { isObject, type JsonObject } from '#base'
import { createBlobStore, readJournal, type BlobStore } from '#journal'
import { blobsOf, putBlobsBack } from '#model'
import { BLOBS, SUBAGENTS } from './layout.ts'

/** A line of a recording with everything put back that was taken out of it. */
export interface RecordedLine {
  readonly line: JsonObject
  /** What is referred to and not there, or not what it was. */
  readonly missing: number
}

/** The lines of a recording, whole. What is no line is left out; nothing throws on content. */
export async function* readRecordedLines(path: string): AsyncGenerator<RecordedLine, void, undefined> {
  const blobs = createBlobStore(blobsFolderOf(path))
  for await (const item of readJournal(path)) {
    if (item.kind === 'line' && isObject(item.value)) yield await putBack(item.value, blobs)
  }
}

/** A subagent shares the blobs of its recording. */
function blobsFolderOf(path: string): string {
  const folder = dirname(path)
  return join(folder.endsWith(SUBAGENTS) ? dirname(folder) : folder, BLOBS)
}

async function putBack(line: JsonObject, blobs: BlobStore): Promise<RecordedLine> {
  const texts = new Map<string, string>()
  for (const { sha256 } of blobsOf(line)) {
    const content = await blobs.read(sha256)
    if ('text' in content) texts.set(sha256, content.text)
  }
  const filled = putBlobsBack(line, ({ sha256 }) => texts.get(sha256))
  return { line: filled.line, missing: filled.missing.length }
}
