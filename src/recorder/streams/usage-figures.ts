import { isObject, number, object, type JsonObject } from '#base'

/** Puts figures of the same message together: the later ones win, and none is lost for one that says nothing. */
export function mergeUsage(earlier: JsonObject, later: JsonObject): JsonObject {
  const merged: Record<string, unknown> = { ...earlier }
  for (const [key, value] of Object.entries(later)) {
    if (value === null || value === undefined) {
      if (!(key in merged)) merged[key] = value
      continue
    }
    const before = merged[key]
    merged[key] = isObject(before) && isObject(value) ? mergeUsage(before, value) : value
  }
  return merged
}

/**
 * The figures of OpenAI in the fields of Anthropic. Its input includes what was read from the cache and written to
 * it; Anthropic's does not. Its own figures are kept beside.
 */
export function fromOpenaiUsage(usage: JsonObject): JsonObject {
  const details = object(usage, 'input_tokens_details') ?? object(usage, 'prompt_tokens_details')
  return toUsage({
    input: number(usage, 'input_tokens') ?? number(usage, 'prompt_tokens') ?? 0,
    output: number(usage, 'output_tokens') ?? number(usage, 'completion_tokens') ?? 0,
    read: number(details, 'cached_tokens') ?? 0,
    written: number(details, 'cache_write_tokens') ?? 0,
    beside: { openai: usage },
  })
}

/** The figures of Gemini in the fields of Anthropic: its thoughts are output, what it cached is part of the prompt. */
export function fromGeminiUsage(usage: JsonObject): JsonObject {
  return toUsage({
    input: (number(usage, 'promptTokenCount') ?? 0) + (number(usage, 'toolUsePromptTokenCount') ?? 0),
    output: (number(usage, 'candidatesTokenCount') ?? 0) + (number(usage, 'thoughtsTokenCount') ?? 0),
    read: number(usage, 'cachedContentTokenCount') ?? 0,
    written: 0,
    beside: { gemini: usage },
  })
}

interface Figures {
  readonly input: number
  readonly output: number
  readonly read: number
  readonly written: number
  readonly beside: JsonObject
}

function toUsage({ input, output, read, written, beside }: Figures): JsonObject {
  return {
    input_tokens: Math.max(0, input - read - written),
    output_tokens: output,
    cache_creation_input_tokens: written,
    cache_read_input_tokens: read,
    ...beside,
  }
}
