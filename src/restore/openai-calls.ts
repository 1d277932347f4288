import { isObject, parseJson, string, type JsonObject } from '#base'
import type { ToolResultBlock, ToolUseBlock } from '#model'
import { toFittingName } from './call-ids.ts'
import type { LossBook } from './loss.ts'
import { OPENAI_RULES as RULES } from './openai-rules.ts'
import { toImageUrl, toInputParts, without } from './openai-parts.ts'
import { ownOf, type SaidBlock } from './said.ts'
import { noteErrorMark, writeCall, writeSound } from './writing.ts'

export interface ItemWriting {
  readonly book: LossBook
  /** What kind of item each call is: its result is of the kind that belongs to it. */
  readonly types: Map<string, { readonly type: string; readonly isOwn: boolean }>
}

/** Where the items of OpenAI's own tools have what the tool is given. */
const INPUTS: Readonly<Record<string, string>> = {
  local_shell_call: 'action',
  shell_call: 'action',
  computer_call: 'action',
  apply_patch_call: 'operation',
  tool_search_call: 'arguments',
}

/** A call as an item of the Responses API. One that OpenAI made is what it was. */
export function toCallItem(
  said: SaidBlock,
  block: ToolUseBlock,
  {
    book,
    types,
    own,
    isOwn,
  }: ItemWriting & { readonly own: JsonObject | undefined; readonly isOwn: boolean },
): object {
  const { id: call_id, name, input } = writeCall(said, block, { rules: RULES, book })
  const type = typeOf(own, input)
  types.set(block.id, { type, isOwn })
  if (type === 'custom_tool_call') {
    const text = string(own, 'input') ?? (typeof input === 'string' ? input : (string(input, 'input') ?? ''))
    return { ...without(own ?? {}, ['type']), type, call_id, name, input: text }
  }
  if (type !== 'function_call') {
    const key = INPUTS[type] ?? 'action'
    const isNamed = name !== type.replace(/_call$/u, '')
    return {
      ...own,
      type,
      call_id,
      [key]: own?.[key] ?? input,
      ...(isNamed && !(key in (own ?? {})) ? { name } : {}),
    }
  }
  const rest = string(own, 'type') === type ? without(own ?? {}, ['type']) : {}
  const args = string(own, 'arguments') ?? toArguments(input)
  return { ...rest, type, call_id, name, arguments: args }
}

function typeOf(own: JsonObject | undefined, input: unknown): string {
  const type = string(own, 'type')
  // Chat Completions has a shorter name for it.
  if (type === 'custom' || (type === undefined && typeof input === 'string')) return 'custom_tool_call'
  return type === undefined || type === 'function' ? 'function_call' : type
}

/** Arguments are the text of an object. */
function toArguments(input: unknown): string {
  return JSON.stringify(isObject(input) ? input : { input: input ?? null })
}

/** What a call gave, as an item of the Responses API. */
export function toOutputItem(said: SaidBlock, block: ToolResultBlock, { book, types }: ItemWriting): object {
  const own = ownOf(said, 'openai')
  const call = types.get(block.toolUseId) ?? { type: 'function_call', isOwn: false }
  const type = call.type === 'tool_search_call' ? 'tool_search_output' : `${call.type}_output`
  const call_id = toFittingName(block.toolUseId, RULES.id)
  if (block.isError && own === undefined) noteErrorMark(said, book)
  const key = type === 'tool_search_output' ? 'tools' : 'output'
  const isSame = (string(own, 'type') ?? 'function_call_output') === type
  const rest = isSame ? without(own ?? {}, ['type', 'role']) : {}
  return { ...rest, type, call_id, [key]: rest[key] ?? toOutput(said, block, { ...call, book, type }) }
}

function toOutput(
  said: SaidBlock,
  block: ToolResultBlock,
  { book, type, isOwn }: { readonly book: LossBook; readonly type: string; readonly isOwn: boolean },
): unknown {
  const inner = block.content.map((each): SaidBlock => ({
    block: each,
    exact: undefined,
    origin: said.origin,
  }))
  const texts = block.content.flatMap((each) => (each.kind === 'text' ? [each.text] : []))
  const isText = texts.length === block.content.length
  const words = isText ? writeSound(said, texts.join('\n\n'), book) : texts.join('\n\n')
  if (type === 'computer_call_output') {
    const image_url = inner.map(toImageUrl).find((url) => url !== undefined)
    if (image_url !== undefined) return { type: 'computer_screenshot', image_url }
  }
  if (type === 'shell_call_output' || type === 'tool_search_output') {
    const parsed = parseJson(words)
    if (Array.isArray(parsed)) return parsed
  }
  return isText && !isParts(said, inner.length, isOwn)
    ? words
    : inner.flatMap((each) => toInputParts(each, book))
}

/** Others write every text as a part; in an item of OpenAI's it was one, unless a text stood there in its place. */
function isParts(said: SaidBlock, count: number, isOwn: boolean): boolean {
  if (!isOwn || count === 0) return false
  if (count === 1 && string(ownOf(said, 'openai'), 'type') !== undefined) return false
  return Array.isArray(isObject(said.exact) ? said.exact['content'] : undefined)
}
