import { field, isObject, list, number, object, parseJson, string } from '#base'
import { readPatched } from '#model'
import { textOfMessage } from './line.ts'

/** Tokens as Entire names them. */
export interface EntireTokens {
  readonly input_tokens: number
  readonly cache_creation_tokens: number
  readonly cache_read_tokens: number
  readonly output_tokens: number
  readonly api_call_count: number
  readonly subagent_tokens?: EntireTokens | null
}

const NEWLINE = 0x0a
const EDITS =
  /^(?:mcp__\w+__)?(?:write|edit|multi_?edit|notebook_?edit|(?:write|edit|create)_?file|replace|apply_?patch|str_replace(?:_based_edit_tool|_editor)?)$/i
const PATHS = ['file_path', 'notebook_path', 'path', 'absolute_path', 'filename'] as const

/** The lines that begin at or behind an offset. What is no line says nothing. */
export function linesFrom(bytes: Buffer, offset: number): readonly unknown[] {
  const lines: unknown[] = []
  let start = offset === 0 ? 0 : bytes.indexOf(NEWLINE, offset - 1) + 1
  if (offset > 0 && start === 0) return []
  while (start < bytes.length) {
    const end = bytes.indexOf(NEWLINE, start)
    const line = parseJson(bytes.toString('utf8', start, end < 0 ? bytes.length : end))
    if (isObject(line)) lines.push(line)
    if (end < 0) break
    start = end + 1
  }
  return lines
}

/** Where the last whole line ends: a line that is being written has not been read. */
export function endOfLines(bytes: Buffer): number {
  return bytes.lastIndexOf(NEWLINE) + 1
}

/** What people said. Lines that a client put in their place are none. */
export function promptsIn(lines: readonly unknown[]): readonly string[] {
  return lines
    .filter((line) => string(line, 'type') === 'user')
    .filter((line) => field(line, 'isSidechain') !== true && field(line, 'isMeta') !== true)
    .map((line) => textOfMessage(field(line, 'message')))
    .filter((text) => text !== '')
}

/** Files that tools changed, by the names that the tools of known agents have. */
export function filesIn(lines: readonly unknown[]): readonly string[] {
  const files = new Set<string>()
  for (const line of lines) {
    for (const block of list(object(line, 'message'), 'content')) {
      if (string(line, 'type') !== 'assistant' || string(block, 'type') !== 'tool_use') continue
      for (const file of changedBy(string(block, 'name') ?? '', field(block, 'input'))) files.add(file)
    }
  }
  return [...files]
}

function changedBy(name: string, input: unknown): readonly string[] {
  if (!EDITS.test(name) || string(input, 'command') === 'view') return []
  const path = PATHS.map((key) => string(input, key)).find((each) => each !== undefined)
  if (path !== undefined) return [path]
  const texts = isObject(input) ? Object.values(input).filter((value) => typeof value === 'string') : []
  return texts.flatMap((text) => readPatched(text).map(({ path: file }) => file))
}

/** The last words of the agent. */
export function summaryIn(lines: readonly unknown[]): string {
  const replies = lines.filter((line) => string(line, 'type') === 'assistant')
  return replies.map((line) => textOfMessage(field(line, 'message'))).findLast((text) => text !== '') ?? ''
}

/** A message is counted once, however many lines it has: with the figures of the most output. */
export function tokensIn(lines: readonly unknown[]): EntireTokens {
  const usages = new Map<string, unknown>()
  for (const line of lines) {
    const message = object(line, 'message')
    const id = string(message, 'id') ?? ''
    if (string(line, 'type') !== 'assistant' || id === '') continue
    const usage = object(message, 'usage')
    const before = usages.get(id)
    if (!before || count(usage, 'output_tokens') >= count(before, 'output_tokens'))
      usages.set(id, usage ?? {})
  }
  const sum = (key: string): number =>
    [...usages.values()].reduce<number>((all, usage) => all + count(usage, key), 0)
  return {
    input_tokens: sum('input_tokens'),
    cache_creation_tokens: sum('cache_creation_input_tokens'),
    cache_read_tokens: sum('cache_read_input_tokens'),
    output_tokens: sum('output_tokens'),
    api_call_count: usages.size,
  }
}

/** Whole lines in pieces of at most so many bytes. A line that is longer is cut; put together, it is the same again. */
export function chunksOf(bytes: Buffer, maxSize: number): readonly Buffer[] {
  const chunks: Buffer[] = []
  for (let start = 0; start < bytes.length;) {
    const limit = Math.min(start + maxSize, bytes.length)
    const lineEnd = limit === bytes.length ? limit : bytes.lastIndexOf(NEWLINE, limit - 1) + 1
    const end = lineEnd > start ? lineEnd : limit
    chunks.push(bytes.subarray(start, end))
    start = end
  }
  return chunks
}

function count(usage: unknown, key: string): number {
  return Math.max(0, number(usage, key) ?? 0)
}
