import { isObject, object, string, type JsonObject } from '#base'
import type { LossBook } from './loss.ts'
import { toDataUrl, toPlaceholder, wordsOfDocument } from './media.ts'
import { ownOf, type SaidBlock } from './said.ts'
import { findWrong } from './troubles/wrong-block.ts'
import { noteUnknown, writeFound, writeOwnText, writeSound } from './writing.ts'

/** What is noted of a part, among what is noted of its message. */
export const besideParts: readonly string[] = ['part', 'annotations', 'logprobs', 'detail']

/** An object without these fields. */
export function without(value: JsonObject, keys: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([key]) => !keys.includes(key)))
}

/** Parts that the Responses API takes in a form that only it knows: a file that it keeps, sound. */
const OWN_PARTS: ReadonlySet<string> = new Set(['input_text', 'input_image', 'input_file', 'input_audio'])

/** What a user, or a tool, hands over, as parts of the Responses API. */
export function toInputParts(said: SaidBlock, book: LossBook): readonly object[] {
  const { block, origin } = said
  const own = ownOf(said, 'openai')
  const beside = without(object(own, 'part') ?? {}, ['type'])
  switch (block.kind) {
    case 'text': {
      const text = writeOwnText(said, block.text, { book, own })
      return text === undefined ? [] : [{ type: 'input_text', text, ...beside }]
    }
    case 'image': {
      const image_url = toImageUrl(said)
      if (image_url === undefined) break
      return [{ type: 'input_image', ...toDetail(own), ...beside, image_url }]
    }
    case 'document': {
      const { source, title } = block
      if (source.kind === 'base64' && source.mediaType === 'application/pdf' && source.data !== '')
        return [
          {
            type: 'input_file',
            ...beside,
            filename: title ?? 'document.pdf',
            file_data: toDataUrl(source),
          },
        ]
      if (source.kind === 'url') return [{ type: 'input_file', ...beside, file_url: source.url }]
      const words = wordsOfDocument(source)
      if (words !== undefined) {
        book.note('media', origin, { how: 'changed', why: 'a document of text goes as text' })
        return [{ type: 'input_text', text: writeSound(said, words, book) }]
      }
      break
    }
    case 'unknown': {
      const found = writeFound(said, book)
      if (found !== undefined) return [{ type: 'input_text', text: found }]
      if (isObject(block.value) && OWN_PARTS.has(string(block.value, 'type') ?? '')) return [block.value]
      noteUnknown(said, book)
      return []
    }
    case 'thinking':
    case 'redacted-thinking':
    case 'tool-use':
    case 'tool-result':
      noteUnknown(said, book)
      return []
  }
  book.note('media', origin, { how: 'changed', why: 'the Responses API does not take it in this form' })
  return [{ type: 'input_text', text: toPlaceholder(block) }]
}

/** How closely a picture is looked at: as it was said, where an item of OpenAI's says it or not. */
function toDetail(own: JsonObject | undefined): JsonObject {
  const isItem = own !== undefined && 'role' in own
  const detail = string(own, 'detail') ?? (isItem ? undefined : 'auto')
  return detail === undefined ? {} : { detail }
}

/** The address of a picture that OpenAI takes: its bytes, or where it is. */
export function toImageUrl({ block }: SaidBlock): string | undefined {
  if (block.kind !== 'image') return undefined
  const { source } = block
  if (source.kind === 'url') return source.url
  if (
    source.kind !== 'base64' ||
    findWrong(block, { images: 0, provider: 'openai', where: 'said' }) !== undefined
  )
    return undefined
  return toDataUrl(source)
}
