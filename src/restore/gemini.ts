import { isObject, parseJson, string, type JsonObject } from '#base'
import type { Block, ToolResultBlock, ToolUseBlock } from '#model'
import { toFittingName } from './call-ids.ts'
import { createLossBook, type Loss, type LossBook } from './loss.ts'
import { IMAGE_TYPES, toPlaceholder } from './media.ts'
import { ownOf, type Said, type SaidBlock, type SaidMessage } from './said.ts'
import { findWrong } from './troubles/wrong-block.ts'
import { noteUnknown, writeCall, writeFound, writeSound, writeText, type CallRules } from './writing.ts'

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

/** What is said to begin with where a conversation begins with an answer: a call has to come behind a user. */
const OPENING = '(The conversation goes on from here.)'

/** What our own recordings call a call for which Gemini gave no id. */
const MADE_ID = /^call_made_[0-9a-f]{16}_\d+$/u

/** A conversation as Gemini's generateContent takes it. What Gemini said goes back as it was, with its signatures. */
export function toGemini(said: Said): ToGemini {
  const { contents, losses } = toGeminiContents(said)
  const [first] = contents
  if (first?.role !== 'model') return { contents, losses }
  const origin = said.messages[0]?.blocks[0]?.origin ?? { entryId: '', index: 0 }
  const why = 'a conversation begins with a user, and this one did not'
  return {
    contents: [{ role: 'user', parts: [{ text: OPENING }] }, ...contents],
    losses: [...losses, { kind: 'order', origin, how: 'added', why }],
  }
}

/** A piece of a conversation, wherever it begins. */
export function toGeminiContents(said: Said): ToGemini {
  const book = createLossBook(said.losses)
  const contents: { role: 'user' | 'model'; parts: object[] }[] = []
  const writing: Writing = { book, calls: new Map() }
  for (const message of said.messages) {
    const parts: object[] = []
    for (const block of message.blocks) parts.push(...toParts(message, block, { ...writing, parts }))
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
  /** The calls that were made: a result names its tool here, and has an id where its call has one. */
  readonly calls: Map<string, { readonly name: string; readonly id?: string }>
}

interface PartWriting extends Writing {
  /** What the message has so far. */
  readonly parts: readonly object[]
}

function toParts(message: SaidMessage, said: SaidBlock, writing: PartWriting): readonly object[] {
  const { block, origin } = said
  const { book } = writing
  const isOwn = message.provider === 'gemini'
  const own = isOwn || message.role === 'user' ? ownOf(said, 'gemini') : undefined
  switch (block.kind) {
    case 'text': {
      // A signature may come with nothing but itself.
      if (block.text === '' && 'thoughtSignature' in (own ?? {})) return [{ text: '', ...own }]
      const text =
        block.text === '' || !isOwn ? writeText(said, block.text, book) : writeSound(said, block.text, book)
      return text === undefined ? [] : [{ text, ...own }]
    }
    case 'thinking':
    case 'redacted-thinking':
      // Clients that show thoughts and send none back leave an empty signature.
      if (isOwn && block.kind === 'thinking' && (own !== undefined || block.signature === undefined))
        return [{ text: writeSound(said, block.thinking, book), thought: true, ...own }]
      book.note('thinking', origin, {
        how: 'dropped',
        why: 'another provider thought it, or it came without its signature',
      })
      return []
    case 'tool-use':
      return [toCall(said, block, { ...writing, own, isOwn })]
    case 'tool-result':
      return toResult(said, block, writing)
    case 'image':
    case 'document':
      return [toMedia(said, block, book)]
    case 'unknown': {
      if (own !== undefined) return [own]
      const found = message.role === 'user' ? writeFound(said, book) : undefined
      if (found !== undefined) return [{ text: found }]
      if (isOwn && isObject(block.value)) return [block.value]
      noteUnknown(said, book)
      return []
    }
  }
}

function toCall(
  said: SaidBlock,
  block: ToolUseBlock,
  {
    book,
    calls,
    own,
    isOwn,
    parts,
  }: PartWriting & { readonly own: JsonObject | undefined; readonly isOwn: boolean },
): object {
  const { id: fitting, name, input } = writeCall(said, block, { rules: RULES, book })
  const id = isOwn && MADE_ID.test(block.id) ? {} : { id: fitting }
  calls.set(block.id, { name, ...id })
  const args = isObject(input) ? input : { input: input ?? null }
  if (args !== input)
    book.note('tool-input', said.origin, { how: 'changed', why: 'the input of a call must be an object' })
  const functionCall = { ...id, name, args }
  if (own !== undefined && 'thoughtSignature' in own) return { functionCall, ...own }
  // Of calls that are made together only the first is signed.
  if (isOwn && parts.some((part) => 'functionCall' in part)) return { functionCall, ...own }
  const why = isOwn ? 'its signature was not kept' : 'the call was not made by Gemini'
  book.note('signature', said.origin, { how: 'changed', why: `${why}: it goes with the mark that says so` })
  return { functionCall, ...own, thoughtSignature: NO_SIGNATURE }
}

function toResult(said: SaidBlock, block: ToolResultBlock, { book, calls }: Writing): readonly object[] {
  const texts = block.content.flatMap((each) => {
    if (each.kind === 'text') return [writeSound(said, each.text, book)]
    if (each.kind === 'image' || each.kind === 'document') return []
    const inner = { block: each, exact: undefined, origin: said.origin }
    const found = writeFound(inner, book)
    if (found === undefined && ownOf(inner, 'gemini') === undefined) noteUnknown(inner, book)
    return found ?? []
  })
  const media = block.content.flatMap((each) =>
    each.kind === 'image' || each.kind === 'document'
      ? [toMedia({ block: each, exact: undefined, origin: said.origin }, each, book)]
      : [],
  )
  const own = ownOf(said, 'gemini')
  const { name, ...id } = calls.get(block.toolUseId) ?? {
    name: 'unknown_tool',
    id: toFittingName(block.toolUseId, RULES.id),
  }
  const { response: kept, field: _field, name: _name, ...rest } = own ?? {}
  const response = isObject(kept) ? kept : toResponse(block, texts.join('\n\n'), own)
  return [{ functionResponse: { ...id, name, response, ...rest } }, ...media]
}

/** What a function gave: in the field it gave it in, where that is known. */
function toResponse({ isError }: ToolResultBlock, output: string, own: JsonObject | undefined): object {
  const field = string(own, 'field')
  if (field !== undefined) return { [field]: output }
  // A recording of Gemini's own words has what is no text as JSON.
  const parsed = own === undefined ? undefined : parseJson(output)
  if (isObject(parsed)) return parsed
  return isError ? { error: output } : { output }
}

/** Of the types that every provider takes it can be told whether a picture is what it is called. */
function isBroken(block: Block): boolean {
  const isKnown =
    block.kind === 'image' && block.source.kind === 'base64' && IMAGE_TYPES.has(block.source.mediaType)
  return isKnown && findWrong(block, { images: 0, provider: 'gemini', where: 'said' }) !== undefined
}

const TAKEN = /^(?:image\/(?:png|jpeg|webp|heic|heif)|application\/pdf|text\/[a-z.+-]+)$/u

function toMedia(
  said: SaidBlock,
  block: Block & { readonly kind: 'image' | 'document' },
  book: LossBook,
): object {
  const { source } = block
  const { origin } = said
  const own = ownOf(said, 'gemini')
  if (own !== undefined && 'fileData' in own) return own
  const { mimeType, displayName, ...rest } = own ?? {}
  const name = displayName === undefined ? {} : { displayName }
  if (source.kind === 'base64' && TAKEN.test(source.mediaType) && source.data !== '' && !isBroken(block)) {
    if (block.kind === 'document' && block.title !== undefined && displayName === undefined)
      book.note('media', origin, {
        how: 'changed',
        why: `Gemini takes no name of a document: ${block.title}`,
      })
    return { inlineData: { mimeType: source.mediaType, data: source.data, ...name }, ...rest }
  }
  if (source.kind === 'url' && typeof mimeType === 'string')
    return { fileData: { mimeType, fileUri: source.url, ...name }, ...rest }
  if (source.kind === 'text' && source.text !== '') {
    book.note('media', origin, { how: 'changed', why: 'a document of text goes as text' })
    return { text: writeSound(said, source.text, book) }
  }
  book.note('media', origin, { how: 'changed', why: 'Gemini does not take it in this form' })
  return { text: toPlaceholder(block) }
}
