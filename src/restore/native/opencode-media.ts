import type { Block, ToolResultBlock } from '#model'
import type { LossBook } from '../loss.ts'
import { toDataUrl, toPlaceholder, wordsOfDocument } from '../media.ts'
import type { SaidBlock } from '../said.ts'
import { noteUnknown, writeFound, writeSound } from '../writing.ts'

export type Media = Block & { readonly kind: 'image' | 'document' }

/** A picture or document as a part of a message. Nothing for what is elsewhere, or a text. */
export function toFile({ origin }: SaidBlock, media: Media, book: LossBook): object | undefined {
  const { source, ...block } = media
  if (source.kind !== 'base64' || source.data === '' || wordsOfDocument(source) !== undefined)
    return undefined
  const filename = 'title' in block ? block.title : undefined
  if (media.kind === 'document') {
    const why =
      'opencode passes it on to models that read documents; any other is told that it cannot read it'
    book.note('media', origin, { how: 'changed', why })
  }
  return {
    type: 'file',
    mime: source.mediaType,
    ...(filename === undefined ? {} : { filename }),
    url: toDataUrl(source),
  }
}

/** What stands for a picture or document that cannot be a part. */
export function toMediaText(said: SaidBlock, block: Media, book: LossBook): string {
  const { origin } = said
  const words = wordsOfDocument(block.source)
  if (words !== undefined) {
    book.note('media', origin, { how: 'changed', why: 'a document of text goes as text' })
    return writeSound(said, words, book)
  }
  book.note('media', origin, { how: 'changed', why: 'opencode does not take it in this form' })
  return toPlaceholder(block)
}

/** The words of a result, with what stands for what it cannot hold, and what goes beside them. */
export function toOutput(
  said: SaidBlock,
  { content, isError }: ToolResultBlock,
  book: LossBook,
): { readonly words: string; readonly files: readonly object[] } {
  const words: string[] = []
  const files: object[] = []
  for (const block of content) {
    const inner = { block, exact: undefined, origin: said.origin }
    if (block.kind === 'text') words.push(writeSound(said, block.text, book))
    else if (block.kind === 'image' || block.kind === 'document') {
      // A failed call has a message and nothing beside it.
      const file = isError ? undefined : toFile(said, block, book)
      if (file === undefined) words.push(toMediaText(inner, block, book))
      else files.push(file)
    } else {
      const found = writeFound(inner, book)
      if (found === undefined) noteUnknown(inner, book)
      else words.push(found)
    }
  }
  return { words: words.join('\n\n'), files }
}
