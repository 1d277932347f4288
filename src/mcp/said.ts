import { shorten } from '#base'
import {
  isWakeUp,
  parseDirectives,
  textOf,
  type Block,
  type Passage,
  type ReplyMessage,
  type ToolCall,
} from '#model'

/** A message as words. */
export interface Said {
  readonly id: string
  readonly at: string | undefined
  readonly speaker: 'human' | 'agent' | 'note'
  readonly text: string
}

/**
 * What people asked and what the agent answered, and nothing else: no calls, no results, no thinking, no directives,
 * nothing that was rewound or that nobody said.
 */
export function toSpoken(passages: readonly Passage[]): readonly Said[] {
  return passages.flatMap((passage): readonly Said[] => {
    if (passage.kind === 'damage' || passage.offPath) return []
    const { id, at } = passage
    if (passage.kind === 'prompt' && passage.origin !== 'system') {
      const text = textOf(passage.blocks).trim()
      return text === '' || isWakeUp(text) ? [] : [{ id, at, speaker: 'human', text }]
    }
    if (passage.kind !== 'reply' || passage.synthetic || passage.apiError) return []
    const text = toWords(passage)
    return text === '' ? [] : [{ id, at, speaker: 'agent', text }]
  })
}

function toWords({ blocks }: ReplyMessage): string {
  const texts = blocks.map((block) => (block.kind === 'text' ? parseDirectives(block.text).text.trim() : ''))
  return texts.filter((text) => text !== '').join('\n\n')
}

/**
 * What stands there, tools included, for somebody who looks closely. What only surrounds the conversation is not told.
 * Secrets are masked (`clean`) in what is cut: half of one is none that anybody would know.
 */
export function toShown(passage: Passage, clean: (text: string) => string): Said | undefined {
  if (passage.kind === 'damage') return note({ id: '', at: undefined }, 'bytes that cannot be read')
  switch (passage.kind) {
    case 'prompt': {
      const text = textOf(passage.blocks)
      if (isWakeUp(text)) return note(passage, 'a wake-up')
      const speaker = passage.origin === 'system' ? 'note' : 'human'
      return { id: passage.id, at: passage.at, speaker, text: text === '' ? '(no words)' : text }
    }
    case 'reply': {
      const calls = passage.calls.map((call) => toCallText(call, clean))
      const text = [textOf(passage.blocks), ...calls].filter((part) => part !== '').join('\n')
      return text === '' ? undefined : { id: passage.id, at: passage.at, speaker: 'agent', text }
    }
    case 'command':
      return note(passage, [passage.command, passage.args, passage.output].filter(Boolean).join(' '))
    case 'compaction':
      return note(passage, `compaction: ${textOf(passage.summary)}`)
    case 'notice':
      return note(passage, passage.text)
    case 'orphan':
      return note(passage, `result: ${textOf(passage.answer.content)}`)
    case 'aside':
      return undefined
  }
}

function note({ id, at }: { readonly id: string; readonly at?: string | undefined }, text: string): Said {
  return { id, at, speaker: 'note', text }
}

const INPUT = 300
const OUTPUT = 400

function toCallText({ use, state, result, work }: ToolCall, clean: (text: string) => string): string {
  const output = result === undefined ? '' : `: ${shorten(clean(textOf(result.content)).trim(), OUTPUT)}`
  const done = (work ?? []).flatMap((message) => toShown(message, clean)?.text ?? [])
  const subagent = done.map((text) => `\n  its subagent: ${shorten(clean(text), OUTPUT)}`).join('')
  return `tool ${use.name} ${shorten(clean(JSON.stringify(use.input) ?? ''), INPUT)} ${state}${output}${subagent}`
}

/** The same with nothing left out but the bytes of pictures: what a tool was given, and all that it gave. */
export function toWhole(passage: Passage): Said | undefined {
  // Nothing of these is cut.
  if (passage.kind !== 'reply' && passage.kind !== 'prompt') return toShown(passage, (text) => text)
  const calls = passage.kind === 'reply' ? passage.calls : []
  const text = [toWholeText(passage.blocks), ...calls.map(toWholeCall)]
    .filter((part) => part !== '')
    .join('\n')
  const speaker = passage.kind === 'reply' ? 'agent' : passage.origin === 'system' ? 'note' : 'human'
  return text === '' ? undefined : { id: passage.id, at: passage.at, speaker, text }
}

function toWholeCall({ use, state, result, work }: ToolCall): string {
  const output = result === undefined ? '' : `:\n${toWholeText(result.content)}`
  const done = (work ?? []).flatMap((message) => toWhole(message)?.text ?? [])
  const subagent = done.map((text) => `\nits subagent: ${text}`).join('')
  return `tool ${use.name} ${JSON.stringify(use.input) ?? ''} ${state}${output}${subagent}`
}

function toWholeText(blocks: readonly Block[]): string {
  return blocks
    .map((block) => {
      if (block.kind === 'text') return block.text
      if (block.kind !== 'image' && block.kind !== 'document') return ''
      const { source } = block
      if (source.kind === 'text') return source.text
      return `(${block.kind}${source.kind === 'url' ? ` ${source.url}` : ''})`
    })
    .filter((text) => text !== '')
    .join('\n\n')
}
