import type { JsonObject } from '#base'
import type { Block, MediaSource } from './block.ts'
import type { Usage } from './usage.ts'

/** A block as Anthropic's Messages API writes it: what is read from it is the block again. */
export function toContent(block: Block): unknown {
  switch (block.kind) {
    case 'text':
      return { type: 'text', text: block.text, ...block.extra }
    case 'thinking':
      return {
        type: 'thinking',
        thinking: block.thinking,
        ...(block.signature === undefined ? {} : { signature: block.signature }),
        ...block.extra,
      }
    case 'redacted-thinking':
      return { type: 'redacted_thinking', data: block.data, ...block.extra }
    case 'tool-use':
      return { type: 'tool_use', id: block.id, name: block.name, input: block.input, ...block.extra }
    case 'tool-result':
      return {
        type: 'tool_result',
        tool_use_id: block.toolUseId,
        content: block.content.map(toContent),
        is_error: block.isError,
        ...block.extra,
      }
    case 'image':
      return { type: 'image', source: toSource(block.source), ...block.extra }
    case 'document':
      return {
        type: 'document',
        source: toSource(block.source),
        ...(block.title === undefined ? {} : { title: block.title }),
        ...block.extra,
      }
    case 'unknown':
      return block.value
  }
}

function toSource(source: MediaSource): unknown {
  switch (source.kind) {
    case 'base64':
      return { type: 'base64', media_type: source.mediaType, data: source.data }
    case 'url':
      return { type: 'url', url: source.url }
    case 'text':
      return { type: 'text', media_type: source.mediaType, data: source.text }
    case 'unknown':
      return source.value
  }
}

/** Figures in the fields of Anthropic. */
export function toUsageFields(usage: Usage): JsonObject {
  return {
    input_tokens: usage.input,
    output_tokens: usage.output,
    cache_read_input_tokens: usage.cacheRead,
    cache_creation_input_tokens: usage.cacheCreation,
  }
}
