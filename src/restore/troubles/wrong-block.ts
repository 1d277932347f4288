import { isObject, object } from '#base'
import {
  toContent,
  type Block,
  type DocumentBlock,
  type ImageBlock,
  type Provider,
  type ThinkingBlock,
  type ToolResultBlock,
} from '#model'
import type { Mend, Trouble, TroubleKind } from '#model'
import { findMalformed, type Malformed, type Where } from './malformed.ts'
import { readImage } from '../image-size.ts'
import { base64Bytes, IMAGE_TYPES, toPlaceholder } from '../media.ts'
import { isSoundText, toSoundText, toSoundValue } from '../sound-text.ts'

/** What is wrong, for a person, and what mends it. */
export type What = Pick<Trouble, 'reason' | 'fix' | 'mend' | 'isHandled'>

export type Wrong = What & { readonly kind: TroubleKind }

export const DROP: Mend = { kind: 'drop-block' }

/** What Anthropic takes: pixels to a side, with more than twenty pictures, and bytes of a picture. */
const LARGEST_SIDE = 8_000
const LARGEST_SIDE_OF_MANY = 2_000
const MANY_IMAGES = 20
const LARGEST_IMAGE = 5 * 1024 * 1024

/** Where a block stands. */
export interface Surroundings {
  /** How many pictures there are in all. */
  readonly images: number
  /** Whom it goes back to: Anthropic alone signs thinking, counts pixels and looks at the form of every block. */
  readonly provider: Provider
  readonly where: Where
}

/** What makes a provider refuse a block, whatever stands around it. */
export function findWrong(block: Block, around: Surroundings): Wrong | undefined {
  const isAnthropic = around.provider === 'anthropic'
  // What a result holds is looked at one by one, below.
  const isResult = block.kind === 'tool-result' && around.where === 'said'
  const malformed = isAnthropic && !isResult ? findMalformed(block, around.where) : undefined
  if (malformed !== undefined) return toWrong(malformed)
  switch (block.kind) {
    case 'text':
      if (isRefusedEmpty(block, around)) return EMPTY
      return isSoundFor(around.provider, block.text)
        ? undefined
        : broken({ ...block, text: toSoundText(block.text) }, !block.text.includes('\0'))
    case 'thinking':
      return isAnthropic ? findEdited(block) : undefined
    case 'tool-use': {
      const input = toSoundValue(block.input)
      return input === block.input
        ? undefined
        : broken({ ...block, input }, !JSON.stringify(block.input).includes('\\u0000'))
    }
    case 'tool-result':
      return findWrongResult(block, around)
    case 'image':
      return findWrongImage(block, around)
    case 'document':
      return findWrongDocument(block)
    case 'redacted-thinking':
    case 'unknown':
      return undefined
  }
}

/** A text without a word where a provider refuses it. Clients leave blank texts of messages out themselves. */
export const EMPTY: Wrong = {
  kind: 'text-empty',
  reason: 'a text without a word',
  fix: 'It is left out.',
  mend: DROP,
}

function isRefusedEmpty({ text, extra }: Block & { readonly kind: 'text' }, around: Surroundings): boolean {
  if (text !== '') return false
  if (around.provider === 'gemini')
    return around.where !== 'result' && !('thoughtSignature' in (object(extra, 'gemini') ?? {}))
  return around.provider === 'anthropic' && around.where === 'result'
}

/** Zero characters are refused by Anthropic; OpenAI takes them, and sessions of Codex with them go on. */
function isSoundFor(provider: Provider, text: string): boolean {
  return isSoundText(provider === 'openai' ? text.replaceAll('\0', '') : text)
}

function toWrong({ reason, instead, isLeftOut }: Malformed): Wrong {
  return {
    ...(isLeftOut === true ? { isHandled: true } : {}),
    kind: 'block-malformed',
    reason,
    fix: instead === undefined ? 'It is left out.' : 'It is written in a form that is accepted.',
    mend: instead === undefined ? DROP : { kind: 'replace-block', block: asObject(toContent(instead)) },
  }
}

/** Half characters alone Claude Code puts right itself. */
function broken(block: Block, isHandled: boolean): Wrong {
  return {
    ...(isHandled ? { isHandled } : {}),
    kind: 'text-broken',
    reason: 'half characters or noughts that no request can carry',
    fix: 'Each is replaced by U+FFFD.',
    mend: { kind: 'replace-block', block: asObject(toContent(block)) },
  }
}

function findEdited(block: ThinkingBlock): Wrong | undefined {
  const isForeign = block.extra !== undefined && ('openai' in block.extra || 'gemini' in block.extra)
  const isSigned = block.signature !== undefined && block.signature !== ''
  // Without its text it is as it came: newer models give the signature alone, which has all of it.
  const reason =
    !isSigned && !isForeign
      ? 'thinking without a signature'
      : isSoundText(block.thinking)
        ? undefined
        : 'thinking with half characters, which must not be edited'
  if (reason === undefined) return undefined
  return {
    kind: 'thinking-edited',
    reason,
    fix: 'The whole block is left out; it is never edited.',
    mend: DROP,
  }
}

/** The first thing that is wrong in a result, and what mends all of them. */
function findWrongResult(block: ToolResultBlock, around: Surroundings): Wrong | undefined {
  let first: Wrong | undefined
  const content = block.content.flatMap((inner): readonly Block[] => {
    const wrong = findWrong(inner, { ...around, where: 'result' })
    if (wrong?.mend === undefined) return [inner]
    first ??= wrong
    return wrong.mend.kind === 'replace-block' ? [{ kind: 'unknown', value: wrong.mend.block }] : []
  })
  if (first === undefined) return undefined
  const mend: Mend = { kind: 'replace-block', block: asObject(toContent({ ...block, content })) }
  return { ...first, mend }
}

function asObject(value: unknown): object {
  return isObject(value) ? value : {}
}

function placeholder(block: ImageBlock | DocumentBlock): Mend {
  return { kind: 'replace-block', block: { type: 'text', text: toPlaceholder(block) } }
}

function findWrongImage(block: ImageBlock, { images, provider }: Surroundings): Wrong | undefined {
  const { source } = block
  if (source.kind !== 'base64') return undefined
  const fix = 'A line of text stands for it; the picture stays in the old session.'
  const bad = (reason: string): Wrong => ({
    kind: 'image-broken',
    reason,
    fix,
    mend: placeholder(block),
  })
  if (source.data === '') return bad('a picture without a byte')
  const facts = readImage(Buffer.from(source.data.slice(0, 400_000), 'base64'))
  if (facts === undefined) return bad(`what is called ${source.mediaType} is no picture`)
  if (facts.mediaType !== source.mediaType || !IMAGE_TYPES.has(source.mediaType))
    return bad(`a picture of type ${facts.mediaType} is called ${source.mediaType}`)
  if (provider !== 'anthropic') return undefined
  const limit = images > MANY_IMAGES ? LARGEST_SIDE_OF_MANY : LARGEST_SIDE
  const { width = 0, height = 0 } = facts.size ?? {}
  const bytes = base64Bytes(source.data)
  if (width <= limit && height <= limit && bytes <= LARGEST_IMAGE) return undefined
  const reason = `a picture of ${width} × ${height} pixels and ${bytes} bytes; ${limit} to a side and ${LARGEST_IMAGE} bytes are taken`
  return { kind: 'image-too-large', reason, fix, mend: placeholder(block) }
}

function findWrongDocument(block: DocumentBlock): Wrong | undefined {
  const { source } = block
  if (source.kind !== 'base64' || (source.mediaType === 'application/pdf' && source.data !== ''))
    return undefined
  const reason = `a document of type ${source.mediaType === '' ? 'unknown' : source.mediaType}`
  return { kind: 'media-unknown', reason, fix: 'A line of text stands for it.', mend: placeholder(block) }
}
