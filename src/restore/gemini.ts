import { isObject, object, string, type JsonObject } from '#base'
import type { Block, ToolResultBlock, ToolUseBlock } from '#model'
import { toFittingName } from './call-ids.ts'
import { createLossBook, type Loss, type LossBook } from './loss.ts'
import { toPlaceholder } from './media.ts'
import type { Said, SaidBlock, SaidMessage } from './said.ts'
import { toSoundText } from './sound-text.ts'
import { noteUnknown, writeCall, writeText, type CallRules } from './writing.ts'

/** A content as Gemini takes it. */
export interface GeminiContent {
  readonly role: 'user' | 'model'
  readonly parts: readonly object[]
}

export interface ToGemini {
  readonly contents: readonly GeminiContent[]
  readonly losses: readonly Loss[]
}

const RULES: CallRules = {
  id: { pattern: /^[^\0]+$/u, longest: 256 },
  name: { pattern: /^[a-zA-Z_][a-zA-Z0-9_.:-]*$/u, longest: 128 },
}

/** Google's own word for a call whose signature is not there: without it the newer models refuse the request. */
const NO_SIGNATURE = 'skip_thought_signature_validator'

/** A conversation as Gemini's generateContent takes it. Thoughts of Gemini keep the signatures that go with them. */
export function toGemini(said: Said): ToGemini {
  const book = createLossBook(said.losses)
  const contents: { role: 'user' | 'model'; parts: object[] }[] = []
  const names = new Map<string, string>()
  for (const message of said.messages) {
    const parts = message.blocks.flatMap((block) => toParts(message, block, { book, names }))
    if (parts.length === 0) continue
    const role = message.role === 'assistant' ? 'model' : 'user'
    const last = contents.at(-1)
    if (last?.role === role) last.parts.push(...parts)
    else contents.push({ role, parts })
  }
  return { contents, losses: book.losses }
}

interface Writing {
  readonly book: LossBook
  /** Names of the tools that were called: a result names its tool here. */
  readonly names: Map<string, string>
}

function toParts(message: SaidMessage, said: SaidBlock, writing: Writing): readonly object[] {
  const { block, origin } = said
  const { book } = writing
  const own = message.provider === 'gemini' ? object(said.exact, 'gemini') : undefined
  switch (block.kind) {
    case 'text': {
      const text = writeText(said, block.text, book)
      return text === undefined ? [] : [{ text, ...signatureOf(own) }]
    }
    case 'thinking':
    case 'redacted-thinking':
      if (own !== undefined && block.kind === 'thinking' && 'thoughtSignature' in own)
        return [{ text: block.thinking, thought: true, ...signatureOf(own) }]
      book.note('thinking', origin, {
        how: 'dropped',
        why: 'another provider thought it, or it came without its signature',
      })
      return []
    case 'tool-use':
      return [toCall(said, block, { ...writing, own })]
    case 'tool-result':
      return toResult(said, block, writing)
    case 'image':
    case 'document':
      return [toMedia(said, block, book)]
    case 'unknown':
      if (own !== undefined) return [own]
      if (message.provider === 'gemini' && isObject(block.value)) return [block.value]
      noteUnknown(said, book)
      return []
  }
}

function signatureOf(own: JsonObject | undefined): JsonObject {
  const signature = string(own, 'thoughtSignature')
  return signature === undefined ? {} : { thoughtSignature: signature }
}

function toCall(
  said: SaidBlock,
  block: ToolUseBlock,
  { book, names, own }: Writing & { readonly own: JsonObject | undefined },
): object {
  const { id, name, input } = writeCall(said, block, { rules: RULES, book })
  names.set(block.id, name)
  const args = isObject(input) ? input : { input: input ?? null }
  if (args !== input)
    book.note('tool-input', said.origin, { how: 'changed', why: 'the input of a call must be an object' })
  const signature = signatureOf(own)
  if (own !== undefined) return { functionCall: { id, name, args }, ...signature }
  book.note('signature', said.origin, {
    how: 'changed',
    why: 'the call was not made by Gemini: it goes with the mark that says so',
  })
  return { functionCall: { id, name, args }, thoughtSignature: NO_SIGNATURE }
}

function toResult(said: SaidBlock, block: ToolResultBlock, { book, names }: Writing): readonly object[] {
  const texts = block.content.flatMap((each) => (each.kind === 'text' ? [toSoundText(each.text)] : []))
  const media = block.content.flatMap((each) =>
    each.kind === 'image' || each.kind === 'document'
      ? [toMedia({ block: each, exact: undefined, origin: said.origin }, each, book)]
      : [],
  )
  const kept = object(object(said.exact, 'gemini'), 'response')
  const output = texts.join('\n\n')
  const response = kept ?? (block.isError ? { error: output } : { output })
  const name = names.get(block.toolUseId) ?? 'unknown_tool'
  return [{ functionResponse: { id: toFittingName(block.toolUseId, RULES.id), name, response } }, ...media]
}

const TAKEN = /^(?:image\/(?:png|jpeg|webp|heic|heif)|application\/pdf|text\/[a-z.+-]+)$/u

function toMedia(
  { origin }: SaidBlock,
  block: Block & { readonly kind: 'image' | 'document' },
  book: LossBook,
): object {
  const { source } = block
  if (source.kind === 'base64' && TAKEN.test(source.mediaType) && source.data !== '')
    return { inlineData: { mimeType: source.mediaType, data: source.data } }
  if (source.kind === 'text') {
    book.note('media', origin, { how: 'changed', why: 'a document of text goes as text' })
    return { text: toSoundText(source.text) }
  }
  book.note('media', origin, { how: 'changed', why: 'Gemini does not take it in this form' })
  return { text: toPlaceholder(block) }
}
