import { object } from '#base'
import { toContent, type Block, type Entry } from '#model'
import { readExactContent } from './exact-content.ts'
import type { LossBook, Origin } from './loss.ts'
import { findMalformed } from './troubles/malformed.ts'
import type { SaidBlock } from './said.ts'

export function originOf(entry: Entry, index: number): Origin {
  return { entryId: entry.id, index }
}

/**
 * Blocks with the JSON they were read from: a provider that signed something wants it back as it was. It is looked for
 * when somebody asks for it: those who write in another form do not.
 */
export function saidBlocks(entry: Entry, blocks: readonly Block[], book: LossBook): readonly SaidBlock[] {
  let content: readonly unknown[] | undefined
  const exactOf = (index: number): unknown => {
    content ??= readExactContent(entry, blocks) ?? []
    const block = blocks[index]
    return content.length === blocks.length || block === undefined ? content[index] : toContent(block)
  }
  // Other providers have forms of their own; in those of Anthropic a block may be one that nobody takes.
  const isChecked = entry.provider === undefined || entry.provider === 'anthropic'
  return blocks.flatMap((block, index): readonly SaidBlock[] => {
    const origin = originOf(entry, index)
    const wrong = isChecked ? findMalformed(block, entry.kind === 'reply' ? 'answer' : 'said') : undefined
    if (wrong === undefined) {
      return [
        {
          block,
          get exact(): unknown {
            return exactOf(index)
          },
          origin,
        },
      ]
    }
    const { instead, reason } = wrong
    book.note('malformed-block', origin, { how: instead === undefined ? 'dropped' : 'changed', why: reason })
    return instead === undefined ? [] : [{ block: instead, exact: toContent(instead), origin }]
  })
}

export function exactBlocks(entry: Entry): readonly SaidBlock[] {
  return (readExactContent(entry, []) ?? []).flatMap((exact, index) => {
    const text = object({ exact }, 'exact')?.['text']
    if (typeof text !== 'string') return []
    return [{ block: { kind: 'text', text } as const, exact, origin: originOf(entry, index) }]
  })
}
