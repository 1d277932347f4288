import type { Ask, AttentionState } from './attention.ts'
import type { ToolUseBlock } from './block.ts'
import type { Reading } from './reading.ts'

/** A call that a person changed before they allowed it. */
export interface ChangedCall {
  readonly toolUseId: string
  /** What ran in place of the input that the agent had called with. */
  readonly input: unknown
  readonly by: string
}

/** What was changed by an answer, if anything was. */
export function toChangedCall(ask: Ask | undefined, state: AttentionState): ChangedCall | undefined {
  if (state.state !== 'resolved' || state.resolution.kind !== 'allow') return undefined
  const { input } = state.resolution
  const toolUseId = ask?.toolUseId
  return input === undefined || toolUseId === undefined ? undefined : { toolUseId, input, by: state.by }
}

/** The same reading, with what ran beside each call that was changed. Without one it is the very same object. */
export function withChangedCalls(reading: Reading, changes: ReadonlyMap<string, ChangedCall>): Reading {
  if (changes.size === 0 || reading.kind === 'damage') return reading
  const { entry } = reading
  if (entry.kind !== 'reply') return reading
  const change = (block: ToolUseBlock): ToolUseBlock => {
    const changed = changes.get(block.id)
    return changed === undefined || block.changed !== undefined
      ? block
      : { ...block, changed: { input: changed.input, by: changed.by } }
  }
  const blocks = entry.blocks.map((block) => (block.kind === 'tool-use' ? change(block) : block))
  return blocks.every((block, at) => block === entry.blocks[at])
    ? reading
    : { kind: 'entry', entry: { ...entry, blocks } }
}
