import { isObject, list, parseJson, string } from '#base'

/** What the Responses API refuses in an `input`: pairs, ids, reasoning without what it led to, parts it does not know. */
export function findResponsesFaults(input: readonly unknown[]): readonly string[] {
  const faults: string[] = []
  const fault = (at: number, what: string): number => faults.push(`input.${at}: ${what}`)
  const open = new Map<string, string>()
  const answered = new Set<string>()
  for (const [at, item] of input.entries()) {
    const type = string(item, 'type') ?? ''
    if (type === 'message') for (const what of messageFaults(item)) fault(at, what)
    else if (type === 'reasoning') {
      if ((string(item, 'encrypted_content') ?? '') === '')
        fault(at, 'reasoning without its encrypted content')
      if (!Array.isArray(isObject(item) ? item['summary'] : undefined))
        fault(at, 'reasoning without a summary')
      if (!isOutput(input[at + 1])) fault(at, 'reasoning without its required following item')
    } else if (type === 'function_call' || type === 'custom_tool_call') {
      const id = string(item, 'call_id') ?? ''
      if (id === '' || id.length > 64) fault(at, `call_id ${id}`)
      if (open.has(id) || answered.has(id)) fault(at, `call_id ${id} twice`)
      if (!/^[a-zA-Z0-9_-]{1,64}$/u.test(string(item, 'name') ?? '')) fault(at, 'the name of a tool')
      if (type === 'function_call' && !isObject(parseJson(string(item, 'arguments') ?? '')))
        fault(at, 'arguments')
      if (type === 'custom_tool_call' && string(item, 'input') === undefined) fault(at, 'input')
      open.set(id, type)
    } else if (type === 'function_call_output' || type === 'custom_tool_call_output') {
      const id = string(item, 'call_id') ?? ''
      if (`${open.get(id) ?? ''}_output` !== type)
        fault(at, `No tool call found for ${type} with call_id ${id}`)
      open.delete(id)
      answered.add(id)
      const output = isObject(item) ? item['output'] : undefined
      if (typeof output !== 'string' && !Array.isArray(output)) fault(at, 'output')
      if (Array.isArray(output))
        for (const part of output) for (const what of partFaults(part)) fault(at, what)
    } else if (!ITEMS.has(type)) fault(at, `unknown item ${type}`)
  }
  for (const id of open.keys()) faults.push(`No tool output found for function call ${id}`)
  return faults
}

/** Items of its own that the interface is documented to take, beside those that are looked at here. */
const ITEMS: ReadonlySet<string> = new Set(
  (
    'web_search_call file_search_call computer_call computer_call_output image_generation_call ' +
    'code_interpreter_call local_shell_call local_shell_call_output shell_call shell_call_output apply_patch_call ' +
    'apply_patch_call_output tool_search_call tool_search_output mcp_list_tools mcp_approval_request ' +
    'mcp_approval_response mcp_call compaction item_reference'
  ).split(' '),
)

function isOutput(item: unknown): boolean {
  const type = string(item, 'type') ?? ''
  return (
    (type === 'message' && string(item, 'role') === 'assistant') ||
    type.endsWith('_call') ||
    type === 'reasoning'
  )
}

function messageFaults(item: unknown): readonly string[] {
  const role = string(item, 'role')
  const words = string(item, 'content')
  if (words !== undefined) return words === '' || role === undefined ? ['empty content'] : []
  const content = list(item, 'content')
  if (content.length === 0) return ['empty content']
  if (role === 'assistant' && string(item, 'id') === undefined) return ['an output without its id']
  if (role === 'assistant')
    return content.flatMap((part) => {
      const type = string(part, 'type')
      if (type === 'refusal') return (string(part, 'refusal') ?? '') === '' ? ['empty refusal'] : []
      if (type !== 'output_text') return [`${String(type)} in an answer`]
      return string(part, 'text') === '' ? ['empty text'] : []
    })
  const isTold = role === 'user' || role === 'developer' || role === 'system'
  return isTold ? content.flatMap(partFaults) : [`role ${String(role)}`]
}

function partFaults(part: unknown): readonly string[] {
  switch (string(part, 'type')) {
    case 'input_text':
      return (string(part, 'text') ?? '') === '' ? ['empty text'] : []
    case 'input_image':
      if (string(part, 'file_id') !== undefined) return []
      return /^(?:https?:|data:image\/(?:png|jpeg|gif|webp);base64,.)/u.test(string(part, 'image_url') ?? '')
        ? []
        : ['image_url']
    case 'input_file':
      return ['file_data', 'file_url', 'file_id'].every((key) => string(part, key) === undefined)
        ? ['a file']
        : []
    case 'input_audio':
      return []
    default:
      return [`part ${String(string(part, 'type'))}`]
  }
}

/** What Chat Completions refuses: calls and their answers in place, contents, parts it does not know. */
export function findChatFaults(messages: readonly unknown[]): readonly string[] {
  const faults: string[] = []
  const fault = (at: number, what: string): number => faults.push(`messages.${at}: ${what}`)
  let open: string[] = []
  for (const [at, message] of messages.entries()) {
    const role = string(message, 'role')
    if (role === 'tool') {
      const id = string(message, 'tool_call_id') ?? ''
      if (!open.includes(id)) fault(at, `tool_call_id ${id} answers no call`)
      open = open.filter((each) => each !== id)
      if (string(message, 'content') === undefined) fault(at, 'the content of a result is no text')
      continue
    }
    if (open.length > 0) fault(at, `calls without answers: ${open.join()}`)
    open = []
    if (role === 'assistant') {
      const calls = list(message, 'tool_calls')
      // It has to be there; an empty one is taken, and some clients send it for an answer that was cut off.
      const words = string(message, 'content') ?? string(message, 'refusal')
      if (words === undefined && calls.length === 0) fault(at, 'an answer without content')
      for (const call of calls) {
        const id = string(call, 'id') ?? ''
        const isCustom = string(call, 'type') === 'custom'
        const made = isObject(call) ? call[isCustom ? 'custom' : 'function'] : undefined
        if (id === '' || id.length > 64 || open.includes(id)) fault(at, `id ${id}`)
        if (!/^[a-zA-Z0-9_-]{1,64}$/u.test(string(made, 'name') ?? '')) fault(at, 'the name of a tool')
        if (
          isCustom
            ? string(made, 'input') === undefined
            : !isObject(parseJson(string(made, 'arguments') ?? ''))
        )
          fault(at, 'arguments')
        open.push(id)
      }
    } else if (role === 'user' || role === 'developer' || role === 'system') {
      const content = isObject(message) ? message['content'] : undefined
      if (typeof content === 'string' ? content === '' : list(message, 'content').length === 0)
        fault(at, 'empty content')
      for (const part of list(message, 'content')) {
        const type = string(part, 'type')
        if (type !== 'text' && type !== 'image_url' && type !== 'file' && type !== 'input_audio')
          fault(at, `part ${String(type)}`)
        if (type === 'text' && string(part, 'text') === '') fault(at, 'empty text')
      }
    } else fault(at, `role ${String(role)}`)
  }
  if (open.length > 0) faults.push(`calls without answers: ${open.join()}`)
  return faults
}
