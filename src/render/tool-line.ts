import { field, isObject, list, shorten, string } from '#base'
import { countDiff, readCall, readPatched, textOf, toLineDiff, type ToolCall } from '#model'
import { findPlan, ranInput } from './call-input.ts'
import { toCount, toPlural } from './figures.ts'
import { safeLine } from './safe-text.ts'

/** What a tool call did, in parts that fit on one line. All of them are safe to show. */
export interface ToolLine {
  /** `Bash`, or `server · tool` for a tool of an MCP server. */
  readonly tool: string
  /** What it did it to: `npm test`, `src/a.ts (+3 −1)`. Empty when the call says nothing readable. */
  readonly detail: string
  /** What the agent had called with, where a person changed it before it ran: then `detail` is what ran. */
  readonly before?: string | undefined
  /** `exit 1`, `failed`, `declined by you`, `no answer`, or what a person answered; empty when it just went well. */
  readonly outcome: string
}

const LONGEST = 400

export interface ToolLineOptions {
  /** Paths inside it are shown relative to it. */
  readonly workdir?: string | undefined
  /** How text is made safe: `safeLine` where it is only read, `exactLine` where a person decides by it. */
  readonly show?: (text: string) => string
}

/** Reads what a tool call did. Never throws, whatever its input is. */
export function toToolLine(call: ToolCall, { workdir, show = safeLine }: ToolLineOptions = {}): ToolLine {
  const { name, changed } = call.use
  const asked = { ...call, use: { ...call.use, changed: undefined } }
  return {
    ...(changed === undefined ? {} : { before: cut(detailOf(asked, workdir), show) }),
    tool: cut(findPlan(call) === undefined ? toolName(name) : 'Plan', show),
    detail: cut(detailOf(call, workdir), show),
    outcome: outcomeOf(call),
  }
}

/** The same as one string: `Bash npm test → exit 1`. */
export function toolLine(call: ToolCall, workdir?: string): string {
  const { tool, detail, before, outcome } = toToolLine(call, { workdir })
  const changed = before === undefined ? '' : ` (changed from: ${before})`
  const what = detail === '' ? `${tool}${changed}` : `${tool} ${detail}${changed}`
  return outcome === '' ? what : `${what} → ${outcome}`
}

function cut(text: string, show: (text: string) => string): string {
  // Cut before and after: a command of a megabyte is not cleaned to show its first words.
  const line = show(text.slice(0, LONGEST * 4))
  return line.length > LONGEST || text.length > LONGEST * 4 ? `${line.slice(0, LONGEST)}…` : line
}

function toolName(name: string): string {
  const mcp = mcpName(name)
  return mcp === undefined ? name : `${mcp.server} · ${mcp.tool}`
}

/** `mcp__server__tool`. */
function mcpName(name: string): { readonly server: string; readonly tool: string } | undefined {
  if (!name.startsWith('mcp__')) return undefined
  const split = name.indexOf('__', 5)
  return split <= 5 || split + 2 >= name.length
    ? undefined
    : { server: name.slice(5, split), tool: name.slice(split + 2) }
}

function detailOf(call: ToolCall, cwd: string | undefined): string {
  const { tool, input } = readCall(call.use.name, ranInput(call))
  const plan = findPlan(call)
  if (plan !== undefined) return titleOf(plan)
  const path = string(input, 'file_path') ?? string(input, 'notebook_path') ?? string(input, 'path')
  const shown = path === undefined ? undefined : relativeTo(cwd, path)
  switch (tool) {
    case 'Bash':
      return firstLine(string(input, 'command')) ?? firstString(input)
    case 'Edit':
    case 'MultiEdit':
      return shown === undefined ? firstString(input) : `${shown} ${changeOf(input)}`
    case 'Write':
      return shown === undefined ? firstString(input) : `${shown} ${sizeOf(string(input, 'content'))}`
    case 'Patch':
      return patchOf(string(input, 'patch') ?? '', cwd)
    case 'Read':
    case 'NotebookEdit':
    case 'NotebookRead':
    case 'LS':
      return shown ?? firstString(input)
    case 'Grep':
    case 'Glob': {
      const pattern = string(input, 'pattern')
      if (pattern === undefined) return firstString(input)
      return shown === undefined ? `"${pattern}"` : `"${pattern}" in ${shown}`
    }
    case 'WebSearch': {
      const query = string(input, 'query')
      return query === undefined ? firstString(input) : `"${query}"`
    }
    case 'Agent':
    case 'Task': {
      const type = string(input, 'subagent_type')
      const task = string(input, 'description') ?? firstLine(string(input, 'prompt')) ?? ''
      return type === undefined ? task : `${type}: ${task}`
    }
    case 'TodoWrite': {
      const todos = list(input, 'todos')
      const done = todos.filter((todo) => string(todo, 'status') === 'completed').length
      return `${toPlural(todos.length, 'todo')}, ${toCount(done)} done`
    }
    case 'AskUserQuestion':
      return string(list(input, 'questions')[0], 'question') ?? firstString(input)
    default:
      return firstString(input)
  }
}

function patchOf(patch: string, cwd: string | undefined): string {
  const files = readPatched(patch)
  const [first] = files
  if (first === undefined) return firstLine(patch) ?? ''
  const more = files.length === 1 ? '' : ` and ${toPlural(files.length - 1, 'other file')}`
  const [added, removed] = [sum(files.map((file) => file.added)), sum(files.map((file) => file.removed))]
  return `${relativeTo(cwd, first.path)}${more} (+${toCount(added)} −${toCount(removed)})`
}

function sum(figures: readonly number[]): number {
  return figures.reduce((all, one) => all + one, 0)
}

/** What a text is headed with, without the mark of a heading. */
function titleOf(text: string): string {
  return (
    text
      .trimStart()
      .split('\n', 1)[0]
      ?.replace(/^#{1,6}\s+/u, '') ?? ''
  )
}

function changeOf(input: unknown): string {
  const edits = Array.isArray(field(input, 'edits')) ? list(input, 'edits') : [input]
  let added = 0
  let removed = 0
  for (const edit of edits) {
    const change = countDiff(toLineDiff(string(edit, 'old_string') ?? '', string(edit, 'new_string') ?? ''))
    added += change.added
    removed += change.removed
  }
  return `(+${toCount(added)} −${toCount(removed)})`
}

function sizeOf(content: string | undefined): string {
  return content === undefined ? '' : `(${toPlural(countDiff(toLineDiff('', content)).added, 'line')})`
}

function firstLine(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const trimmed = withoutMargin(text)
  const end = trimmed.indexOf('\n')
  return end < 0 ? trimmed : `${trimmed.slice(0, end)} …`
}

/** Without spaces, tabs and line breaks around it. Other white space may stand there to deceive, and stays. */
function withoutMargin(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && isMargin(text.charCodeAt(start))) start++
  while (end > start && isMargin(text.charCodeAt(end - 1))) end--
  return text.slice(start, end)
}

function isMargin(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x09
}

function firstString(input: unknown): string {
  if (typeof input === 'string') return firstLine(input) ?? ''
  if (!isObject(input)) return ''
  for (const value of Object.values(input)) {
    if (typeof value === 'string' && value.trim() !== '') return firstLine(value) ?? ''
  }
  return ''
}

function relativeTo(cwd: string | undefined, path: string): string {
  if (cwd === undefined || cwd === '' || !path.startsWith(cwd)) return path
  const rest = path.slice(cwd.length)
  if (rest === '') return '.'
  if (cwd.endsWith('/') || cwd.endsWith('\\')) return rest
  return rest.length > 1 && (rest.startsWith('/') || rest.startsWith('\\')) ? rest.slice(1) : path
}

function outcomeOf(call: ToolCall): string {
  switch (call.state) {
    case 'done':
      return findPlan(call) === undefined ? (answerOf(call) ?? '') : 'approved'
    case 'failed':
      return exitCode(call) ?? 'failed'
    case 'refused':
      return denialOf(call)
    case 'pending':
      return 'no answer'
  }
}

/** Who did not allow a call, with the words of a person who said what to do instead. */
function denialOf({ result }: ToolCall): string {
  const { by, denial } = result?.decision ?? {}
  if (denial === 'interrupted') return 'stopped by you'
  if (denial === 'unanswered') return 'not answered'
  if (denial === 'permission-rule') return 'denied by a rule'
  if (denial !== 'user-rejected' && by !== 'user_reject') return 'denied'
  const said = safeLine(wordsOfDenial(textOf(result?.content ?? []).slice(0, 10_000)))
  return said === '' ? 'declined by you' : `declined by you: ${shorten(said, 160)}`
}

/** What a person said to it, within or in place of what the client tells the model. */
function wordsOfDenial(text: string): string {
  const quoted = /\bthe user said:\n([^]+)/u.exec(text)?.[1]
  if (quoted !== undefined) return quoted
  return /^(?:The user \S+|\[(?:Request|Operation) |exec command|patch) /u.test(text) ? '' : text
}

/** What the person chose: words of a person are not folded away. Claude Code writes `"question"="answer"`. */
function answerOf(call: ToolCall): string | undefined {
  const question = string(list(call.use.input, 'questions')[0], 'question')
  if (call.use.name !== 'AskUserQuestion' || question === undefined) return undefined
  const said = textOf(call.result?.content ?? [])
  const start = said.indexOf(`"${question}"="`)
  if (start < 0) return undefined
  const from = start + question.length + 4
  const end = said.indexOf('"', from)
  return end < 0 ? undefined : safeLine(said.slice(from, Math.min(end, from + 80)))
}

function exitCode(call: ToolCall): string | undefined {
  const said = textOf(call.result?.content ?? []).slice(0, 200)
  const code = /\bexit code:? (\d{1,3})\b/i.exec(said)?.[1]
  return code === undefined ? undefined : `exit ${code}`
}
