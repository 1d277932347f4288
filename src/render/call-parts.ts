import { field, isObject, list, string } from '#base'
import { toLineDiff, type Block, type DiffLine, type ToolCall } from '#model'

/** What is inside an unfolded tool call, in the order a person wants to read it. */
export type CallPart =
  | { readonly kind: 'input'; readonly text: string }
  | { readonly kind: 'diff'; readonly lines: readonly DiffLine[] }
  | { readonly kind: 'output'; readonly blocks: readonly Block[]; readonly failed: boolean }

/** Input as a person would write it (a command, a diff, a file), then the answer. */
export function toCallParts(call: ToolCall): readonly CallPart[] {
  const parts = inputParts(call.use.name, call.use.input)
  if (call.result === undefined) return parts
  return [...parts, { kind: 'output', blocks: call.result.content, failed: call.result.isError }]
}

/** What a call says that started a subagent, when the subagent's conversation stands beside it: its prompt is there. */
export function withoutPrompt(parts: readonly CallPart[], call: ToolCall): readonly CallPart[] {
  const prompt = string(call.use.input, 'prompt')
  return parts.filter((part) => part.kind !== 'input' || part.text !== prompt)
}

/** JSON of anything, indented; a value that is no JSON gives its plain text. */
export function toJson(value: unknown): string {
  try {
    return JSON.stringify(value, undefined, 2) ?? String(value)
  } catch {
    return String(value)
  }
}

function inputParts(name: string, input: unknown): readonly CallPart[] {
  const rest = (...shown: readonly string[]): readonly CallPart[] => {
    if (!isObject(input)) return [{ kind: 'input', text: toJson(input) }]
    const left = Object.entries(input).filter(([key]) => !shown.includes(key))
    return left.length === 0 ? [] : [{ kind: 'input', text: toJson(Object.fromEntries(left)) }]
  }
  switch (name) {
    case 'Bash': {
      const command = string(input, 'command')
      if (command === undefined) return rest()
      const purpose = string(input, 'description')
      const text = purpose === undefined ? `$ ${command}` : `# ${purpose}\n$ ${command}`
      return [{ kind: 'input', text }, ...rest('command', 'description')]
    }
    case 'Edit':
    case 'MultiEdit': {
      const edits = Array.isArray(field(input, 'edits')) ? list(input, 'edits') : [input]
      const diffs = edits.map((edit): CallPart => {
        const [before, after] = [string(edit, 'old_string') ?? '', string(edit, 'new_string') ?? '']
        return { kind: 'diff', lines: toLineDiff(before, after) }
      })
      const hidden = ['file_path', 'edits', 'old_string', 'new_string']
      return [...diffs, ...rest(...hidden, ...(field(input, 'replace_all') === false ? ['replace_all'] : []))]
    }
    case 'Write': {
      const content = string(input, 'content')
      if (content === undefined) return rest()
      return [{ kind: 'diff', lines: toLineDiff('', content) }, ...rest('file_path', 'content')]
    }
    case 'Read':
      return rest('file_path')
    case 'Grep':
    case 'Glob':
      // The line above says both, unless it had to be cut.
      return (string(input, 'pattern')?.length ?? 0) < 200 ? rest('pattern', 'path') : rest()
    case 'Agent':
    case 'Task': {
      const prompt = string(input, 'prompt')
      if (prompt === undefined) return rest()
      const quiet = field(input, 'run_in_background') === false ? ['run_in_background'] : []
      return [{ kind: 'input', text: prompt }, ...rest('prompt', 'description', 'subagent_type', ...quiet)]
    }
    default:
      return rest()
  }
}
