import { field, string } from '#base'
import type { Block, MediaSource } from '#model'

/**
 * Reads the blocks of a prompt in our own form: text, images, documents. `undefined` when one of them is anything
 * else, or there is none: half of a prompt is another prompt.
 */
export function readPromptBlocks(value: unknown): readonly Block[] | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined
  const blocks: Block[] = []
  for (const item of value) {
    const block = readBlock(item)
    if (!block) return undefined
    blocks.push(block)
  }
  return blocks
}

function readBlock(value: unknown): Block | undefined {
  const source = readMedia(field(value, 'source'))
  switch (string(value, 'kind')) {
    case 'text': {
      const text = string(value, 'text')
      return text === undefined ? undefined : { kind: 'text', text }
    }
    case 'image':
      return source && { kind: 'image', source }
    case 'document': {
      const title = string(value, 'title')
      return source && { kind: 'document', source, ...(title === undefined ? {} : { title }) }
    }
    default:
      return undefined
  }
}

function readMedia(value: unknown): MediaSource | undefined {
  const mediaType = string(value, 'mediaType')
  switch (string(value, 'kind')) {
    case 'base64': {
      const data = string(value, 'data')
      return data === undefined || mediaType === undefined ? undefined : { kind: 'base64', mediaType, data }
    }
    case 'url': {
      const url = string(value, 'url')
      return url === undefined ? undefined : { kind: 'url', url }
    }
    case 'text': {
      const text = string(value, 'text')
      return text === undefined || mediaType === undefined ? undefined : { kind: 'text', mediaType, text }
    }
    default:
      return undefined
  }
}
