import type { VNode } from 'preact'
import type { Block } from '#model'
import { toJson } from '#render'
import { describeThing } from './block-words.ts'
import { Fold } from './fold.tsx'
import { TerminalOutput } from './lazy-output.ts'
import { toMarked } from './marks.tsx'

/** A block without words of its own: what it is, and of one that nobody knows all that is in it. */
export function ThingView({ block, marks }: { block: Block; marks: readonly string[] }): VNode {
  const words = toMarked(describeThing(block), marks)
  if (block.kind !== 'unknown') return <p class="thing">{words}</p>
  return (
    <Fold of={block} class="fold-quiet" summary={words}>
      {() => <TerminalOutput of={block} text={toJson(block.value)} marks={marks} what="block" />}
    </Fold>
  )
}
