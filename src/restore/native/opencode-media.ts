import type { Block, ToolResultBlock } from '#model'
import type { LossBook } from '../loss.ts'
import { toDataUrl, toPlaceholder } from '../media.ts'
import type { SaidBlock } from '../said.ts'
import { toSoundText } from '../sound-text.ts'

export type Media = Block & { readonly kind: 'image' | 'document' }

/** A picture or document as a part of a message. Nothing for what is elsewhere, or a text. */
export function toFile({ source, ...block }: Media): object | undefined {
  if (source.kind !== 'base64' || source.data === '') return undefined
  const filename = 'title' in block ? block.title : undefined
  return {
    type: 'file',
    mime: source.mediaType,
    ...(filename === undefined ? {} : { filename }),
    url: toDataUrl(source),
  }
}

/** What stands for a picture or document that cannot be a part. */
export function toMediaText({ origin }: SaidBlock, block: Media, book: LossBook): string {
  if (block.source.kind === 'text') {
    book.note('media', origin, { how: 'changed', why: 'a document of text goes as text' })
    return toSoundText(block.source.text)
  }
  book.note('media', origin, { how: 'changed', why: 'opencode does not take it in this form' })
  return toPlaceholder(block)
}

/** The words of a result, and what stands for what it cannot hold. */
export function wordsOf({ content, isError }: ToolResultBlock): string {
  return content
    .flatMap((each) => {
      if (each.kind === 'text') return [each.text]
      if (each.kind !== 'image' && each.kind !== 'document') return []
      if (each.source.kind === 'text') return [each.source.text]
      return isError || toFile(each) === undefined ? [toPlaceholder(each)] : []
    })
    .join('\n\n')
}

export function noteMissing(result: SaidBlock | undefined, book: LossBook): void {
  if (result === undefined) return
  book.note('media', result.origin, {
    how: 'changed',
    why: 'opencode does not take it in a result in this form',
  })
}
