import { isObject } from '#base'
import type { Block } from '#model'
import type { Loss } from './loss.ts'
import type { Said, SaidBlock, SaidMessage } from './said.ts'

/**
 * The conversation with every id of a call there once. Some servers count their calls anew in each answer, and
 * providers of others refuse an id that comes back: it gets a number, and so does the result that answers it. The same
 * conversation where no id is there twice.
 */
export function toSingleIds(said: Said): Said {
  const counts = new Map<string, number>()
  const losses: Loss[] = []
  /** New ids of the calls of the last answer, in their order. */
  let renamed = new Map<string, string[]>()
  const messages = said.messages.map((message): SaidMessage => {
    if (message.role === 'user') return renamed.size === 0 ? message : withResults(message, renamed)
    renamed = new Map()
    let isSame = true
    const blocks = message.blocks.map((each): SaidBlock => {
      const { block, origin } = each
      if (block.kind !== 'tool-use') return each
      const count = (counts.get(block.id) ?? 0) + 1
      counts.set(block.id, count)
      const id = count === 1 ? block.id : toFree(block.id, count, counts)
      renamed.set(block.id, [...(renamed.get(block.id) ?? []), id])
      if (id === block.id) return each
      isSame = false
      losses.push({
        kind: 'tool-id',
        origin,
        how: 'changed',
        why: `${block.id} is the id of an earlier call`,
      })
      return withId(each, { ...block, id }, { id })
    })
    if (isSame) renamed = new Map()
    return isSame ? message : { ...message, blocks }
  })
  return losses.length === 0 ? said : { ...said, messages, losses: [...said.losses, ...losses] }
}

function toFree(id: string, count: number, counts: Map<string, number>): string {
  let number = count
  while (counts.has(`${id}_${number}`)) number++
  counts.set(`${id}_${number}`, 1)
  return `${id}_${number}`
}

function withResults(message: SaidMessage, renamed: ReadonlyMap<string, string[]>): SaidMessage {
  const blocks = message.blocks.map((each): SaidBlock => {
    const { block } = each
    const id = block.kind === 'tool-result' ? renamed.get(block.toolUseId)?.shift() : undefined
    if (block.kind !== 'tool-result' || id === undefined || id === block.toolUseId) return each
    return withId(each, { ...block, toolUseId: id }, { tool_use_id: id })
  })
  return { ...message, blocks }
}

function withId(said: SaidBlock, block: Block, fields: object): SaidBlock {
  return { ...said, block, exact: isObject(said.exact) ? { ...said.exact, ...fields } : said.exact }
}
