import type { Block } from '#model'
import { describeBlock, safeLine } from '#render'

/** A block that is no text, in words, as a sentence begins. */
export function describeThing(block: Block): string {
  if (block.kind === 'unknown') return describeUnknown(block.value)
  const words = describeBlock(block)
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** Blocks nobody knows mostly say themselves what they are. */
function describeUnknown(value: unknown): string {
  const name = typeof value === 'object' && value !== null && 'type' in value ? value.type : undefined
  return typeof name === 'string'
    ? `A block of type ${safeLine(name.slice(0, 80))}`
    : 'A block of a kind nobody knows yet'
}
