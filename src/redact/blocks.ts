import { isObject } from '#base'
import type { Block, MediaSource } from '#model'
import type { FindOptions } from './find-secrets.ts'
import { redact } from './redact.ts'
import type { Secret } from './secret.ts'

/** Blocks without their secrets. */
export interface RedactedBlocks {
  readonly blocks: readonly Block[]
  readonly found: readonly Secret[]
  /** Secrets that stay, because what holds them is signed: whoever passes the blocks on leaves those out. */
  readonly sealed: readonly Secret[]
}

interface Finds {
  readonly found: Secret[]
  readonly sealed: Secret[]
  readonly options: FindOptions
}

/**
 * Masks secrets in every text of some blocks. Signed thinking, encrypted thinking and the bytes of images and
 * documents come out as they went in: changed by one character, a provider would refuse them.
 */
export function redactBlocks(blocks: readonly Block[], options: FindOptions = {}): RedactedBlocks {
  const finds: Finds = { found: [], sealed: [], options }
  return {
    blocks: blocks.map((block) => redactBlock(block, finds)),
    found: finds.found,
    sealed: finds.sealed,
  }
}

function redactBlock(block: Block, finds: Finds): Block {
  switch (block.kind) {
    case 'text':
      return { ...block, text: mask(block.text, finds) }
    case 'thinking': {
      if (block.signature === undefined) return { ...block, thinking: mask(block.thinking, finds) }
      finds.sealed.push(...redact(block.thinking, finds.options).found)
      return block
    }
    case 'redacted-thinking':
      return block
    case 'tool-use': {
      const { name, input, changed } = block
      return {
        ...block,
        name: mask(name, finds),
        input: redactValue(input, finds),
        ...(changed === undefined
          ? {}
          : { changed: { ...changed, input: redactValue(changed.input, finds) } }),
      }
    }
    case 'tool-result':
      return { ...block, content: block.content.map((inner) => redactBlock(inner, finds)) }
    case 'image':
      return { ...block, source: redactSource(block.source, finds) }
    case 'document':
      return {
        ...block,
        source: redactSource(block.source, finds),
        ...(block.title === undefined ? {} : { title: mask(block.title, finds) }),
      }
    case 'unknown':
      return { ...block, value: redactValue(block.value, finds) }
  }
}

/** Words and addresses; bytes stay. */
function redactSource(source: MediaSource, finds: Finds): MediaSource {
  switch (source.kind) {
    case 'text':
      return { ...source, text: mask(source.text, finds) }
    case 'url':
      return { ...source, url: mask(source.url, finds) }
    case 'base64':
      return source
    case 'unknown':
      return { ...source, value: redactValue(source.value, finds) }
  }
}

/** Fields that hold what a provider signed or encrypted, whatever the object is. */
export const SEALED: ReadonlySet<string> = new Set([
  'signature',
  'thoughtSignature',
  'thought_signature',
  'encrypted_content',
  'encrypted_index',
  'encryptedContent',
])

/** The strings and keys of a JSON value; numbers and what is sealed stay. */
function redactValue(value: unknown, finds: Finds): unknown {
  if (typeof value === 'string') return mask(value, finds)
  if (Array.isArray(value)) return value.map((item: unknown) => redactValue(item, finds))
  if (!isObject(value) || isSealed(value)) return value
  const made: [key: string, held: unknown][] = []
  const keys = new Set<string>()
  for (const [key, held] of Object.entries(value)) {
    const masked = freeKey(mask(key, finds), keys)
    keys.add(masked)
    made.push([masked, SEALED.has(key) ? held : redactNamed(key, held, finds)])
  }
  return Object.fromEntries(made)
}

/** Two keys that are masked are still two. */
function freeKey(key: string, taken: ReadonlySet<string>): string {
  let free = key
  for (let count = 2; taken.has(free); count += 1) free = `${key} ${count}`
  return free
}

function isSealed(value: { readonly [key: string]: unknown }): boolean {
  const { type } = value
  if (type === 'redacted_thinking' || type === 'base64') return true
  return type === 'thinking' && typeof value['signature'] === 'string'
}

/** `{ "password": "…" }`: the key is what makes a secret of the value. */
function redactNamed(key: string, held: unknown, finds: Finds): unknown {
  if (typeof held !== 'string' || !/^[\w.-]{1,64}$/.test(key) || /["\s]/.test(held)) {
    return redactValue(held, finds)
  }
  const before = `"${key}": "`
  const { text, found } = redact(`${before}${held}"`, finds.options)
  if (!text.startsWith(before) || !text.endsWith('"')) return redactValue(held, finds)
  finds.found.push(
    ...found.map((secret) => ({
      ...secret,
      start: secret.start - before.length,
      end: secret.end - before.length,
    })),
  )
  return text.slice(before.length, -1)
}

function mask(text: string, { found, options }: Finds): string {
  const redaction = redact(text, options)
  found.push(...redaction.found)
  return redaction.text
}
