import { isObject, list, string, type JsonObject } from '#base'

/** A call as Claude Code would have made it: its name for the tool, and its names for what the tool is given. */
export interface KnownCall {
  readonly tool: string
  readonly input: unknown
}

/** What agents call the tools that most of them have. Left out: what is called with other things than words. */
const TOOLS: ReadonlyMap<string, string> = new Map([
  ...['exec_command', 'shell_command', 'shell', 'local_shell', 'container.exec'].map(named('Bash')),
  ...['run_shell_command', 'bash'].map(named('Bash')),
  ...['replace', 'edit'].map(named('Edit')),
  ...['write_file', 'write'].map(named('Write')),
  ...['read_file', 'read'].map(named('Read')),
  ...['search_file_content', 'grep_search', 'grep'].map(named('Grep')),
  ...['glob'].map(named('Glob')),
  ...['google_web_search', 'websearch'].map(named('WebSearch')),
  ...['task'].map(named('Task')),
  ...['apply_patch', 'patch'].map(named('Patch')),
  ...['update_plan', 'todowrite', 'write_todos'].map(named('TodoWrite')),
])

const KEYS: ReadonlyMap<string, string> = new Map([
  ['filePath', 'file_path'],
  ['absolute_path', 'file_path'],
  ['oldString', 'old_string'],
  ['newString', 'new_string'],
  ['replaceAll', 'replace_all'],
  ['dir_path', 'path'],
])

function named(tool: string): (name: string) => [string, string] {
  return (name) => [name, tool]
}

/** What Claude Code calls a tool of any agent, as far as its name tells. */
export function toolFamily(name: string): string {
  return TOOLS.get(name) ?? name
}

/** Reads a call of any agent. One that is not as expected stays as it is. */
export function readCall(name: string, input: unknown): KnownCall {
  const tool = TOOLS.get(name)
  if (tool === undefined || !isObject(input)) return { tool: name, input }
  if (tool === 'Bash') return toCommandCall(name, input)
  if (tool === 'Patch') return toPatch(name, input)
  if (tool === 'TodoWrite') return toTodos(name, input)
  const renamed = Object.fromEntries(
    Object.entries(input).map(([key, value]) => [KEYS.get(key) ?? key, value]),
  )
  const isWhole = Object.keys(renamed).length === Object.keys(input).length
  return isWhole && NEEDED[tool]?.(renamed) === true ? { tool, input: renamed } : { tool: name, input }
}

const NEEDED: Readonly<Record<string, (input: JsonObject) => boolean>> = {
  Edit: (input) => string(input, 'old_string') !== undefined && string(input, 'new_string') !== undefined,
  Write: (input) => string(input, 'content') !== undefined,
  Read: (input) => string(input, 'file_path') !== undefined,
  Grep: (input) => string(input, 'pattern') !== undefined,
  Glob: (input) => string(input, 'pattern') !== undefined,
  WebSearch: (input) => string(input, 'query') !== undefined,
  Task: (input) => string(input, 'prompt') !== undefined,
}

function toCommandCall(name: string, input: JsonObject): KnownCall {
  const key = input['cmd'] === undefined ? 'command' : 'cmd'
  const value = input[key]
  const command = typeof value === 'string' ? value : toCommand(list(input, key))
  if (command === undefined || (key === 'cmd' && input['command'] !== undefined)) return { tool: name, input }
  const { [key]: _, ...rest } = input
  return { tool: 'Bash', input: { command, ...rest } }
}

/** Words of a command as one line: what a shell is told to run, or the words as a shell would take them. */
function toCommand(words: readonly unknown[]): string | undefined {
  if (words.length === 0 || !words.every((word): word is string => typeof word === 'string')) return undefined
  const [shell = '', flag = '', script] = words
  if (
    words.length === 3 &&
    script !== undefined &&
    /(?:^|\/)(?:ba|z|da)?sh$/u.test(shell) &&
    /^-l?c$/u.test(flag)
  )
    return script
  return words
    .map((word) => (/^[\w@%+=:,./-]+$/u.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`))
    .join(' ')
}

/** A patch is given as `input` by Codex, as `patchText` by opencode. */
function toPatch(name: string, input: JsonObject): KnownCall {
  // `patch` first: where there are two of them, the other one stays beside it.
  for (const key of ['patch', 'input', 'patchText']) {
    const patch = string(input, key)
    if (patch === undefined) continue
    const { [key]: _, ...rest } = input
    // What else is called so is of an unexpected type, and would be left out.
    if (rest['patch'] !== undefined) break
    return { tool: 'Patch', input: { patch, ...rest } }
  }
  return { tool: name, input }
}

/** A plan of Codex has steps, a list of Gemini CLI has descriptions. */
function toTodos(name: string, input: JsonObject): KnownCall {
  const key = Array.isArray(input['todos']) ? 'todos' : 'plan'
  const todos = list(input, key).map((todo) => {
    const content = string(todo, 'content') ?? string(todo, 'step') ?? string(todo, 'description')
    return isObject(todo) && content !== undefined ? { ...todo, content } : undefined
  })
  if (todos.length === 0 || todos.includes(undefined)) return { tool: name, input }
  const { [key]: _, ...rest } = input
  return { tool: 'TodoWrite', input: { ...rest, todos } }
}

/** What a patch of Codex's form does to one file. */
export interface PatchedFile {
  readonly path: string
  readonly added: number
  readonly removed: number
}

export function readPatched(patch: string): readonly PatchedFile[] {
  const files: { path: string; added: number; removed: number }[] = []
  for (const line of patch.split(/\r?\n/u)) {
    const path = /^\*\*\* (?:Add|Update|Delete) File: (.+)$/u.exec(line)?.[1]?.trim()
    const last = files.at(-1)
    if (path !== undefined) files.push({ path, added: 0, removed: 0 })
    else if (last !== undefined && line.startsWith('+')) last.added++
    else if (last !== undefined && line.startsWith('-')) last.removed++
  }
  return files
}
