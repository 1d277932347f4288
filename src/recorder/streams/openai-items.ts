import { isObject, list, object, string, type JsonObject } from '#base'
import { beside, readArguments, toSource, toText, without } from './content-blocks.ts'

/**
 * What OpenAI has in its items and parts, in the one form of recordings. What an item has beyond that stands beside it
 * under `openai`, so that the item can be made again; an item of a kind that has no counterpart is kept as it is.
 */
export function fromItem(item: JsonObject): readonly JsonObject[] {
  const type = string(item, 'type') ?? 'message'
  if (type === 'message') return fromMessageItem(item)
  if (type === 'reasoning') return [fromReasoning(item)]
  if (string(item, 'call_id') === undefined || !type.endsWith('_call') || isOnServer(item)) return [item]
  return [fromCall(item, type)]
}

/** Whether an item is what a call of the client gave. */
export function isOutputItem(item: JsonObject): boolean {
  const type = string(item, 'type') ?? ''
  if (string(item, 'call_id') === undefined || isOnServer(item)) return false
  return type.endsWith('_call_output') || type === 'tool_search_output'
}

/** The result that such an item is. */
export function fromOutputItem(item: JsonObject): JsonObject {
  const type = string(item, 'type') ?? ''
  const output = item['output']
  const carried = output === undefined ? ['call_id', 'tools'] : ['call_id', 'output']
  const rest = without(item, type === 'function_call_output' ? [...carried, 'type'] : carried)
  return {
    type: 'tool_result',
    tool_use_id: string(item, 'call_id') ?? '',
    content: toResultContent(output ?? item['tools']),
    ...(string(item, 'status') === 'failed' ? { is_error: true } : {}),
    ...beside('openai', rest),
  }
}

/** Parts of a message, each as its block. */
export function fromParts(parts: readonly unknown[]): readonly JsonObject[] {
  return parts.map(fromPart).filter((block) => block !== undefined)
}

/** A part of a message: words, a picture, a file. A part of another kind is kept as it is. */
function fromPart(part: unknown): JsonObject | undefined {
  if (typeof part === 'string') return { type: 'text', text: part }
  if (!isObject(part)) return undefined
  const type = string(part, 'type') ?? ''
  const text = string(part, 'text')
  if (TEXTS.has(type) && text !== undefined) return { type: 'text', text, ...besidePart(part, 'text') }
  const refusal = string(part, 'refusal')
  if (type === 'refusal' && refusal !== undefined)
    return { type: 'text', text: refusal, ...besidePart(part, 'refusal') }
  const image = string(part, 'image_url') ?? string(object(part, 'image_url'), 'url')
  if (image !== undefined) return { type: 'image', source: toSource(image), ...besideImage(part) }
  const file = object(part, 'file') ?? part
  const fileUrl = string(file, 'file_data') ?? string(file, 'file_url')
  if ((type === 'input_file' || type === 'file') && fileUrl !== undefined)
    return {
      type: 'document',
      source: toSource(fileUrl),
      ...(string(file, 'filename') === undefined ? {} : { title: string(file, 'filename') }),
      ...beside('openai', { part: without(file, ['file_data', 'filename', 'file_url']) }),
    }
  return part
}

const TEXTS: ReadonlySet<string> = new Set(['input_text', 'output_text', 'text', 'summary_text'])

function besidePart(part: JsonObject, carried: string): JsonObject {
  const rest = without(part, [carried, 'prompt_cache_breakpoint'])
  const isPlain = Object.keys(rest).length === 1 && TEXTS.has(string(rest, 'type') ?? '')
  return isPlain ? {} : beside('openai', { part: rest })
}

function besideImage(part: JsonObject): JsonObject {
  const detail = string(part, 'detail') ?? string(object(part, 'image_url'), 'detail')
  return detail === undefined || detail === 'auto' ? {} : beside('openai', { part: { detail } })
}

function fromMessageItem(item: JsonObject): readonly JsonObject[] {
  const { content } = item
  const rest = without(item, ['content', 'role'])
  const isPlain = Object.keys(rest).every((key) => key === 'type')
  const parts: readonly unknown[] = typeof content === 'string' ? [content] : list(item, 'content')
  return parts.flatMap((part) => {
    const block = fromPart(part)
    if (block === undefined) return []
    if (isPlain) return [block]
    return [{ ...block, openai: { type: 'message', ...rest, ...object(block, 'openai') } }]
  })
}

function fromReasoning(item: JsonObject): JsonObject {
  const texts = (key: string): readonly string[] =>
    list(item, key).flatMap((part) => string(part, 'text') ?? [])
  const summary = texts('summary')
  const thinking = summary.length > 0 ? summary.join('\n\n') : texts('content').join('\n\n')
  return {
    type: 'thinking',
    thinking,
    openai: without(item, isCarried(list(item, 'summary'), thinking) ? ['summary'] : []),
  }
}

/** Whether a summary can be made again from the thought alone. */
function isCarried(summary: readonly unknown[], thinking: string): boolean {
  if (summary.length === 0) return thinking === ''
  const [only] = summary
  return (
    summary.length === 1 &&
    thinking !== '' &&
    isObject(only) &&
    Object.keys(only).length === 2 &&
    only['type'] === 'summary_text'
  )
}

function fromCall(item: JsonObject, type: string): JsonObject {
  const { input, name, carried } = toCallInput(item, type)
  return {
    type: 'tool_use',
    id: string(item, 'call_id') ?? '',
    name,
    input,
    openai: without(item, ['call_id', 'name', ...carried]),
  }
}

interface CallInput {
  readonly name: string
  readonly input: unknown
  /** The fields of the item that are in the input. */
  readonly carried: readonly string[]
}

function toCallInput(item: JsonObject, type: string): CallInput {
  const name = string(item, 'name') ?? type.replace(/_call$/u, '')
  const args = string(item, 'arguments')
  if (args !== undefined) {
    const { input, raw } = readArguments(args)
    return { name, input, carried: raw === undefined ? ['arguments'] : [] }
  }
  if (typeof item['input'] === 'string') return { name, input: { input: item['input'] }, carried: ['input'] }
  for (const key of ['action', 'operation', 'arguments']) {
    const found = object(item, key)
    if (found) return { name, input: found, carried: [key] }
  }
  return { name, input: {}, carried: [] }
}

/** What the provider runs itself: no result of the client belongs to it. */
function isOnServer(item: JsonObject): boolean {
  return string(item, 'execution') === 'server'
}

function toResultContent(output: unknown): unknown {
  if (typeof output === 'string') return output
  if (output === undefined) return ''
  const parts: readonly unknown[] = Array.isArray(output) ? output : [output]
  const blocks = fromParts(parts)
  // Whatever has no form as a block is words, as any tool's output is.
  return blocks.every((block) => BLOCKS.has(string(block, 'type') ?? '')) ? blocks : toText(output)
}

const BLOCKS: ReadonlySet<string> = new Set(['text', 'image', 'document'])
