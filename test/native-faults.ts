import { list, object, string } from '#base'
import {
  findAnthropicFaults,
  findChatFaults,
  findGeminiFaults,
  findResponsesFaults,
  type ModelRequest,
} from '#testing'

/** What the provider would refuse in what the agent asked. What the agent says of itself is its own affair. */
export function faultsOf({ body }: ModelRequest): readonly string[] {
  const others = (key: string): readonly unknown[] =>
    list(body, key).filter((item) => !['system', 'developer'].includes(string(item, 'role') ?? ''))
  // Google asks for signatures in the turn that is going on only, and there Gemini CLI puts them itself.
  if ('contents' in body)
    return findGeminiFaults(list(body, 'contents')).filter((fault) => !fault.includes('thought_signature'))
  if ('input' in body) return findResponsesFaults(others('input'))
  if (!('system' in body)) return findChatFaults(others('messages'))
  return findAnthropicFaults(
    others('messages').map((message) => ({ ...object({ message }, 'message'), content: blocksOf(message) })),
  )
}

function blocksOf(message: unknown): readonly unknown[] {
  const text = string(message, 'content')
  return text === undefined ? list(message, 'content') : [{ type: 'text', text }]
}
