import { field, isObject, list, string } from '#base'
import { readCall, toLineDiff, toShortSigner, type Block, type DiffLine, type ToolCall } from '#model'
import { findPlan, ranInput, toJson, withoutPlan } from './call-input.ts'

/** What is inside an unfolded tool call, in the order a person wants to read it. */
export type CallPart =
  /** What an agent wants to do, as Markdown: read by a person who then says whether it may begin. */
  | { readonly kind: 'plan'; readonly text: string }
  | { readonly kind: 'input'; readonly text: string }
  /** Something that is said about the call, in our words. */
  | { readonly kind: 'note'; readonly text: string }
  | { readonly kind: 'diff'; readonly lines: readonly DiffLine[] }
  | { readonly kind: 'output'; readonly blocks: readonly Block[]; readonly failed: boolean }

/** Input as a person would write it (a command, a diff, a file), then the answer. */
export function toCallParts(call: ToolCall): readonly CallPart[] {
  const { state, result } = call
  const plan = findPlan(call)
  const parts = [
    ...changeParts(call),
    ...(plan === undefined ? inputParts(call.use.name, ranInput(call)) : planParts(plan, call.use.input)),
  ]
  if (result === undefined) return parts
  const blocks = plan === undefined ? result.content : withoutPlan(result.content)
  return [...parts, { kind: 'output', blocks, failed: result.isError && state !== 'refused' }]
}

/** How a person changed the call, where they did. */
function changeParts(call: ToolCall): readonly CallPart[] {
  const { name, input, changed } = call.use
  if (changed === undefined || findPlan(call) !== undefined) return []
  const lines = toLineDiff(toInputText(name, input), toInputText(name, changed.input))
  return [
    {
      kind: 'note',
      text: `Changed by ${changed.by === '' ? 'a person' : toShortSigner(changed.by)} before it ran:`,
    },
    { kind: 'diff', lines },
  ]
}

function toInputText(name: string, input: unknown): string {
  const known = readCall(name, input)
  return (known.tool === 'Bash' ? string(known.input, 'command') : undefined) ?? toJson(input)
}

function planParts(plan: string, input: unknown): readonly CallPart[] {
  const rest = isObject(input) ? Object.entries(input).filter(([key]) => key !== 'plan') : []
  const others: CallPart = { kind: 'input', text: toJson(Object.fromEntries(rest)) }
  const proposed = string(input, 'plan')
  const isEdited = proposed !== undefined && proposed.trim() !== plan.trim()
  return [
    { kind: 'plan', text: plan },
    ...(isEdited ? [{ kind: 'diff', lines: toLineDiff(proposed, plan) } as const] : []),
    ...(rest.length === 0 ? [] : [others]),
  ]
}

/** What a call says that started a subagent, when the subagent's conversation stands beside it: its prompt is there. */
export function withoutPrompt(parts: readonly CallPart[], call: ToolCall): readonly CallPart[] {
  const prompt = string(call.use.input, 'prompt')
  return parts.filter((part) => part.kind !== 'input' || part.text !== prompt)
}

function inputParts(name: string, given: unknown): readonly CallPart[] {
  const { tool, input } = readCall(name, given)
  const rest = (...shown: readonly string[]): readonly CallPart[] => {
    if (!isObject(input)) return [{ kind: 'input', text: toJson(input) }]
    const left = Object.entries(input).filter(([key, value]) => !shown.includes(key) || !isShown(key, value))
    return left.length === 0 ? [] : [{ kind: 'input', text: toJson(Object.fromEntries(left)) }]
  }
  switch (tool) {
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
      const diffs = edits.flatMap((edit): readonly CallPart[] => {
        const [before, after] = [string(edit, 'old_string') ?? '', string(edit, 'new_string') ?? '']
        const diff: CallPart = { kind: 'diff', lines: toLineDiff(before, after) }
        return edit === input ? [diff] : [diff, ...editRest(edit)]
      })
      const hidden = ['file_path', 'edits', 'old_string', 'new_string']
      return [...diffs, ...rest(...hidden, ...(field(input, 'replace_all') === false ? ['replace_all'] : []))]
    }
    case 'Write': {
      const content = string(input, 'content')
      if (content === undefined) return rest()
      return [{ kind: 'diff', lines: toLineDiff('', content) }, ...rest('file_path', 'content')]
    }
    case 'Patch': {
      const patch = string(input, 'patch') ?? ''
      return [{ kind: 'diff', lines: patch.split('\n').map(toPatchLine) }, ...rest('patch')]
    }
    case 'TodoWrite':
      return [{ kind: 'input', text: toJson(given) }]
    case 'Read':
      return rest('file_path')
    case 'Grep':
    case 'Glob':
      // The line above says both, unless it had to be cut.
      return (string(input, 'pattern')?.length ?? 0) < 200
        ? rest('pattern', ...(string(input, 'file_path') === undefined ? ['path'] : []))
        : rest()
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

/** What one of several edits says beside its texts, such as that every place is changed. */
function editRest(edit: unknown): readonly CallPart[] {
  if (!isObject(edit)) return [{ kind: 'input', text: toJson(edit) }]
  const left = Object.entries(edit).filter(
    ([key, value]) =>
      !(['old_string', 'new_string'].includes(key) && typeof value === 'string') &&
      !(key === 'replace_all' && value === false),
  )
  return left.length === 0 ? [] : [{ kind: 'input', text: toJson(Object.fromEntries(left)) }]
}

/** What is of an unexpected type is not in what stands above. */
function isShown(key: string, value: unknown): boolean {
  return typeof value === 'string' || value === false || (key === 'edits' && Array.isArray(value))
}

function toPatchLine(line: string): DiffLine {
  const kind = line.startsWith('+') ? 'added' : line.startsWith('-') ? 'removed' : 'same'
  return { kind, text: kind === 'same' && !line.startsWith(' ') ? line : line.slice(1) }
}
