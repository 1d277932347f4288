import { field, list, shorten, string } from '#base'
import type { ToolResultBlock, ToolUseBlock } from './block.ts'
import { DIGEST_COMMANDS, type Digest, type RunCommand, type TouchedFile } from './digest.ts'
import type { Entry } from './entry.ts'
import { readCall, readPatched, type KnownCall } from './known-call.ts'
import { countLineDiff } from './line-diff.ts'

/** Counts what tools did, call by call. A call that failed or was denied touched nothing, and is still a call. */
export interface ToolFold {
  call(block: ToolUseBlock, entry: Entry): void
  /** `isDenied`: it never ran, because a person or a rule did not allow it. */
  answer(block: ToolResultBlock, isDenied: boolean): void
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
  readonly tool: Tally
  readonly touched: readonly (readonly [path: string, touch: Touch])[]
  readonly entryId: string
  /** Where each file's link led before this call. */
  readonly before: ReadonlyMap<string, string>
  readonly command?: { failed: boolean; denied?: true } | undefined
}

interface Tally {
  calls: number
  failed: number
  denied: number
}

const READ: Touch = { reads: 1, changes: 0, added: 0, removed: 0 }
const LONGEST_COMMAND = 200

/** Tool names and inputs as agents write them; what they do not say is not counted. */
export function createToolFold(): ToolFold {
  const tools = new Map<string, Tally>()
  const files = new Map<
    string,
    { path: string; entryId: string } & { -readonly [Key in keyof Touch]: number }
  >()
  const commands: (RunCommand & { failed: boolean; denied?: true })[] = []
  /** Every call, so that a line that was written twice counts once; without what it did, once it is answered. */
  const calls = new Map<string, OpenCall | undefined>()

  function touchFile(path: string, touch: Touch, { id, cwd }: Entry): void {
    let file = files.get(path)
    if (file === undefined) {
      file = { path, entryId: id, reads: 0, changes: 0, added: 0, removed: 0 }
      files.set(path, file)
    }
    file.path = relativeTo(cwd, path)
    // A change is what one looks for; of a file that was only read, the last look at it.
    if (touch.changes > 0 || file.changes === 0) file.entryId = id
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
    call({ id, name, input: given }, entry) {
      if (calls.has(id)) return
      const tool = tools.get(name) ?? { calls: 0, failed: 0, denied: 0 }
      tools.set(name, tool)
      tool.calls++
      const known = readCall(name, given)
      const touched = toTouched(known)
      const before = new Map(touched.flatMap(([path]) => toLink(files.get(path), path)))
      for (const [path, touch] of touched) touchFile(path, touch, entry)
      const line = known.tool === 'Bash' ? string(known.input, 'command') : undefined
      const command =
        line === undefined
          ? undefined
          : { entryId: entry.id, at: entry.at, command: toFirstLine(line, LONGEST_COMMAND), failed: false }
      if (command !== undefined) commands.push(command)
      if (commands.length > DIGEST_COMMANDS) commands.shift()
      calls.set(id, { tool, touched, command, entryId: entry.id, before })
    },
    answer({ toolUseId, isError }, isDenied) {
      const call = calls.get(toolUseId)
      if (call === undefined) return
      calls.set(toolUseId, undefined)
      if (!isError && !isDenied) return
      if (isDenied) call.tool.denied++
      else call.tool.failed++
      if (call.command !== undefined) {
        if (isDenied) call.command.denied = true
        else call.command.failed = true
      }
      for (const [path, touch] of call.touched) {
        addTouch(path, touch, -1)
        const file = files.get(path)
        if (file?.entryId === call.entryId) file.entryId = call.before.get(path) ?? file.entryId
      }
    },
    finish: () => ({
      files: [...files.values()]
        .filter(({ reads, changes }) => reads + changes > 0)
        .map((file): TouchedFile => ({ ...file }))
        .toSorted(byTouches),
      commands: commands.map((command) => ({ ...command })),
      tools: [...tools]
        .map(([name, tally]) => ({ name, ...tally }))
        .toSorted((a, b) => b.calls - a.calls || inOrder(a.name, b.name)),
    }),
  }
}

function toLink(
  file: { readonly entryId: string } | undefined,
  path: string,
): readonly (readonly [path: string, entryId: string])[] {
  return file === undefined ? [] : [[path, file.entryId]]
}

function toTouched({ tool, input }: KnownCall): OpenCall['touched'] {
  if (tool === 'Patch')
    return readPatched(string(input, 'patch') ?? '').map(({ path, added, removed }) => [
      path,
      { reads: 0, changes: 1, added, removed },
    ])
  const path = string(input, 'file_path') ?? string(input, 'notebook_path')
  const touch = path === undefined ? undefined : toTouch(tool, input)
  return path === undefined || touch === undefined ? [] : [[path, touch]]
}

function toTouch(tool: string, input: unknown): Touch | undefined {
  switch (tool) {
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
