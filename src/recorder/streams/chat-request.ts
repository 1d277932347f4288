import { object, string, type JsonObject } from '#base'
import { fromChatContent, fromChatMessage, toFunctionId } from './chat-messages.ts'
import { beside, objectsIn, textOf, without } from './content-blocks.ts'
import type { RequestTurn } from './model-request.ts'
import type { SaidBefore } from './request-reader.ts'

/** The turns of a request to Chat Completions. What the calls of one answer gave is one turn. */
export function readChatTurns(body: JsonObject): SaidBefore {
  const system: string[] = []
  const turns: RequestTurn[] = []
  let results: JsonObject[] = []

  function closeResults(): void {
    if (results.length > 0) turns.push({ role: 'user', content: results })
    results = []
  }

  for (const message of objectsIn(body, 'messages')) {
    const role = string(message, 'role')
    if (role === 'tool' || role === 'function') {
      results.push(toResult(message))
      continue
    }
    closeResults()
    if (role === 'system' || role === 'developer') system.push(textOf(message['content'], '\n\n'))
    else if (role === 'assistant') turns.push({ role, content: fromChatMessage(message) })
    else turns.push({ role: 'user', content: fromUser(message) })
  }
  closeResults()
  return { system: system.filter((text) => text !== '').join('\n\n'), turns }
}

function toResult(message: JsonObject): JsonObject {
  const { content } = message
  const isOld = string(message, 'role') === 'function'
  return {
    type: 'tool_result',
    tool_use_id: isOld ? toFunctionId(message) : (string(message, 'tool_call_id') ?? ''),
    content: typeof content === 'string' ? content : fromChatContent(content),
    ...beside(
      'openai',
      isOld ? without(message, ['content']) : without(message, ['role', 'content', 'tool_call_id']),
    ),
  }
}

/** Some clients give the one who speaks a name. */
function fromUser(message: JsonObject): readonly JsonObject[] {
  const rest = without(message, ['role', 'content'])
  return fromChatContent(message['content']).map((block) => ({
    ...block,
    ...beside('openai', { ...object(block, 'openai'), ...rest }),
  }))
}
