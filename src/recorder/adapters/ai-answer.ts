import { field, isObject, number, object, string, type JsonObject } from '#base'
import type { Answer } from '../streams/answer.ts'
import type { Provider } from '../turn.ts'
import { toBlocks } from './ai-prompt.ts'

/** Whose model answers, by what the AI SDK calls its provider: `anthropic.messages`, `google.generative-ai`. */
export function toProvider(name: string): Provider {
  if (/anthropic|claude/i.test(name)) return 'anthropic'
  return /google|gemini|vertex/i.test(name) ? 'gemini' : 'openai'
}

/** The answer of a model that was not streamed, as the AI SDK has it. */
export function toAnswer(result: unknown, provider: Provider): Answer {
  const response = object(result, 'response')
  const requestId = findHeader(object(response, 'headers'))
  const finish = field(result, 'finishReason')
  return {
    provider,
    requestId,
    outcome: finish === undefined ? 'cut' : 'whole',
    message: {
      id: string(response, 'id'),
      model: string(response, 'modelId'),
      content: toBlocks(result),
      stop_reason: toStopReason(finish),
      usage: toUsage(field(result, 'usage')),
    },
  }
}

function findHeader(headers: JsonObject | undefined): string | undefined {
  return string(headers, 'request-id') ?? string(headers, 'x-request-id')
}

const REASONS: Readonly<Record<string, string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  'tool-calls': 'tool_use',
  'content-filter': 'refusal',
}

function toStopReason(finish: unknown): string | undefined {
  if (typeof finish === 'string') return REASONS[finish] ?? finish
  return string(finish, 'raw') ?? REASONS[string(finish, 'unified') ?? ''] ?? string(finish, 'unified')
}

/** In the fields of Anthropic. What the provider itself said is kept beside. */
function toUsage(usage: unknown): JsonObject | undefined {
  if (!isObject(usage)) return undefined
  const input = field(usage, 'inputTokens')
  const output = field(usage, 'outputTokens')
  const raw = object(usage, 'raw')
  const cacheRead = number(input, 'cacheRead') ?? number(usage, 'cachedInputTokens') ?? 0
  const cacheWrite = number(input, 'cacheWrite') ?? 0
  const total = typeof input === 'number' ? input : number(input, 'total')
  if (total === undefined && number(input, 'noCache') === undefined) return undefined
  return {
    // Anthropic's own has more than these: what the cache was written for, which tier it was.
    ...(typeof raw?.['input_tokens'] === 'number' && 'cache_read_input_tokens' in raw
      ? raw
      : raw === undefined
        ? {}
        : { ai: raw }),
    input_tokens: number(input, 'noCache') ?? Math.max(0, (total ?? 0) - cacheRead - cacheWrite),
    output_tokens: typeof output === 'number' ? output : (number(output, 'total') ?? 0),
    cache_read_input_tokens: cacheRead,
    cache_creation_input_tokens: cacheWrite,
  }
}

/** Puts an answer together from the parts of a stream. */
export interface PartFold {
  add(part: unknown): void
  /** What was heard up to now, as if it had come whole. */
  result(): JsonObject
}

export function createPartFold(): PartFold {
  const content: JsonObject[] = []
  const open = new Map<string, { readonly at: number; text: string }>()
  const response: Record<string, unknown> = {}
  const end: Record<string, unknown> = {}

  function openPart(type: 'text' | 'reasoning', part: JsonObject): void {
    open.set(keyOf(type, part), { at: content.length, text: '' })
    content.push({ type, text: '', ...metadata(part) })
  }

  function grow(type: 'text' | 'reasoning', part: JsonObject): void {
    const held = open.get(keyOf(type, part))
    if (held === undefined) return
    held.text += string(part, 'delta') ?? ''
    content[held.at] = { ...content[held.at], text: held.text, ...metadata(part) }
  }

  return {
    add(part) {
      if (!isObject(part)) return
      const type = string(part, 'type') ?? ''
      const [, kind, step] = /^(text|reasoning)-(start|delta|end)$/.exec(type) ?? []
      if (kind === 'text' || kind === 'reasoning') {
        if (step === 'start') openPart(kind, part)
        else grow(kind, part)
      } else if (/^(?:tool-call|tool-result|file|source|tool-approval-request)$/.test(type))
        content.push(part)
      else if (type === 'response-metadata') Object.assign(response, part)
      else if (type === 'finish')
        Object.assign(end, { usage: part['usage'], finishReason: part['finishReason'] })
    },
    result: () => ({ content, response, ...end }),
  }
}

function keyOf(type: string, part: JsonObject): string {
  return `${type} ${string(part, 'id') ?? ''}`
}

/** A signature comes with the last delta, or with the end. */
function metadata(part: JsonObject): JsonObject {
  return part['providerMetadata'] === undefined ? {} : { providerMetadata: part['providerMetadata'] }
}
