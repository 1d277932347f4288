import type { Block, ToolResultBlock } from './block.ts'
import type { ResultEntry } from './entry.ts'
import type { ToolAnswer, ToolCall } from './message.ts'

/** What a call came to; what stood beside it in its line is a part of it. */
export function toAnswer(entry: ResultEntry, result: ToolResultBlock, beside: readonly Block[]): ToolAnswer {
  return {
    entryId: entry.id,
    ...(entry.at === undefined ? {} : { at: entry.at }),
    content: beside.length === 0 ? result.content : [...result.content, ...beside],
    isError: result.isError,
    ...(entry.decision === undefined ? {} : { decision: entry.decision }),
    ...(entry.startedAgentId === undefined ? {} : { startedAgentId: entry.startedAgentId }),
  }
}

/** An answer that is over and called something waits for what it called; any other has come to its end. */
export function stopOf(blocks: readonly Block[]): string {
  return blocks.some(({ kind }) => kind === 'tool-use') ? 'tool_use' : 'end_turn'
}

/** A call with what came of it. */
export function toCall(use: ToolCall['use'], answers: ReadonlyMap<string, ToolAnswer>): ToolCall {
  const result = answers.get(use.id)
  if (result === undefined) return { use, state: 'pending' }
  if (result.decision?.outcome === 'rejected') return { use, state: 'refused', result }
  return { use, state: result.isError ? 'failed' : 'done', result }
}
