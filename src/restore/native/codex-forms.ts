import { isObject, object, string, type JsonObject } from '#base'
import type { Block } from '#model'
import type { LossBook } from '../loss.ts'
import { toPlaceholder, wordsOfDocument } from '../media.ts'
import { without } from '../openai-parts.ts'
import type { SaidBlock, SaidMessage } from '../said.ts'
import { noteUnknown } from '../writing.ts'

/** Calls that Codex 0.166 reads from a session. Any other kind of call is written as a call of a function. */
const CALLS: ReadonlySet<string> = new Set(['function_call', 'custom_tool_call', 'local_shell_call'])

/** Other items that it reads. It discards a line with anything else, and answers a call whose result it lost itself. */
const ITEMS: ReadonlySet<string> = new Set([
  'web_search_call',
  'image_generation_call',
  'tool_search_call',
  'tool_search_output',
  'compaction',
  'context_compaction',
])
const PHASES: ReadonlySet<string> = new Set(['commentary', 'partial_answer', 'final_answer'])
const DETAILS: ReadonlySet<string> = new Set(['auto', 'high', 'original'])
const TEXT_PARTS: ReadonlySet<string> = new Set(['input_text', 'output_text', 'text'])

/** Writes messages in the forms that Codex reads, one after the other. */
export interface CodexForms {
  toForms(message: SaidMessage): SaidMessage
}

/**
 * Of what the Responses API takes Codex reads less, and discards the whole line where something else stands in it: text
 * and its own kinds of calls stay, documents and pictures that are elsewhere become a text that says what they are.
 */
export function createCodexForms(book: LossBook): CodexForms {
  /** Calls that are written as calls of functions: their results are results of functions. */
  const plain = new Set<string>()

  function toForm(said: SaidBlock, isAnswer: boolean): SaidBlock | undefined {
    const { block } = said
    switch (block.kind) {
      case 'text':
        return withOwn(said, toTextNotes)
      case 'image':
        return block.source.kind === 'url' ? asText(said, block, book) : withOwn(said, toImageNotes)
      case 'document':
        return wordsOfDocument(block.source) !== undefined ? said : asText(said, block, book)
      case 'tool-use': {
        const type = string(object(block.extra, 'openai'), 'type')
        if (type === undefined || type === 'custom' || type === 'function' || CALLS.has(type)) return said
        plain.add(block.id)
        return withOwn(said, () => undefined)
      }
      case 'tool-result': {
        const inner = block.content.flatMap((each) => {
          const form = toForm({ block: each, exact: undefined, origin: said.origin }, false)
          return form === undefined ? [] : [form.block]
        })
        const isSame =
          inner.length === block.content.length && inner.every((each, at) => each === block.content[at])
        const drop = plain.has(block.toolUseId) ? () => undefined : isSame ? undefined : withoutOutput
        const formed = isSame ? said : { ...said, block: { ...block, content: inner } }
        return drop === undefined ? formed : withOwn(formed, drop)
      }
      case 'unknown':
        return toUnknownForm(said, isAnswer, book)
      case 'thinking':
      case 'redacted-thinking':
        return said
    }
  }

  return {
    toForms: (message) => ({
      ...message,
      blocks: message.blocks.flatMap((said) => toForm(said, message.role === 'assistant') ?? []),
    }),
  }
}

/** An item or a part that has no form of its own here: one that Codex knows, or nothing. */
function toUnknownForm(said: SaidBlock, isAnswer: boolean, book: LossBook): SaidBlock | undefined {
  if (said.block.kind !== 'unknown') return said
  const { value } = said.block
  const refusal = string(value, 'type') === 'refusal' ? string(value, 'refusal') : undefined
  if (refusal !== undefined) return { ...said, block: { kind: 'text', text: refusal } }
  const type = string(object(value, 'openai') ?? value, 'type') ?? ''
  if (isAnswer ? ITEMS.has(type) : type === 'search_result' || (type === 'input_image' && hasFileId(value)))
    return said
  noteUnknown(said, book)
  return undefined
}

function hasFileId(value: unknown): boolean {
  return string(value, 'file_id') !== undefined
}

function asText(
  said: SaidBlock,
  block: Block & { readonly kind: 'image' | 'document' },
  book: LossBook,
): SaidBlock {
  const why =
    block.kind === 'document'
      ? 'Codex cannot read documents; a line of text describes it'
      : 'Codex cannot load an image from its address; a line of text names the address'
  book.note('media', said.origin, { how: 'changed', why })
  return { ...said, block: { kind: 'text', text: toPlaceholder(block) } }
}

/** The block with other notes of OpenAI's; the same one where they stay what they are. */
function withOwn(said: SaidBlock, change: (own: JsonObject) => JsonObject | undefined): SaidBlock {
  const { block } = said
  if (block.kind === 'unknown') return said
  const own = object(block.extra, 'openai')
  if (own === undefined) return said
  const openai = change(own)
  if (openai === own) return said
  const rest = without(block.extra ?? {}, ['openai'])
  return { ...said, block: { ...block, extra: openai === undefined ? rest : { ...rest, openai } } }
}

function toTextNotes(own: JsonObject): JsonObject {
  const isPhase = own['phase'] === undefined || PHASES.has(string(own, 'phase') ?? '')
  const part = string(object(own, 'part'), 'type')
  const isPart = part === undefined || TEXT_PARTS.has(part)
  return isPhase && isPart ? own : without(own, [...(isPhase ? [] : ['phase']), ...(isPart ? [] : ['part'])])
}

function toImageNotes(own: JsonObject): JsonObject {
  const part = object(own, 'part')
  if (isDetail(own['detail']) && isDetail(part?.['detail'])) return own
  const rest = without(own, ['detail', 'part'])
  return isObject(part) ? { ...rest, part: without(part, ['detail']) } : rest
}

function isDetail(value: unknown): boolean {
  return value === undefined || (typeof value === 'string' && DETAILS.has(value))
}

/** What the tool gave back in OpenAI's form is written anew where something in it is not read. */
function withoutOutput(own: JsonObject): JsonObject {
  return without(own, ['output'])
}
