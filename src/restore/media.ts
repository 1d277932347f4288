import type { Block, MediaSource } from '#model'

/** Pictures that every provider takes. */
export const IMAGE_TYPES: ReadonlySet<string> = new Set([
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp',
])

/** What stands for a picture or a document that a request cannot carry, for the model. */
export function toPlaceholder(block: Block & { readonly kind: 'image' | 'document' }): string {
  const what = block.kind === 'image' ? 'An image' : `A document${nameOf(block)}`
  return `[${what} stood here: ${toDescription(block.source)}. It could not be carried over.]`
}

function nameOf(block: Block): string {
  return block.kind === 'document' && block.title !== undefined ? ` (${block.title})` : ''
}

/** What is known of a picture or document without showing it. */
export function toDescription(source: MediaSource): string {
  switch (source.kind) {
    case 'base64':
      return `${source.mediaType === '' ? 'unknown type' : source.mediaType}, ${base64Bytes(source.data)} bytes`
    case 'url':
      return source.url
    case 'text':
      return `${source.mediaType}, ${source.text.length} characters`
    case 'unknown':
      return 'in a form that is not known'
  }
}

/** The words of a document that is a text, however it is kept; nothing for any other. */
export function wordsOfDocument(source: MediaSource): string | undefined {
  if (source.kind === 'text') return source.text === '' ? undefined : source.text
  if (source.kind !== 'base64' || !/^(?:text\/|application\/json$)/u.test(source.mediaType)) return undefined
  const text = Buffer.from(source.data, 'base64').toString('utf8')
  return text === '' ? undefined : text
}

/** How many bytes a base64 text stands for. */
export function base64Bytes(data: string): number {
  const padding = data.endsWith('==') ? 2 : data.endsWith('=') ? 1 : 0
  return Math.max(0, Math.floor((data.length * 3) / 4) - padding)
}

export function toDataUrl({
  mediaType,
  data,
}: {
  readonly mediaType: string
  readonly data: string
}): string {
  return `data:${mediaType};base64,${data}`
}
