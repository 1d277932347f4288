import { isObject, parseJson, string } from '#base'
import { isWakeUp, readBlocks, textOf, type Block, type Entry, type Envelope } from '#model'

/**
 * What somebody typed while a turn ran, from the line that was written at that moment: `queue-operation` / `enqueue`.
 * Claude Code from 2.0.50 to 2.1.4x wrote nothing else of what the turn then absorbed. Nothing where it has no words:
 * clients that put a prompt together from blocks leave them out.
 */
export function readQueued(content: unknown, envelope: Envelope): Entry | undefined {
  const blocks = readContent(content)
  const text = textOf(blocks)
  if ((text.trim() === '' && !blocks.some(isMedia)) || isTask(text)) return undefined
  // It hangs from nothing: it follows what stands before it.
  const queued = { ...envelope, link: { sidechain: false }, queued: true } as const
  const command = COMMAND.exec(text.trim())
  if (command !== null) {
    const [, name = '', args = ''] = command
    return { kind: 'command', ...queued, command: name, args: args === '' ? undefined : args }
  }
  const isReport = text.startsWith('<task-notification>') || isWakeUp(text)
  return { kind: 'prompt', ...queued, blocks, origin: isReport ? 'system' : 'person', midTurn: true }
}

/** A slash command, as it is typed. */
const COMMAND = /^(\/[A-Za-z][\w:.-]*)(?:\s+([\s\S]+))?$/

/** A text; blocks, or texts among them; or one block. */
function readContent(content: unknown): readonly Block[] {
  if (!Array.isArray(content)) return readBlocks(isObject(content) ? [content] : content)
  return content.flatMap((each: unknown) => readBlocks(typeof each === 'string' ? each : [each]))
}

function isMedia({ kind }: Block): boolean {
  return kind === 'image' || kind === 'document'
}

/** Clients also queued notes of their own, about background tasks that began: nobody said them. */
function isTask(text: string): boolean {
  return text.startsWith('{"task_id":') && string(parseJson(text), 'task_id') !== undefined
}
