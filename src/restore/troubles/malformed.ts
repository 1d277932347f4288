import { isObject, list, string } from '#base'
import { toContent, type Block, type Entry } from '#model'
import { toPlaceholder } from '../media.ts'
import { blocksOf } from './checked-blocks.ts'

/** Where a block stands: in what a user says, in an answer, or in what a tool gave back. */
export type Where = 'said' | 'answer' | 'result'

/** A block that its provider refuses for its form, or for where it stands. */
export interface Malformed {
  readonly reason: string
  /** What can stand for it. Absent: nothing of it can be sent. */
  readonly instead?: Block | undefined
  /** Claude Code leaves it out or puts it right itself. */
  readonly isLeftOut?: boolean
}

/**
 * What is wrong with the form of a block of Anthropic's Messages API. A block of a type that is not known here has none:
 * whoever wrote it may know better.
 */
export function findMalformed(block: Block, where: Where): Malformed | undefined {
  if (block.kind === 'unknown') return findInValue(block.value, where !== 'result')
  const misplaced = findMisplaced(block, where)
  if (misplaced !== undefined) return misplaced
  switch (block.kind) {
    case 'image':
    case 'document':
      if (block.source.kind !== 'unknown' || isKeptElsewhere(block.source.value)) return undefined
      return asText(`${NAMES[block.kind]} without readable data`, toPlaceholder(block))
    case 'tool-use':
      return findInInput(block)
    case 'tool-result':
      return findInResult(block)
    case 'redacted-thinking':
      return block.data === '' ? { reason: 'redacted thinking without its data' } : undefined
    case 'text':
    case 'thinking':
      return undefined
  }
}

/** The malformed blocks of an entry. Other providers than Anthropic have forms of their own. */
export function findMalformedBlocks(entry: Entry): readonly (Malformed & { readonly index: number })[] {
  if (entry.provider !== undefined && entry.provider !== 'anthropic') return []
  const where = entry.kind === 'reply' ? 'answer' : 'said'
  return blocksOf(entry).flatMap((block, index) => {
    const wrong = findMalformed(block, where)
    return wrong === undefined ? [] : [{ ...wrong, index }]
  })
}

const NAMES = { image: 'an image', document: 'a document' } as const

/** Sources that are no data: a file that the provider keeps, and content in pieces. */
function isKeptElsewhere(source: unknown): boolean {
  const type = string(source, 'type')
  if (type === 'file') return string(source, 'file_id') !== undefined
  if (type === 'content') return isObject(source) && Array.isArray(source['content'])
  return type !== undefined && !['base64', 'url', 'text', 'raw'].includes(type)
}

function findMisplaced(block: Exclude<Block, { kind: 'unknown' }>, where: Where): Malformed | undefined {
  switch (block.kind) {
    case 'text':
      return undefined
    case 'thinking':
    case 'redacted-thinking':
      return where === 'answer' ? undefined : { reason: 'thinking outside an answer' }
    case 'tool-use':
      if (where === 'answer') return undefined
      return asText('a tool call outside an answer', toCallText(block))
    case 'tool-result':
      if (where === 'said') return undefined
      return where === 'answer'
        ? { reason: 'a tool result inside an answer', isLeftOut: true }
        : asText('a tool result inside another one', JSON.stringify(toContent(block)))
    case 'image':
    case 'document':
      if (where !== 'answer') return undefined
      return asText(`${NAMES[block.kind]} inside an answer`, toPlaceholder(block))
  }
}

function toCallText({ name, input }: { readonly name: string; readonly input: unknown }): string {
  return `[A call of ${name} stood here: ${JSON.stringify(input) ?? ''}]`
}

function findInInput(block: Block & { readonly kind: 'tool-use' }): Malformed | undefined {
  const { input } = block
  if (isObject(input)) return undefined
  const parsed = typeof input === 'string' ? parseObject(input) : undefined
  const instead = { ...block, input: parsed ?? (input === undefined || input === null ? {} : { input }) }
  return { reason: 'a tool call whose input is not an object', instead }
}

function parseObject(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** The first thing that is wrong in a result, and the result with all of it replaced. */
function findInResult(block: Block & { readonly kind: 'tool-result' }): Malformed | undefined {
  let reason: string | undefined
  const content = block.content.flatMap((inner) => {
    const wrong = findMalformed(inner, 'result')
    if (wrong === undefined) return [inner]
    reason ??= wrong.reason
    return wrong.instead === undefined ? [] : [wrong.instead]
  })
  return reason === undefined ? undefined : { reason, instead: { ...block, content } }
}

/** What could not be read as a block, although it is called one. */
function findInValue(value: unknown, isLeftOut: boolean): Malformed | undefined {
  if (value === null || value === undefined) return { reason: 'nothing where a block belongs', isLeftOut }
  if (!isObject(value))
    return asText(
      'a bare value where a block belongs',
      typeof value === 'string' ? value : JSON.stringify(value),
    )
  const type = string(value, 'type')
  switch (type) {
    case undefined:
      return { reason: 'a block without a type', isLeftOut }
    case 'text': {
      const { text } = value
      if (text === null || text === undefined) return { reason: 'a text block without text', isLeftOut }
      // A single block that stands where a list belongs was read as nothing known.
      const isWhole = typeof text === 'string'
      const reason = isWhole ? 'a block where a list belongs' : 'a text block whose text is not a string'
      return { ...asText(reason, isWhole ? text : JSON.stringify(text)), isLeftOut: isLeftOut || isWhole }
    }
    case 'image':
    case 'document': {
      const placeholder = toPlaceholder({ kind: type, source: { kind: 'unknown', value: value['source'] } })
      return asText(`${NAMES[type]} without a source`, placeholder)
    }
    case 'thinking':
    case 'redacted_thinking':
      return { reason: 'a thinking block without its content' }
    case 'tool_use': {
      const id = string(value, 'id')
      const reason = id === undefined ? 'a tool call without an id' : 'a tool call without a name'
      const words = toCallText({ name: string(value, 'name') ?? 'a tool', input: value['input'] })
      return { ...asText(reason, words), isLeftOut: isLeftOut && id === undefined }
    }
    case 'search_result': {
      const texts = list(value, 'content').flatMap((part) => string(part, 'text') ?? [])
      const facts = ['title', 'source'].flatMap((key) => string(value, key) ?? [])
      if (texts.length > 0 && facts.length === 2) return undefined
      return asText('a search result without its content', [...facts, ...texts].join('\n'))
    }
    case 'tool_result':
      return { reason: 'a tool result without the id of its call', isLeftOut }
    default:
      return undefined
  }
}

function asText(reason: string, text: string): Malformed {
  return text.trim() === '' ? { reason } : { reason, instead: { kind: 'text', text } }
}
