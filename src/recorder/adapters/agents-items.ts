import { field, isObject, list, parseJson, string, type JsonObject } from '#base'
import type { AssistantMessage, Content, ToolResult } from '../turn.ts'

/** A turn that an item of the Agents SDK is. */
export type AgentsTurn =
  | { readonly kind: 'user'; readonly content: Content }
  | { readonly kind: 'assistant'; readonly message: AssistantMessage }
  | { readonly kind: 'result'; readonly result: ToolResult }

/** What an item says, in the one form of recordings. The item itself is kept beside it, whole. */
export function fromAgentsItem(item: JsonObject): AgentsTurn {
  const type = string(item, 'type') ?? 'message'
  const id = string(item, 'id')
  const answer = (block: JsonObject): AgentsTurn => ({ kind: 'assistant', message: { id, content: [block] } })
  if (type === 'message') return fromMessage(item, id)
  if (type === 'reasoning') return answer({ type: 'thinking', thinking: toWords(item['content']) })
  if (type === 'function_call_result' || type.endsWith('_call_output'))
    return {
      kind: 'result',
      result: {
        tool_use_id: toCallId(item),
        content: toOutput(item['output']),
        ...(string(item, 'status') === 'incomplete' ? { is_error: true } : {}),
      },
    }
  if (type.endsWith('_call'))
    return answer({
      type: 'tool_use',
      id: toCallId(item),
      name: string(item, 'name') ?? type,
      input: toInput(item),
    })
  return answer(item)
}

function fromMessage(item: JsonObject, id: string | undefined): AgentsTurn {
  const content = item['content']
  if (string(item, 'role') === 'assistant')
    return { kind: 'assistant', message: { id, content: [{ type: 'text', text: toWords(content) }] } }
  if (typeof content === 'string') return { kind: 'user', content }
  return { kind: 'user', content: list(item, 'content').flatMap(toBlock) }
}

function toBlock(part: unknown): readonly object[] {
  const text = string(part, 'text')
  if (text !== undefined) return [{ type: 'text', text }]
  return isObject(part) ? [part] : []
}

function toCallId(item: JsonObject): string {
  return string(item, 'callId') ?? string(item, 'call_id') ?? string(item, 'id') ?? ''
}

function toInput(item: JsonObject): unknown {
  const given = string(item, 'arguments')
  if (given === undefined) return item['action'] ?? item['input'] ?? {}
  const parsed = parseJson(given)
  return isObject(parsed) ? parsed : { arguments: given }
}

function toOutput(output: unknown): Content {
  if (typeof output === 'string') return output
  const text = string(output, 'text')
  if (text !== undefined) return text
  return Array.isArray(output) ? list({ output }, 'output').flatMap(toBlock) : JSON.stringify(output ?? null)
}

function toWords(content: unknown): string {
  if (typeof content === 'string') return content
  return list({ content }, 'content')
    .flatMap(
      (part) =>
        string(part, 'text') ?? string(part, 'refusal') ?? string(field(part, 'transcript'), 'text') ?? [],
    )
    .join('')
}
