import { list, object, parseJson, string, type JsonObject } from '#base'
import type { Entry, NativeAgent } from '#model'
import { claudeFormat } from './claude/read-line.ts'
import { codexFormat } from './codex/read-line.ts'
import { readConversation } from './conversation.ts'
import { readOperation } from './gemini/operations.ts'
import { createGeminiTranscriber } from './gemini/transcribe.ts'
import type { OpencodeMessage } from './opencode/rows.ts'
import { NO_COPIES } from './opencode/copies.ts'
import { transcribeOpencode } from './opencode/transcribe.ts'
import type { TranscriptFile } from './transcript-file.ts'

/** A session as the agent keeps it, that need not be on disk: its own lines, or the file that opencode imports. */
export interface WrittenSession {
  readonly agent: NativeAgent
  readonly id: string
  readonly workdir: string
  readonly text: string
}

/** What the model sees of a session that was made for an agent, by the same reader that reads the agent's own. */
export async function readWrittenSession(session: WrittenSession): Promise<readonly Entry[]> {
  const format = session.agent === 'codex' ? codexFormat : claudeFormat
  return (await readConversation(toFile(session.id, linesOf(session)), format)).entries
}

function linesOf({ agent, id, workdir, text }: WrittenSession): string {
  switch (agent) {
    case 'claude':
    case 'codex':
      return text
    case 'gemini': {
      const transcriber = createGeminiTranscriber({ id, cwd: workdir })
      const operations = text.split('\n').flatMap((line) => (line === '' ? [] : (readOperation(line) ?? [])))
      return toText(operations.flatMap((operation) => transcriber.take(operation)))
    }
    case 'opencode':
      return toText(transcribeExport(parseJson(text)))
  }
}

function toText(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('')
}

function transcribeExport(exported: unknown): readonly string[] {
  const info = object(exported, 'info')
  const session = {
    id: string(info, 'id') ?? '',
    parentId: undefined,
    projectId: string(info, 'projectID'),
    directory: string(info, 'directory'),
    title: string(info, 'title'),
    version: string(info, 'version'),
    archived: false,
    created: undefined,
    stamp: '',
  }
  const messages = list(exported, 'messages').map((message): OpencodeMessage => ({
    ...toRow(object(message, 'info') ?? {}),
    parts: list(message, 'parts').map((part) => toRow(object({ part }, 'part') ?? {})),
  }))
  return transcribeOpencode(session, messages, NO_COPIES)
}

function toRow(data: JsonObject): { readonly id: string; readonly data: JsonObject } {
  return { id: string(data, 'id') ?? '', data }
}

/** Text that is read as if it stood in a file. */
function toFile(name: string, text: string): TranscriptFile {
  const bytes = Buffer.from(text)
  const readNow = (target: Buffer, length: number, position: number): number =>
    bytes.copy(target, 0, position, Math.min(bytes.length, position + length))
  return {
    path: name,
    size: bytes.length,
    identity: name,
    modifiedMs: 0,
    readNow,
    read: (target, length, position) => Promise.resolve(readNow(target, length, position)),
    close: () => undefined,
  }
}
