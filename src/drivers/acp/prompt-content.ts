import type { ContentBlock } from '@agentclientprotocol/sdk'
import { boolean, object, ThroughlineError } from '#base'
import type { Block, MediaSource } from '#model'
import type { KnownAgent } from './known-agents.ts'

/** What the agent takes in a prompt beside words. */
export interface PromptAbilities {
  readonly images: boolean
  /** Whether text that belongs to a prompt may come with it; else it is sent as words. */
  readonly resources: boolean
  /** Whether documents with a media type go the way of images. */
  readonly documentsAsImages: boolean
}

/** Before the agent has said what it takes. */
export const NOTHING_BUT_WORDS: PromptAbilities = {
  images: false,
  resources: false,
  documentsAsImages: false,
}

/** Reads it from what the agent said of itself. */
export function readPromptAbilities(
  capabilities: unknown,
  agent: Pick<KnownAgent, 'losesImages'>,
): PromptAbilities {
  const prompt = object(capabilities, 'promptCapabilities')
  const images = boolean(prompt, 'image') ?? false
  const losesImages = agent.losesImages === true
  return {
    images,
    resources: !losesImages && (boolean(prompt, 'embeddedContext') ?? false),
    documentsAsImages: losesImages && images,
  }
}

/** What the agent is sent. Throws `request-invalid` for what it cannot take: nothing is left out in silence. */
export function toContent(blocks: readonly Block[], can: PromptAbilities): ContentBlock[] {
  return blocks.map((block, index) => {
    if (block.kind === 'text') return { type: 'text', text: block.text }
    if (block.kind === 'image') return toImage(block.source, can)
    if (block.kind === 'document')
      return toDocument(block.source, { name: block.title ?? `document-${String(index + 1)}`, can })
    throw new ThroughlineError('request-invalid', `a prompt cannot hold a block of kind ${block.kind}`, {
      hint: 'Send text, images or documents.',
    })
  })
}

function toImage(source: MediaSource, can: PromptAbilities): ContentBlock {
  if (!can.images) throw cannotTake('images', 'Describe it in words, or use another agent.')
  if (source.kind !== 'base64') throw cannotTake('an image by its address', 'Send the image itself.')
  return { type: 'image', mimeType: source.mediaType, data: source.data }
}

function toDocument(
  source: MediaSource,
  { name, can }: { readonly name: string; readonly can: PromptAbilities },
): ContentBlock {
  const uri = `attachment:///${encodeURIComponent(name)}`
  if (source.kind === 'url') return { type: 'resource_link', name, uri: source.url }
  if (source.kind === 'text' && can.resources)
    return { type: 'resource', resource: { uri, mimeType: source.mediaType, text: source.text } }
  if (source.kind === 'text') return { type: 'text', text: `${name}:\n\n${source.text}` }
  if (source.kind === 'base64' && can.documentsAsImages)
    return { type: 'image', mimeType: source.mediaType, data: source.data }
  if (source.kind === 'base64' && can.resources)
    return { type: 'resource', resource: { uri, mimeType: source.mediaType, blob: source.data } }
  throw cannotTake('this document', 'Send its text.')
}

function cannotTake(what: string, hint: string): ThroughlineError {
  return new ThroughlineError('request-invalid', `the agent cannot take ${what}`, { hint })
}
