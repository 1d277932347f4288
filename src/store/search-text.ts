import { hasDirectives, isWakeUpEntry, type Block, type Entry, type ReplyEntry } from '#model'
import type { SearchTier } from '#wire'
import type { Speaker } from './store.ts'

/** What can be found in an entry, by who said it. */
export interface SearchText {
  readonly speaker: Speaker
  readonly isError: boolean
  /** An agent asks in it that something is kept. */
  readonly hasDirective: boolean
  /** Names of tools that are called, and the ids of calls that are called or answered. */
  readonly tool: string | undefined
  readonly callIds: readonly string[]
  readonly text: { readonly [Tier in SearchTier]?: string }
}

/** The words of an entry; `undefined` when it has none. */
export function toSearchText(entry: Entry): SearchText | undefined {
  switch (entry.kind) {
    case 'prompt':
      // What it says stands elsewhere already, where somebody said it.
      if (isWakeUpEntry(entry)) return undefined
      return fromBlocks(entry.blocks, PROMPT_SPEAKERS[entry.origin], 'said')
    case 'reply':
      return fromReply(entry)
    case 'summary':
      return fromBlocks(entry.blocks, 'agent', 'said')
    case 'result':
      return fromBlocks(entry.blocks, 'tool', 'tool')
    case 'injection':
      return fromBlocks(entry.blocks, 'system', 'tool')
    case 'command':
      return fromCommand(entry.command, entry.args, entry.output)
    case 'notice':
      return entry.text === ''
        ? undefined
        : {
            speaker: 'system',
            isError: entry.level === 'error',
            hasDirective: false,
            tool: undefined,
            callIds: NO_IDS,
            text: { tool: entry.text },
          }
    case 'delegated':
      // It is found in the subagent's own file where there is one. Nobody answers to it who could keep anything.
      return entry.inFile ? undefined : withoutDirective(toSearchText(entry.work))
    case 'interruption':
    case 'compaction':
    case 'context':
    case 'record':
    case 'oversize':
    case 'unknown':
      return undefined
  }
}

function withoutDirective(found: SearchText | undefined): SearchText | undefined {
  return found?.hasDirective ? { ...found, hasDirective: false } : found
}

function fromReply({ blocks, apiError, synthetic }: ReplyEntry): SearchText | undefined {
  const found = fromBlocks(blocks, 'agent', 'said', apiError)
  const isAsking =
    !synthetic && !apiError && blocks.some((block) => block.kind === 'text' && hasDirectives(block.text))
  return found !== undefined && isAsking ? { ...found, hasDirective: true } : found
}

const NO_IDS: readonly string[] = []

const PROMPT_SPEAKERS = { person: 'human', program: 'program', system: 'system' } as const

function fromCommand(
  command: string | undefined,
  args: string | undefined,
  output: string | undefined,
): SearchText | undefined {
  const said = [command, args].filter(Boolean).join(' ')
  if (said === '' && (output ?? '') === '') return undefined
  return {
    speaker: said === '' ? 'system' : 'human',
    isError: false,
    hasDirective: false,
    tool: undefined,
    callIds: NO_IDS,
    text: {
      ...(said === '' ? {} : { said }),
      ...(output === undefined || output === '' ? {} : { tool: output }),
    },
  }
}

function fromBlocks(
  blocks: readonly Block[],
  speaker: Speaker,
  words: 'said' | 'tool',
  failed = false,
): SearchText | undefined {
  let said = ''
  let thought = ''
  let toolText = ''
  let tool: string | undefined
  let callIds: string[] | undefined
  let isError = failed
  for (const block of blocks) {
    switch (block.kind) {
      case 'text':
        if (words === 'said') said = joined(said, block.text)
        else toolText = joined(toolText, block.text)
        break
      case 'thinking':
        thought = joined(thought, block.thinking)
        break
      case 'tool-use':
        tool ??= block.name
        callIds ??= []
        callIds.push(block.id)
        toolText = joined(toolText, block.name)
        toolText = withLeaves(toolText, block.input)
        break
      case 'tool-result':
        callIds ??= []
        callIds.push(block.toolUseId)
        isError ||= block.isError
        for (const part of block.content) if (part.kind === 'text') toolText = joined(toolText, part.text)
        break
      case 'document':
        if (block.title !== undefined) said = joined(said, block.title)
        if (block.source.kind === 'text') toolText = joined(toolText, block.source.text)
        break
      case 'unknown':
        toolText = withWords(toolText, block.value)
        break
      case 'redacted-thinking':
      case 'image':
        break
    }
  }
  if (said === '' && thought === '' && toolText === '') return undefined
  return {
    speaker,
    isError,
    hasDirective: false,
    tool,
    callIds: callIds ?? NO_IDS,
    text: {
      ...(said === '' ? {} : { said }),
      ...(thought === '' ? {} : { thought }),
      ...(toolText === '' ? {} : { tool: toolText }),
    },
  }
}

function joined(text: string, more: string): string {
  return text === '' ? more : more === '' ? text : `${text}\n${more}`
}

/** Deeper than this no tool's input goes. */
const DEPTH = 32

/** Every string and number of a tool's input, and no key: keys are the same in every call. */
function withLeaves(text: string, value: unknown, depth = 0): string {
  if (typeof value === 'string') return joined(text, value)
  if (typeof value === 'number') return joined(text, String(value))
  if (typeof value !== 'object' || value === null || depth > DEPTH) return text
  let all = text
  for (const item of Array.isArray(value) ? value : Object.values(value))
    all = withLeaves(all, item, depth + 1)
  return all
}

/** Ids, kinds and states of what a provider does on its side say nothing that anybody looks for. */
const NO_WORDS: ReadonlySet<string> = new Set(['type', 'id', 'call_id', 'tool_use_id', 'status', 'role'])
/** A long string without a space is sealed or encoded. */
const LONGEST_WORD = 300

/** The words of a block that no reader knows: what a model asked a provider's own tool for, and what it said. */
function withWords(text: string, value: unknown, depth = 0): string {
  if (typeof value === 'string')
    return value.length > LONGEST_WORD && !/\s/u.test(value) ? text : joined(text, value)
  if (typeof value !== 'object' || value === null || depth > DEPTH) return text
  let all = text
  for (const [key, item] of Object.entries(value))
    if (!NO_WORDS.has(key)) all = withWords(all, item, depth + 1)
  return all
}
