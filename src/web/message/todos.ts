import { field, list, string } from '#base'
import { readCall, type ToolCall } from '#model'

/** A todo as a list shows it. */
export interface Todo {
  readonly text: string
  readonly state: string
}

/** The list a call wrote, where it wrote one. */
export function findTodos(call: ToolCall): readonly Todo[] | undefined {
  const { tool, input } = readCall(call.use.name, call.use.input)
  if (tool !== 'TodoWrite' || !Array.isArray(field(input, 'todos'))) return undefined
  return list(input, 'todos').map((todo) => ({
    text: string(todo, 'content') ?? '',
    state: string(todo, 'status') ?? '',
  }))
}
