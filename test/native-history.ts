import { field, isObject, list, object, parseJson, string } from '#base'
import type { ModelRequest } from '#testing'

/**
 * What a request tells the model, in one form for all dialects: `user words`, `agent words`, `thought words`,
 * `call id name input`, `result id words`, `failed id words`, `picture`, `document`. What agents add of their own is
 * left out.
 */
export function historyOf({ body }: ModelRequest): readonly string[] {
  const said =
    'contents' in body
      ? list(body, 'contents').flatMap(fromGemini)
      : 'input' in body
        ? list(body, 'input').flatMap(fromResponses)
        : list(body, 'messages').flatMap((message) =>
            isChat(body) ? fromChat(message) : fromAnthropic(message),
          )
  return said.filter((line) => !OWN.test(line))
}

/** Words that agents put around those of people. */
const OWN = /^user (?:<(?:system-reminder|environment_context|session_context|user_instructions)|\[SYSTEM)/u

function isChat(body: object): boolean {
  return list(body, 'tools').some((tool) => isObject(tool) && 'function' in tool)
}

function call(id: string | undefined, name: string | undefined, input: unknown): string {
  return `call ${id ?? ''} ${name ?? ''} ${JSON.stringify(input)}`
}

function fromAnthropic(message: unknown): readonly string[] {
  const role = string(message, 'role') === 'assistant' ? 'agent' : string(message, 'role')
  if (role === 'system') return []
  const content = field(message, 'content')
  if (typeof content === 'string') return [`${role ?? ''} ${content}`]
  return list(message, 'content').map((block) => {
    switch (string(block, 'type')) {
      case 'text':
        return `${role ?? ''} ${string(block, 'text') ?? ''}`
      case 'thinking':
        return `thought ${string(block, 'thinking') ?? ''}`
      case 'tool_use':
        return call(string(block, 'id'), string(block, 'name'), field(block, 'input'))
      case 'tool_result': {
        const mark = field(block, 'is_error') === true ? 'failed' : 'result'
        return `${mark} ${string(block, 'tool_use_id') ?? ''} ${wordsOf(field(block, 'content'))}`
      }
      case 'image':
        return 'picture'
      case 'document':
        return 'document'
      default:
        return `unknown ${JSON.stringify(block)}`
    }
  })
}

function wordsOf(content: unknown): string {
  if (typeof content === 'string') return content
  return list({ content }, 'content')
    .map((part) => string(part, 'text') ?? (isDocument(part) ? '[document]' : '[picture]'))
    .join('')
}

function isDocument(part: unknown): boolean {
  const mediaType = string(object(part, 'inlineData'), 'mimeType') ?? ''
  return ['document', 'input_file', 'file'].includes(string(part, 'type') ?? '') || mediaType.endsWith('pdf')
}

function fromResponses(item: unknown): readonly string[] {
  switch (string(item, 'type')) {
    case 'message': {
      const role = string(item, 'role')
      if (role === 'developer' || role === 'system') return []
      const content = field(item, 'content')
      const who = role === 'assistant' ? 'agent' : 'user'
      if (typeof content === 'string') return [`${who} ${content}`]
      return list(item, 'content').map((part) => fromPart(part, who))
    }
    case 'reasoning':
      return [`thought ${wordsOf(field(item, 'summary'))}`]
    case 'function_call':
      return [call(string(item, 'call_id'), string(item, 'name'), parseJson(string(item, 'arguments') ?? ''))]
    case 'custom_tool_call':
      return [call(string(item, 'call_id'), string(item, 'name'), { input: string(item, 'input') })]
    case 'function_call_output':
    case 'custom_tool_call_output':
      return [`result ${string(item, 'call_id') ?? ''} ${wordsOf(field(item, 'output'))}`]
    default:
      return []
  }
}

/** A text, or something to look at. */
function fromPart(part: unknown, who: string): string {
  const text = string(part, 'text')
  if (text !== undefined) return `${who} ${text}`
  return isDocument(part) ? 'document' : 'picture'
}

function fromGemini(content: unknown): readonly string[] {
  const who = string(content, 'role') === 'model' ? 'agent' : 'user'
  return list(content, 'parts').map((part) => {
    const called = object(part, 'functionCall')
    if (called !== undefined) return call(string(called, 'id'), string(called, 'name'), called['args'])
    const answered = object(part, 'functionResponse')
    if (answered !== undefined) {
      const response = object(answered, 'response')
      const error = string(response, 'error')
      return `${error === undefined ? 'result' : 'failed'} ${string(answered, 'id') ?? ''} ${error ?? string(response, 'output') ?? ''}`
    }
    return fromPart(part, who)
  })
}

function fromChat(message: unknown): readonly string[] {
  const content = field(message, 'content')
  switch (string(message, 'role')) {
    case 'user':
      if (typeof content === 'string') return [`user ${content}`]
      return list(message, 'content').map((part) => fromPart(part, 'user'))
    case 'assistant': {
      const thought = string(message, 'reasoning_content')
      return [
        ...(thought === undefined || thought === '' ? [] : [`thought ${thought}`]),
        ...(typeof content === 'string' && content !== '' ? [`agent ${content}`] : []),
        ...list(message, 'tool_calls').map((each) => {
          const made = object(each, 'function')
          return call(string(each, 'id'), string(made, 'name'), parseJson(string(made, 'arguments') ?? ''))
        }),
      ]
    }
    case 'tool':
      return [`result ${string(message, 'tool_call_id') ?? ''} ${wordsOf(content)}`]
    default:
      return []
  }
}
