import { field, isObject, list, parseJson, string } from '#base'

/**
 * What stands in a record of an agent and is of a person or a model. It is read from the bytes of the agent alone, with
 * none of the code that reads them in the product.
 */

/** Words of a person or a model, each line for itself. */
export function* wordsOf(line: unknown): Generator<string> {
  const type = string(line, 'type')
  if (type === 'user' || type === 'assistant') {
    const message = field(line, 'message')
    // Neither is said by anybody: what the client adds for the model, and what it puts in the place of an answer.
    if (field(line, 'isMeta') === true || string(message, 'model') === '<synthetic>') return
    yield* contentOf(field(message, 'content'))
    yield* geminiOf(line)
  } else if (type === 'attachment' && string(field(line, 'attachment'), 'type') === 'queued_command') {
    if (field(field(line, 'attachment'), 'isMeta') !== true)
      yield* contentOf(field(field(line, 'attachment'), 'prompt'))
  } else if (type === 'progress') yield* wordsOf(field(field(line, 'data'), 'message'))
  else if (type === 'queue-operation' && string(line, 'operation') === 'enqueue')
    yield* queuedOf(string(line, 'content') ?? '')
  else if (type === 'response_item') yield* itemOf(field(line, 'payload'))
  else if (type === 'gemini') yield* geminiOf(line)
  else if (type === 'opencode') yield* partOf(line)
  // Gemini CLI: a whole conversation that takes the place of the one before.
  for (const message of list(field(line, '$set'), 'messages')) yield* wordsOf(message)
}

/** Reports of background tasks, and notes of the client, go through the same queue. */
function* queuedOf(content: string): Generator<string> {
  if (!content.startsWith('{"task_id":')) yield content
}

/** What clients put around a command that was typed, and what they say for a person who pressed a key. */
const MARKS =
  /<\/?(?:command-(?:name|message|args)|local-command-std(?:out|err)|bash-(?:input|stdout|stderr))>/gu
const STOPPED = /^\[Request interrupted by user[^\]]*\]$/u

function* contentOf(content: unknown): Generator<string> {
  if (typeof content === 'string') yield content.replaceAll(MARKS, '').replace(STOPPED, '')
  if (!Array.isArray(content)) return
  for (const block of content) {
    yield (string(block, 'text') ?? '').replace(STOPPED, '')
    yield string(block, 'thinking') ?? ''
    if (string(block, 'type') === 'tool_use') yield* stringsIn(field(block, 'input'))
    if (string(block, 'type') === 'tool_result') yield* contentOf(field(block, 'content'))
  }
}

/** Codex: what was said, thought, called and answered. */
function* itemOf(item: unknown): Generator<string> {
  switch (string(item, 'type') ?? '') {
    case 'message':
      if (string(item, 'role') === 'assistant') yield* contentOf(field(item, 'content'))
      return
    case 'reasoning':
      yield* contentOf(field(item, 'summary'))
      return
    case 'function_call':
      yield* stringsIn(parseJson(string(item, 'arguments') ?? ''))
      return
    case 'custom_tool_call':
      yield string(item, 'input') ?? ''
      return
    case 'custom_tool_call_output':
    case 'function_call_output':
      yield* contentOf(field(item, 'output'))
  }
}

export function* stringsIn(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value
  else if (Array.isArray(value)) for (const inner of value) yield* stringsIn(inner)
  else if (isObject(value)) for (const inner of Object.values(value)) yield* stringsIn(inner)
}

/** Gemini CLI: text, thoughts, calls and their results. What it puts before the first prompt is its own. */
function* geminiOf(message: unknown): Generator<string> {
  const content = field(message, 'content')
  if (typeof content === 'string') yield content
  for (const part of list(message, 'content')) {
    const text = string(part, 'text') ?? ''
    if (!/^<(?:session|hook)_context>/u.test(text)) yield text
    yield* stringsIn(field(field(part, 'functionCall'), 'args'))
    yield* stringsIn(field(field(part, 'functionResponse'), 'response'))
  }
  for (const thought of list(message, 'thoughts'))
    yield* stringsIn([field(thought, 'subject'), field(thought, 'description')])
  for (const call of list(message, 'toolCalls')) {
    yield* stringsIn(field(call, 'args'))
    for (const part of list(call, 'result'))
      yield* stringsIn(field(field(part, 'functionResponse'), 'response'))
  }
}

/** opencode: a row of `part`, with its data read. */
function* partOf(row: unknown): Generator<string> {
  const data = field(row, 'data')
  if (field(data, 'synthetic') === true) return
  yield string(data, 'text') ?? ''
  const state = field(data, 'state')
  yield* stringsIn(field(state, 'input'))
  yield string(state, 'output') ?? string(state, 'error') ?? ''
}
