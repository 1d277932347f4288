import { field, isObject, list, object, string, type JsonObject } from '#base'
import type { Block } from '#model'

/** A tool call, as far as the agent has told of it. Agents tell it in parts, and some begin with the question. */
export interface ToolCall {
  readonly id: string
  /** The tool's own name where the agent gives it, else what kind of thing it does. */
  readonly name: string
  /** What kind of thing it does, in the protocol's words. */
  readonly kind: string | undefined
  readonly title: string | undefined
  readonly status: string | undefined
  readonly input: unknown
  readonly output: unknown
  /** What stands in the agent's own terminal, as far as it is told; the last of it. */
  readonly printed: string
  readonly content: readonly unknown[]
  readonly locations: readonly unknown[]
}

/** Puts what was told before together with what is told now; what is not told stays as it was. */
export function toToolCall(value: unknown, before?: ToolCall, tool?: string): ToolCall {
  const kind = string(value, 'kind')
  return {
    id: string(value, 'toolCallId') ?? before?.id ?? '',
    name:
      string(value, 'name') ?? (before && before.name !== 'tool' ? before.name : (tool ?? kind)) ?? 'tool',
    kind: kind ?? before?.kind,
    title: string(value, 'title') ?? before?.title,
    status: string(value, 'status') ?? before?.status,
    input: field(value, 'rawInput') ?? before?.input,
    output: field(value, 'rawOutput') ?? before?.output,
    printed: `${before?.printed ?? ''}${readPrinted(value)}`.slice(-KEPT_PRINTED),
    content: Array.isArray(field(value, 'content')) ? list(value, 'content') : (before?.content ?? []),
    locations: Array.isArray(field(value, 'locations'))
      ? list(value, 'locations')
      : (before?.locations ?? []),
  }
}

const KEPT_PRINTED = 200_000

/** Agents have agreed on this beside the protocol. */
function readPrinted(value: unknown): string {
  const meta = object(value, '_meta')
  return string(object(meta, 'terminal_output_delta') ?? object(meta, 'terminal_output'), 'data') ?? ''
}

/** Everything that is known of what would run: the input, or else the places that are named; the changes; words. */
export function toInput({ kind, title, status, input, content, locations }: ToolCall): JsonObject {
  // Where a command has no other place its title is the whole of it.
  const named = kind === 'execute' ? { command: title } : { title, locations }
  const changes = content.filter((value) => string(value, 'type') === 'diff')
  const isOver = status === 'completed' || status === 'failed'
  const words = isOver ? [] : content.flatMap((value) => string(field(value, 'content'), 'text') ?? [])
  return {
    ...(isObject(input) ? input : input === undefined ? named : { input }),
    ...(changes.length > 0 ? { changes } : {}),
    ...(words.length > 0 ? { words } : {}),
  }
}

/** What a call gave back. */
export function toResult({ content, output, printed }: ToolCall): readonly Block[] {
  const blocks = content.flatMap((value) => toBlocks(value))
  if (printed !== '') return [...blocks, { kind: 'text', text: printed }]
  if (blocks.length > 0 || output === undefined) return blocks
  if (typeof output === 'string') return [{ kind: 'text', text: output }]
  const text = ['formatted_output', 'output', 'stdout'].map((key) => string(output, key)).find(isThere)
  return [{ kind: 'text', text: text ?? JSON.stringify(output) }]
}

function isThere(text: string | undefined): text is string {
  return text !== undefined
}

function toBlocks(value: unknown): readonly Block[] {
  switch (string(value, 'type')) {
    case 'content':
      return [readContent(field(value, 'content'))]
    // The terminal is the agent's own: what stands in it is told elsewhere, or not at all.
    case 'terminal':
      return []
    default:
      return [{ kind: 'unknown', value }]
  }
}

/** Reads a block of the protocol. Never throws, never drops. */
export function readContent(value: unknown): Block {
  const text = string(value, 'text')
  const data = string(value, 'data')
  const mediaType = string(value, 'mimeType')
  switch (string(value, 'type')) {
    case 'text':
      return text === undefined ? { kind: 'unknown', value } : { kind: 'text', text }
    case 'image':
      if (data === undefined || mediaType === undefined) return { kind: 'unknown', value }
      return { kind: 'image', source: { kind: 'base64', mediaType, data } }
    default:
      return { kind: 'unknown', value: isObject(value) ? value : { value } }
  }
}
