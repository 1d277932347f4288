import { field, isObject, list, string } from '#base'
import { countDiff, textOf, toLineDiff, type ToolCall } from '#model'
import { toCount, toPlural } from './figures.ts'
import { safeLine } from './safe-text.ts'

/** What a tool call did, in parts that fit on one line. All of them are safe to show. */
export interface ToolLine {
  /** `Bash`, or `server · tool` for a tool of an MCP server. */
  readonly tool: string
  /** What it did it to: `npm test`, `src/a.ts (+3 −1)`. Empty when the call says nothing readable. */
  readonly detail: string
  /** `exit 1`, `failed`, `refused`, `no answer`, or what a person answered; empty when it just went well. */
  readonly outcome: string
}

const LONGEST = 400

/** Reads what a tool call did. Never throws, whatever its input is; paths inside `cwd` are shown relative to it. */
export function toToolLine(call: ToolCall, cwd?: string): ToolLine {
  const { name, input } = call.use
  return {
    tool: cut(toolName(name)),
    detail: cut(detailOf(name, input, cwd)),
    outcome: outcomeOf(call),
  }
}

/** The same as one string: `Bash npm test → exit 1`. */
export function toolLine(call: ToolCall, cwd?: string): string {
  const { tool, detail, outcome } = toToolLine(call, cwd)
  const what = detail === '' ? tool : `${tool} ${detail}`
  return outcome === '' ? what : `${what} → ${outcome}`
}

function cut(text: string): string {
  // Cut before and after: a command of a megabyte is not cleaned to show its first words.
  const line = safeLine(text.slice(0, LONGEST * 4))
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

function detailOf(name: string, input: unknown, cwd: string | undefined): string {
  const path = string(input, 'file_path') ?? string(input, 'notebook_path') ?? string(input, 'path')
  const shown = path === undefined ? undefined : relativeTo(cwd, path)
  switch (name) {
    case 'Bash':
      return firstLine(string(input, 'command')) ?? firstString(input)
    case 'Edit':
    case 'MultiEdit':
      return shown === undefined ? firstString(input) : `${shown} ${changeOf(input)}`
    case 'Write':
      return shown === undefined ? firstString(input) : `${shown} ${sizeOf(string(input, 'content'))}`
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
  const trimmed = text.trim()
  const end = trimmed.indexOf('\n')
  return end < 0 ? trimmed : `${trimmed.slice(0, end)} …`
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
      return answerOf(call) ?? ''
    case 'failed':
      return exitCode(call) ?? 'failed'
    case 'refused':
      return 'refused'
    case 'pending':
      return 'no answer'
  }
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
