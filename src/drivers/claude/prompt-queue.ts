import { createHash } from 'node:crypto'
import type { SDKUserMessage } from '@anthropic-ai/claude-agent-sdk'
import { isObject, ThroughlineError, type JsonObject } from '#base'
import type { Block, MediaSource } from '#model'
import type { AgentPrompt } from '../driver.ts'

type Uuid = NonNullable<SDKUserMessage['uuid']>
type Content = SDKUserMessage['message']['content']
type ContentBlock = Exclude<Content, string>[number]

/**
 * The prompts on their way to the agent. Each is handed over once: an id that was there already gets the same promise.
 */
export interface PromptQueue extends AsyncIterable<SDKUserMessage> {
  /** Resolves when the agent says that it has the prompt. */
  push(prompt: AgentPrompt): Promise<void>
  /** The agent has it. */
  acknowledge(uuid: string): void
  acknowledgeAll(): void
  /** The prompt that runs under this id; once. */
  take(uuid: string): AgentPrompt | undefined
  /** No more prompts. Whoever still waits is told why. */
  end(reason: ThroughlineError): void
}

interface Waiting {
  /** Until it is taken: images need not be kept for as long as the session lasts. */
  readonly prompt: AgentPrompt | undefined
  readonly done: Promise<void>
  readonly resolve: () => void
  readonly reject: (reason: ThroughlineError) => void
}

export function createPromptQueue(): PromptQueue {
  const known = new Map<string, Waiting>()
  const outbox: SDKUserMessage[] = []
  let ended: ThroughlineError | undefined
  let wake: (() => void) | undefined

  return {
    push(prompt) {
      if (ended) return Promise.reject(ended)
      const uuid = toUuid(prompt.id)
      const before = known.get(uuid)
      if (before) return before.done
      const message: SDKUserMessage = {
        type: 'user',
        message: { role: 'user', content: toContent(prompt.blocks) },
        parent_tool_use_id: null,
        uuid,
      }
      const waiting = toWaiting(prompt)
      known.set(uuid, waiting)
      outbox.push(message)
      wake?.()
      return waiting.done
    },
    acknowledge: (uuid) => known.get(uuid)?.resolve(),
    acknowledgeAll() {
      for (const waiting of known.values()) waiting.resolve()
    },
    take(uuid) {
      const waiting = known.get(uuid)
      if (waiting) known.set(uuid, { ...waiting, prompt: undefined })
      return waiting?.prompt
    },
    end(reason) {
      ended ??= reason
      for (const waiting of known.values()) waiting.reject(ended)
      wake?.()
    },
    async *[Symbol.asyncIterator]() {
      while (true) {
        const next = outbox.shift()
        if (next) yield next
        else if (ended) return
        else await new Promise<void>((resolve) => (wake = resolve))
      }
    },
  }
}

function toWaiting(prompt: AgentPrompt): Waiting {
  let settle: Pick<Waiting, 'resolve' | 'reject'> | undefined
  const done = new Promise<void>((resolve, reject) => (settle = { resolve, reject }))
  // Whoever pushed it may not listen any more.
  done.catch(() => {})
  return { prompt, done, resolve: () => settle?.resolve(), reject: (reason) => settle?.reject(reason) }
}

/** Claude Code takes only UUIDs for the ids of prompts; any other id is given one that is always the same. */
function toUuid(id: string): Uuid {
  if (isUuid(id)) return id
  const hex = createHash('sha256').update(id).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

function isUuid(id: string): id is Uuid {
  return /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/u.test(id)
}

/** What the model is sent. Words alone go as a string: only then are slash commands understood. */
function toContent(blocks: readonly Block[]): Content {
  const [only] = blocks
  if (blocks.length === 1 && only?.kind === 'text') return only.text
  return blocks.map(toContentBlock)
}

function toContentBlock(block: Block): ContentBlock {
  if (block.kind === 'text') return { type: 'text', text: block.text }
  const source = block.kind === 'image' || block.kind === 'document' ? block.source : undefined
  if (block.kind === 'image' && source?.kind === 'base64') {
    const media_type = toImageType(source.mediaType)
    if (media_type) return { type: 'image', source: { type: 'base64', media_type, data: source.data } }
  }
  if (block.kind === 'image' && source?.kind === 'url')
    return { type: 'image', source: { type: 'url', url: source.url } }
  if (block.kind === 'document') return toDocument(block.source, block.title)
  throw new ThroughlineError('request-invalid', `a prompt cannot hold ${nameOf(block)}`, {
    hint: 'Send text, images (PNG, JPEG, GIF, WebP), PDF or plain text documents.',
  })
}

function toDocument(source: MediaSource, title: string | undefined): ContentBlock {
  const named = title === undefined ? {} : { title }
  if (source.kind === 'base64' && source.mediaType === 'application/pdf')
    return {
      type: 'document',
      source: { type: 'base64', media_type: source.mediaType, data: source.data },
      ...named,
    }
  if (source.kind === 'text')
    return {
      type: 'document',
      source: { type: 'text', media_type: 'text/plain', data: source.text },
      ...named,
    }
  if (source.kind === 'url') return { type: 'document', source: { type: 'url', url: source.url }, ...named }
  throw new ThroughlineError('request-invalid', 'a document in a prompt is a PDF or plain text', {
    hint: 'Send it as a PDF, or its text.',
  })
}

function toImageType(type: string): 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp' | undefined {
  switch (type) {
    case 'image/png':
    case 'image/jpeg':
    case 'image/gif':
    case 'image/webp':
      return type
    default:
      return undefined
  }
}

function nameOf(block: Block): string {
  const value: JsonObject | undefined =
    block.kind === 'unknown' && isObject(block.value) ? block.value : undefined
  return `a block of kind ${typeof value?.['type'] === 'string' ? value['type'] : block.kind}`
}
