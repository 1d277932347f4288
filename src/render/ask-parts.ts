import { field, isObject, list, string } from '#base'
import { toLineDiff, type Ask, type DiffLine, type FolderSettings, type PermissionAsk } from '#model'
import { toJson } from './call-input.ts'

/** What a person has to see before a tool may run. Together the parts hold all of its input. */
export type AskPart =
  | { readonly kind: 'plan'; readonly text: string }
  | { readonly kind: 'command'; readonly text: string }
  | { readonly kind: 'path'; readonly text: string }
  | { readonly kind: 'diff'; readonly lines: readonly DiffLine[] }
  /** Content that does not end with a newline, which a diff does not show. */
  | { readonly kind: 'no-newline' }
  /** A field of the input by its name: a string as it is, anything else as JSON. */
  | { readonly kind: 'field'; readonly name: string; readonly text: string }
  /** An input that is no object. */
  | { readonly kind: 'value'; readonly text: string }

/** The input of a tool as a person reads it: a command, a change, fields. Nothing is folded, cut or left out. */
export function toAskParts(ask: PermissionAsk): readonly AskPart[] {
  const { tool, input } = ask
  if (isPlanAsk(ask)) {
    return [{ kind: 'plan', text: string(input, 'plan') ?? '' }, ...fieldsOf(input, ['plan'])]
  }
  switch (tool) {
    case 'Bash': {
      const command = string(input, 'command')
      if (command === undefined) return fieldsOf(input, [])
      return [{ kind: 'command', text: command }, ...fieldsOf(input, ['command'])]
    }
    case 'Edit':
    case 'MultiEdit':
      return editsOf(input)
    case 'Write': {
      const content = string(input, 'content')
      if (content === undefined) return fieldsOf(input, [])
      const end: readonly AskPart[] = /[^\n]$/.test(content) ? [{ kind: 'no-newline' }] : []
      return [
        ...pathOf(input),
        { kind: 'diff', lines: toLineDiff('', content) },
        ...end,
        ...fieldsOf(input, ['file_path', 'content']),
      ]
    }
    default:
      return fieldsOf(input, [])
  }
}

/** Whether a plan is to be approved. */
export function isPlanAsk(ask: Ask): boolean {
  return ask.kind === 'permission' && ask.tool === 'ExitPlanMode' && string(ask.input, 'plan') !== undefined
}

function editsOf(input: unknown): readonly AskPart[] {
  const isMany = Array.isArray(field(input, 'edits'))
  const edits = isMany ? list(input, 'edits') : [input]
  const texts = edits.map((edit) => [string(edit, 'old_string'), string(edit, 'new_string')] as const)
  if (texts.some(([before, after]) => before === undefined || after === undefined)) return fieldsOf(input, [])
  return [
    ...pathOf(input),
    ...edits.flatMap((edit, at): readonly AskPart[] => {
      const [before = '', after = ''] = texts[at] ?? []
      const diff: AskPart = { kind: 'diff', lines: toLineDiff(withEnd(before), withEnd(after)) }
      return isMany ? [diff, ...fieldsOf(edit, ['old_string', 'new_string'])] : [diff]
    }),
    ...fieldsOf(input, isMany ? ['file_path', 'edits'] : ['file_path', 'old_string', 'new_string']),
  ]
}

/** A diff leaves out the newline at the end of a text; where a piece of a line is replaced, it is part of it. */
function withEnd(text: string): string {
  return text === '' ? '' : `${text}\n`
}

function pathOf(input: unknown): readonly AskPart[] {
  const path = string(input, 'file_path')
  return path === undefined ? [] : [{ kind: 'path', text: path }]
}

/** Every field that is not shown otherwise; one that is shown as text is shown here after all when it is no text. */
function fieldsOf(input: unknown, shown: readonly string[]): readonly AskPart[] {
  if (!isObject(input)) return [{ kind: 'value', text: toJson(input) }]
  return Object.entries(input)
    .filter(([name, value]) => !shown.includes(name) || (name === 'file_path' && typeof value !== 'string'))
    .map(([name, value]) => ({
      kind: 'field',
      name,
      text: typeof value === 'string' ? value : toJson(value),
    }))
}

/** Every text of an ask, for a warning about what is hidden in it. */
export function textsOfAsk(ask: Ask): readonly string[] {
  if (ask.kind === 'question') {
    return [
      ask.workdir,
      ...ask.questions.flatMap(({ question, header, options }) => [
        question,
        header ?? '',
        ...options.flatMap(({ label, description }) => [label, description ?? '']),
      ]),
    ]
  }
  return [
    ask.tool,
    ask.workdir,
    ask.reason ?? '',
    ...ask.rules.map(({ words }) => words),
    ...toAskParts(ask).flatMap((part) => {
      switch (part.kind) {
        case 'diff':
          return part.lines.map(({ text }) => text)
        case 'field':
          return [part.name, part.text]
        case 'no-newline':
          return []
        case 'plan':
        case 'command':
        case 'path':
        case 'value':
          return [part.text]
      }
    }),
  ]
}

/** Every text of what an agent would load from a folder. */
export function textsOfSettings({ workdir, files, effects }: FolderSettings): readonly string[] {
  return [
    workdir,
    ...effects.flatMap(({ name, what, file }) => [name, what, file]),
    ...files.map(({ path }) => path),
  ]
}
