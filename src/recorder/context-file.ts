import { join } from 'node:path'
import { field, isObject, list, object, shorten, string } from '#base'
import { replaceFile } from '#journal'
import { CONTEXT_FILE, type Layout } from './layout.ts'
import { readRecordedLines } from './recorded-lines.ts'

/** An argument is there to recognise an action by; the whole of it is in the line. */
const ARGUMENT_LENGTH = 200

/** Writes `context.md` from what the recording's lines say: who it was, and one line for every call of a tool. */
export async function writeContext(layout: Layout): Promise<void> {
  await replaceFile(join(layout.folder, CONTEXT_FILE), await readContext(layout))
}

async function readContext({ path, sessionId }: Layout): Promise<string> {
  const models = new Set<string>()
  const actions: string[] = []
  let agent: string | undefined
  let started: string | undefined
  for await (const { line } of readRecordedLines(path)) {
    agent ??= nameAndVersion(line)
    started ??= string(line, 'timestamp')
    const message = object(line, 'message')
    const model = string(message, 'model')
    if (model !== undefined) models.add(model)
    if (string(line, 'type') === 'assistant') actions.push(...list(message, 'content').flatMap(toAction))
  }
  return [
    '# Session Context',
    '',
    `**Session ID:** ${sessionId}`,
    `**Agent:** ${oneLine(agent ?? 'unknown')}`,
    `**Model:** ${oneLine([...models].join(', ') || 'unknown')}`,
    `**Started:** ${oneLine(started ?? 'unknown')}`,
    '',
    '## Key Actions',
    '',
    ...actions,
    '',
  ].join('\n')
}

function nameAndVersion(line: unknown): string | undefined {
  const agent = string(line, 'agent')
  const version = string(line, 'version')
  return agent === undefined ? undefined : [agent, version].filter(Boolean).join(' ')
}

function toAction(block: unknown): readonly string[] {
  if (string(block, 'type') !== 'tool_use') return []
  const name = oneLine(string(block, 'name') ?? 'unknown')
  const argument = firstArgument(field(block, 'input'))
  return [argument === '' ? `- **${name}**` : `- **${name}**: ${argument}`]
}

function firstArgument(input: unknown): string {
  const [first] = isObject(input) ? Object.values(input) : [input]
  if (first === undefined || first === null) return ''
  return oneLine(typeof first === 'string' ? first : JSON.stringify(first))
}

/** Nothing in it can begin a line, or act on the terminal that shows the file. */
function oneLine(text: string): string {
  // A cut before the search keeps the work small, whatever the length.
  const beginning = text.slice(0, ARGUMENT_LENGTH * 8)
  return shorten(beginning.replaceAll(/[\s\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ').trim(), ARGUMENT_LENGTH)
}
