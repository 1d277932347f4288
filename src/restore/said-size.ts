import type { Block } from '#model'
import type { Said } from './said.ts'

/** What a picture costs depends on its size; this is what one of a screen's size does. */
const IMAGE = 1_600
/** Of texts longer than this it does not matter whether they are counted exactly. */
const LONG = 400_000

/** About how many tokens messages take. */
export function countSaid({ messages }: Said, countTokens: (text: string) => number): number {
  const count = (text: string): number =>
    text.length > LONG ? Math.ceil(text.length / 4) : countTokens(text)
  const countBlock = (block: Block): number => {
    switch (block.kind) {
      case 'text':
        return count(block.text)
      case 'thinking':
        return count(block.thinking)
      case 'image':
        return IMAGE
      case 'document':
        return block.source.kind === 'text' ? count(block.source.text) : IMAGE
      case 'tool-result':
        return block.content.reduce((sum, inner) => sum + countBlock(inner), 10)
      case 'tool-use':
        return count(`${block.name} ${JSON.stringify(block.input) ?? ''}`)
      case 'redacted-thinking':
      case 'unknown':
        return count(JSON.stringify(block))
    }
  }
  return messages.reduce(
    (sum, { blocks }) => sum + blocks.reduce((inner, { block }) => inner + countBlock(block), 0),
    0,
  )
}
