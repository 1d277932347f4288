import { field, list, shorten, string } from '#base'
import type { ToolResultBlock, ToolUseBlock } from './block.ts'
import { DIGEST_COMMANDS, type Digest, type RunCommand, type TouchedFile } from './digest.ts'
import type { Entry } from './entry.ts'
import { countLineDiff } from './line-diff.ts'

/** Counts what tools did, call by call. A call that failed touched nothing, and is still a call. */
export interface ToolFold {
  call(block: ToolUseBlock, entry: Entry): void
  answer(block: ToolResultBlock): void
  finish(): Pick<Digest, 'commands' | 'files' | 'tools'>
}

interface Touch {
  readonly reads: number
  readonly changes: number
  readonly added: number
  readonly removed: number
}

/** What is known of a call until its result is there. */
interface OpenCall {
  readonly tool: { calls: number; failed: number }
  readonly path?: string | undefined
  readonly touch?: Touch | undefined
  readonly command?: { failed: boolean } | undefined
}

const READ: Touch = { reads: 1, changes: 0, added: 0, removed: 0 }
const LONGEST_COMMAND = 200

/** Tool names and inputs as agents write them; what they do not say is not counted. */
export function createToolFold(): ToolFold {
  const tools = new Map<string, { calls: number; failed: number }>()
  const files = new Map<
    string,
    { path: string; entryId: string } & { -readonly [Key in keyof Touch]: number }
  >()
  const commands: (RunCommand & { failed: boolean })[] = []
  /** Every call, so that a line that was written twice counts once; without what it did, once it is answered. */
  const calls = new Map<string, OpenCall | undefined>()

  function touchFile(path: string, touch: Touch, { id, cwd }: Entry): void {
    let file = files.get(path)
    if (file === undefined) {
      file = { path, entryId: id, reads: 0, changes: 0, added: 0, removed: 0 }
      files.set(path, file)
    }
    file.path = relativeTo(cwd, path)
    file.entryId = id
    addTouch(path, touch, 1)
  }

  function addTouch(path: string, touch: Touch, times: 1 | -1): void {
    const file = files.get(path)
    if (file === undefined) return
    file.reads += touch.reads * times
    file.changes += touch.changes * times
    file.added += touch.added * times
    file.removed += touch.removed * times
  }

  return {
    call({ id, name, input }, entry) {
      if (calls.has(id)) return
      const tool = tools.get(name) ?? { calls: 0, failed: 0 }
      tools.set(name, tool)
      tool.calls++
      const path = string(input, 'file_path') ?? string(input, 'notebook_path')
      const touch = path === undefined ? undefined : toTouch(name, input)
      if (path !== undefined && touch !== undefined) touchFile(path, touch, entry)
      const line = name === 'Bash' ? string(input, 'command') : undefined
      const command =
        line === undefined
          ? undefined
          : { entryId: entry.id, at: entry.at, command: toFirstLine(line, LONGEST_COMMAND), failed: false }
      if (command !== undefined) commands.push(command)
      if (commands.length > DIGEST_COMMANDS) commands.shift()
      calls.set(id, { tool, path, touch, command })
    },
    answer({ toolUseId, isError }) {
      const call = calls.get(toolUseId)
      if (call === undefined) return
      calls.set(toolUseId, undefined)
      if (!isError) return
      call.tool.failed++
      if (call.command !== undefined) call.command.failed = true
      if (call.path !== undefined && call.touch !== undefined) addTouch(call.path, call.touch, -1)
    },
    finish: () => ({
      files: [...files.values()]
        .filter(({ reads, changes }) => reads + changes > 0)
        .map((file): TouchedFile => ({ ...file }))
        .toSorted(byTouches),
      commands: commands.map((command) => ({ ...command })),
      tools: [...tools]
        .map(([name, { calls: count, failed }]) => ({ name, calls: count, failed }))
        .toSorted((a, b) => b.calls - a.calls || inOrder(a.name, b.name)),
    }),
  }
}

function toTouch(name: string, input: unknown): Touch | undefined {
  switch (name) {
    case 'Read':
    case 'NotebookRead':
      return READ
    case 'Edit':
    case 'MultiEdit': {
      const edits = Array.isArray(field(input, 'edits')) ? list(input, 'edits') : [input]
      let added = 0
      let removed = 0
      for (const edit of edits) {
        const change = countLineDiff(string(edit, 'old_string') ?? '', string(edit, 'new_string') ?? '')
        added += change.added
        removed += change.removed
      }
      return { reads: 0, changes: 1, added, removed }
    }
    case 'Write':
      return toWritten(string(input, 'content'))
    case 'NotebookEdit':
      return toWritten(string(input, 'edit_mode') === 'delete' ? '' : string(input, 'new_source'))
    default:
      return undefined
  }
}

function toWritten(content = ''): Touch {
  return { reads: 0, changes: 1, added: countLineDiff('', content).added, removed: 0 }
}

function relativeTo(cwd: string | undefined, path: string): string {
  if (cwd === undefined || cwd === '' || !path.startsWith(cwd)) return path
  const rest = path.slice(cwd.length)
  if (/[/\\]$/.test(cwd)) return rest === '' ? path : rest
  return /^[/\\]./.test(rest) ? rest.slice(1) : path
}

/** The first line that says something, on one line and cut. Holds nothing of a longer text. */
export function toFirstLine(text: string, length: number): string {
  // A slice keeps the whole text in memory: what was cut is made anew, piece by piece.
  const start = /\S[^\n\r]*/.exec(text.slice(0, LOOKED_AT))?.[0].trim() ?? ''
  return Array.from(shorten(start.replaceAll(/\s+/g, ' '), length)).join('')
}

const LOOKED_AT = 10_000

function byTouches(a: TouchedFile, b: TouchedFile): number {
  return b.reads + b.changes - a.reads - a.changes || inOrder(a.path, b.path)
}

function inOrder(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
