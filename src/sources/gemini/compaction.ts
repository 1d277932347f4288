import { string } from '#base'
import { isContextOnly, partsOf, textOfParts } from './blocks.ts'
import type { GeminiMessage } from './operations.ts'
import type { Saying, Thread } from './thread.ts'

/**
 * The message that stands for all before it, when a list of messages is that of a compaction. Gemini CLI says nothing
 * of one: the conversation is another one, begins with a summary, and the model thanks for it.
 */
export function findSummary(messages: readonly GeminiMessage[], thread: Thread): GeminiMessage | undefined {
  const [first, second] = messages.filter((message) => !isContextOnly(message))
  if (first === undefined || thread.hasTold(first.id)) return undefined
  if (string(first.fields, 'type') !== 'user') return undefined
  const answer = second === undefined ? '' : textOfParts(partsOf(second))
  const isThanked = answer.startsWith('Got it. Thanks for the additional context!')
  return isThanked || textOfParts(partsOf(first)).includes('<state_snapshot>') ? first : undefined
}

/** The line that ends what came before. `end`: the last line of it. */
export function toCompaction(summary: GeminiMessage, end: string): Saying {
  return {
    type: 'system',
    more: {
      subtype: 'compact_boundary',
      logicalParentUuid: end,
      content: 'The conversation was compacted',
      level: 'info',
      compactMetadata: { trigger: 'unknown' },
    },
    timestamp: string(summary.fields, 'timestamp'),
  }
}
