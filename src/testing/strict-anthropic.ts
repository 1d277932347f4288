import { isObject, list, object, string, type JsonObject } from '#base'

/**
 * What the Messages API refuses, by its documented rules: who speaks when, calls and results in pairs and in place,
 * ids, signatures, empty texts, types of media. Nothing found means that a request with these messages is taken.
 */
export function findAnthropicFaults(messages: readonly unknown[]): readonly string[] {
  const faults: string[] = []
  const fault = (at: number, what: string): number => faults.push(`messages.${at}: ${what}`)
  const seen = new Set<string>()
  if (messages.length === 0) faults.push('no messages')
  const limit = countImages(messages) > 20 ? 2_000 : 8_000
  for (const [at, message] of messages.entries()) {
    const role = string(message, 'role')
    const content = list(message, 'content')
    if (role !== 'user' && role !== 'assistant') fault(at, `role ${String(role)}`)
    if (at === 0 && role !== 'user') fault(at, 'the first message is not of a user')
    if (at > 0 && role === string(messages[at - 1], 'role')) fault(at, 'the same role twice')
    if (content.length === 0) fault(at, 'empty content')
    for (const block of content) for (const what of blockFaults(block, role)) fault(at, what)
    for (const what of content.flatMap((block) => sizeFaults(block, limit))) fault(at, what)
    for (const what of pairFaults(messages[at - 1], { role, content }, seen)) fault(at, what)
    const isLast = at === messages.length - 1
    if (isLast && role === 'assistant' && callsOf(content).length > 0)
      fault(at, 'calls that are never answered')
  }
  if (!isSound(JSON.stringify(messages))) faults.push('half a character')
  return faults
}

function callsOf(content: readonly unknown[]): readonly string[] {
  return content.flatMap((block) => (string(block, 'type') === 'tool_use' ? [string(block, 'id') ?? ''] : []))
}

function pairFaults(
  before: unknown,
  { role, content }: { readonly role: string | undefined; readonly content: readonly unknown[] },
  seen: Set<string>,
): readonly string[] {
  const faults: string[] = []
  const calls = callsOf(content)
  for (const id of calls) {
    if (seen.has(id)) faults.push(`tool_use ids must be unique: ${id}`)
    seen.add(id)
  }
  const asked = string(before, 'role') === 'assistant' ? callsOf(list(before, 'content')) : []
  const types = content.map((block) => string(block, 'type'))
  const results = content.flatMap((block) =>
    string(block, 'type') === 'tool_result' ? [string(block, 'tool_use_id') ?? ''] : [],
  )
  if (role === 'assistant' && results.length > 0) faults.push('a result in an answer')
  if (role === 'user' && calls.length > 0) faults.push('a call of a user')
  for (const id of results)
    if (!asked.includes(id)) faults.push(`unexpected tool_use_id ${id} in tool_result`)
  for (const id of asked)
    if (!results.includes(id)) faults.push(`tool_use ${id} without tool_result directly behind`)
  if (new Set(results).size !== results.length) faults.push('a call is answered twice')
  if (types.slice(0, results.length).some((type) => type !== 'tool_result'))
    faults.push('results do not stand first')
  return faults
}

const IMAGES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp']
const NAME = /^[a-zA-Z0-9_-]{1,128}$/u

function blockFaults(block: unknown, role: string | undefined): readonly string[] {
  if (!isObject(block)) return ['a block that is no object']
  switch (string(block, 'type')) {
    case 'text':
      return (string(block, 'text') ?? '').trim() === '' ? ['text content blocks must be non-empty'] : []
    case 'thinking':
      if (role !== 'assistant') return ['a user who thinks']
      // A signature without a text is what newer models give.
      return string(block, 'thinking') === undefined || (string(block, 'signature') ?? '') === ''
        ? ['thinking that is not signed']
        : []
    case 'redacted_thinking':
      return (string(block, 'data') ?? '') === '' ? ['redacted thinking without its data'] : []
    case 'tool_use':
      return [
        ...(NAME.test(string(block, 'name') ?? '') ? [] : ['the name of a tool']),
        ...(/^[a-zA-Z0-9_-]+$/u.test(string(block, 'id') ?? '') ? [] : ['the id of a call']),
        ...(isObject(block['input']) ? [] : ['an input that is no object']),
      ]
    case 'tool_result':
      return resultFaults(block)
    case 'image':
    case 'document':
      return [...(role === 'user' ? [] : ['media in an answer']), ...mediaFaults(block)]
    case 'search_result':
      return list(block, 'content').length === 0 ? ['a search result without content'] : []
    case 'server_tool_use':
    case 'web_search_tool_result':
      return []
    default:
      return [`unknown block ${String(block['type'])}`]
  }
}

/** Pictures, in a message or in a result. */
function imagesIn(block: unknown): readonly unknown[] {
  if (string(block, 'type') === 'tool_result') return list(block, 'content').flatMap(imagesIn)
  return string(block, 'type') === 'image' ? [block] : []
}

function countImages(messages: readonly unknown[]): number {
  return messages.flatMap((message) => list(message, 'content').flatMap(imagesIn)).length
}

/** What the first bytes of each type of picture are in base64. */
const BEGINNINGS: Readonly<Record<string, string>> = {
  'image/png': 'iVBOR',
  'image/jpeg': '/9j/',
  'image/gif': 'R0lGOD',
  'image/webp': 'UklGR',
}

function sizeFaults(block: unknown, limit: number): readonly string[] {
  return imagesIn(block).flatMap((image) => {
    const source = object(image, 'source')
    const data = string(source, 'data')
    if (string(source, 'type') !== 'base64' || data === undefined) return []
    const beginning = BEGINNINGS[string(source, 'media_type') ?? '']
    if (beginning === undefined || !data.startsWith(beginning))
      return ['a picture that is not what it is called']
    const bytes = Buffer.from(data, 'base64')
    if (bytes.length > 5 * 1024 * 1024) return ['image exceeds 5 MB maximum']
    if (beginning !== 'iVBOR' || bytes.length < 24) return []
    const sides = [bytes.readUInt32BE(16), bytes.readUInt32BE(20)]
    return sides.some((side) => side > limit)
      ? [`image dimensions exceed max allowed size: ${limit} pixels`]
      : []
  })
}

function resultFaults(block: JsonObject): readonly string[] {
  const { content } = block
  if (content === undefined || typeof content === 'string') return []
  if (!Array.isArray(content)) return ['the content of a result']
  return content.flatMap((each) => {
    const type = string(each, 'type')
    return type === 'text' || type === 'image' || type === 'document' || type === 'search_result'
      ? blockFaults(each, 'user')
      : type === 'tool_reference'
        ? []
        : [`${String(type)} in a result`]
  })
}

function mediaFaults(block: JsonObject): readonly string[] {
  const source = block['source']
  const media = string(source, 'media_type') ?? ''
  switch (string(source, 'type')) {
    case 'base64': {
      const isTaken = block['type'] === 'image' ? IMAGES.includes(media) : media === 'application/pdf'
      return [
        ...(isTaken ? [] : [`media type ${media}`]),
        ...(/^[A-Za-z0-9+/]+={0,2}$/u.test(string(source, 'data') ?? '') ? [] : ['data that is no base64']),
      ]
    }
    case 'url':
      return /^https?:/u.test(string(source, 'url') ?? '') ? [] : ['an address that is none']
    case 'text':
      return block['type'] === 'document' && media === 'text/plain' ? [] : ['a source of text']
    case 'file':
      return []
    case 'content':
      return block['type'] === 'document' ? [] : ['a source of content']
    default:
      return ['a source of an unknown type']
  }
}

/** Noughts and halves of characters, as JSON writes them. */
function isSound(json: string): boolean {
  return !/\\u(?:0000|d[89a-f][0-9a-f]{2})/iu.test(json.replaceAll(/\\\\/gu, ''))
}

/**
 * What the Messages API says of thinking that it signed: it must come back in the answer it belongs to, with the same
 * blocks around it in the same order. `answers` are those that it gave.
 */
export function findSignedFaults(
  messages: readonly unknown[],
  answers: readonly (readonly object[])[],
): readonly string[] {
  const given = new Set(answers.map((answer) => JSON.stringify(answer)))
  return messages.flatMap((message, at) => {
    const content = list(message, 'content')
    const isSigned = content.some((block) => (string(block, 'type') ?? '').endsWith('thinking'))
    if (!isSigned || given.has(JSON.stringify(content))) return []
    return [`messages.${at}: thinking or redacted_thinking blocks cannot be modified`]
  })
}
