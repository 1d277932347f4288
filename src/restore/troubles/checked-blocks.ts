import type { Block, Entry, RedactedThinkingBlock, ThinkingBlock } from '#model'

/** The blocks of an entry that are sent to a provider. */
export function blocksOf(entry: Entry): readonly Block[] {
  switch (entry.kind) {
    case 'reply':
      return entry.synthetic ? [] : entry.blocks
    case 'prompt':
    case 'result':
    case 'injection':
    case 'summary':
      return entry.blocks
    case 'command':
    case 'interruption':
    case 'compaction':
    case 'context':
    case 'notice':
    case 'record':
    case 'delegated':
    case 'oversize':
    case 'unknown':
      return []
  }
}

export function isThought(block: Block): block is ThinkingBlock | RedactedThinkingBlock {
  return block.kind === 'thinking' || block.kind === 'redacted-thinking'
}
