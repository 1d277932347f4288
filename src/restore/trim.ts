import { isObject, object, string, type JsonObject } from '#base'
import { toContent, type Block, type ToolUseBlock, type Trim } from '#model'
import { toDescription } from './media.ts'
import type { Origin } from './loss.ts'
import { toReference } from './reference.ts'
import type { Said, SaidBlock, SaidMessage } from './said.ts'

export interface Trimmed {
  readonly said: Said
  readonly trims: readonly Trim[]
}

export interface TrimOptions {
  /** The session in which all of it stays. */
  readonly sessionId: string
  /** The entry from which on everything stays as it is. */
  readonly verbatimFrom?: string | undefined
}

const LONG_OUTPUT = 2_400
const HEAD = 1_200
const TAIL = 800
const LONG_BODY = 400
/** Parts of the input of a call that hold what is written. */
const BODIES = [
  'content',
  'new_string',
  'old_string',
  'newString',
  'oldString',
  'new_source',
  'patch',
  'input',
]

/**
 * Shortens what can be looked up again, without asking a model: the middle of long results, pictures, and what was
 * written into a file that was written again later. Each says how it is read in full. The same
 * messages give the same, and what was shortened is not shortened again.
 */
export function toTrimmed(said: Said, { sessionId, verbatimFrom }: TrimOptions): Trimmed {
  const trims: Trim[] = []
  const last = lastWrites(said)
  const found = said.messages.findIndex(({ blocks }) =>
    blocks.some(({ origin }) => origin.entryId === verbatimFrom),
  )
  const border = found < 0 ? said.messages.length : found
  const messages = said.messages.map((message, at): SaidMessage => {
    if (at >= border) return message
    const blocks = message.blocks.map((block) => trimBlock(block, { last, trims, at, sessionId }))
    return { ...message, blocks }
  })
  return { said: { ...said, messages }, trims }
}

interface Trimming {
  /** The message in which each file was written last. */
  readonly last: ReadonlyMap<string, number>
  readonly trims: Trim[]
  readonly at: number
  readonly sessionId: string
}

function lastWrites({ messages }: Said): ReadonlyMap<string, number> {
  const last = new Map<string, number>()
  for (const [at, { blocks }] of messages.entries()) {
    for (const { block } of blocks) {
      const path = block.kind === 'tool-use' ? writtenPath(block) : undefined
      if (path !== undefined) last.set(path, at)
    }
  }
  return last
}

function writtenPath({ input }: ToolUseBlock): string | undefined {
  if (!BODIES.some((key) => string(input, key) !== undefined)) return undefined
  return ['file_path', 'filePath', 'notebook_path', 'path']
    .map((key) => string(input, key))
    .find((path) => path !== undefined)
}

function trimBlock(said: SaidBlock, trimming: Trimming): SaidBlock {
  const { block, origin } = said
  switch (block.kind) {
    case 'tool-result': {
      const content = block.content.map((inner) => trimOutput(inner, origin, trimming))
      return content.every((inner, at) => inner === block.content[at])
        ? said
        : changed(said, { ...block, content })
    }
    case 'image':
    case 'document':
      return changed(said, trimOutput(block, origin, trimming))
    case 'tool-use':
      return trimBody(said, block, trimming)
    case 'text':
    case 'thinking':
    case 'redacted-thinking':
    case 'unknown':
      return said
  }
}

function changed(said: SaidBlock, block: Block): SaidBlock {
  if (block === said.block) return said
  const shorter = withoutCopies(block)
  return { ...said, block: shorter, exact: toContent(shorter) }
}

/** Without the text that OpenAI's items keep beside what was read from it: it is what was shortened. */
function withoutCopies(block: Block): Block {
  const own = 'extra' in block ? object(block.extra, 'openai') : undefined
  if (own === undefined || !('extra' in block)) return block
  const { arguments: _arguments, input: _input, output: _output, ...openai } = own
  return { ...block, extra: { ...block.extra, openai } }
}

function trimOutput(block: Block, origin: Origin, { trims, sessionId }: Trimming): Block {
  const there = toReference(sessionId, origin.entryId)
  if (block.kind === 'text' && block.text.length > LONG_OUTPUT) {
    const left = block.text.length - HEAD - TAIL
    trims.push({ origin, what: 'output', left })
    const middle = `[… ${left} characters are left out here; ${there} has them …]`
    return { kind: 'text', text: `${cut(block.text, 0, HEAD)}\n${middle}\n${cut(block.text, -TAIL)}` }
  }
  if ((block.kind === 'image' || block.kind === 'document') && block.source.kind === 'base64') {
    trims.push({ origin, what: 'media', left: block.source.data.length })
    return { kind: 'text', text: `[${toWhat(block)}: ${toDescription(block.source)}; ${there} tells of it]` }
  }
  return block
}

function toWhat({ kind }: Block): string {
  return kind === 'image' ? 'An image' : 'A document'
}

/** A piece of a text that does not begin or end within a character. */
function cut(text: string, from: number, to?: number): string {
  return text
    .slice(from, to)
    .replace(/^[\uDC00-\uDFFF]/u, '')
    .replace(/[\uD800-\uDBFF]$/u, '')
}

function trimBody(said: SaidBlock, block: ToolUseBlock, { last, trims, at, sessionId }: Trimming): SaidBlock {
  const path = writtenPath(block)
  if (path === undefined || last.get(path) === at || !isObject(block.input)) return said
  let left = 0
  const input: JsonObject = Object.fromEntries(
    Object.entries(block.input).map(([key, value]) => {
      if (typeof value !== 'string' || value.length <= LONG_BODY || !BODIES.includes(key)) return [key, value]
      left += value.length
      return [
        key,
        `[${value.length} characters, replaced by a later change; ${toReference(sessionId, said.origin.entryId)} has them]`,
      ]
    }),
  )
  if (left === 0) return said
  trims.push({ origin: said.origin, what: 'body', left })
  return changed(said, { ...block, input })
}
