import type { VNode } from 'preact'
import type { Passage } from '#model'
import { UNWRITTEN } from './unwritten.ts'

/** What there is to say of a passage that is not, or not all, on disk. */
export function UnwrittenNote({ passage }: { passage: Passage }): VNode | null {
  if (passage.kind === 'damage') return null
  if (passage.entries.some(({ type }) => type === UNWRITTEN.lost)) {
    return (
      <p class="unwritten unwritten-lost">
        {passage.entries.every(({ type }) => type === UNWRITTEN.lost)
          ? 'Not saved: the agent said this and did not write it down.'
          : 'Not all of this was saved: the agent did not write down its end.'}
      </p>
    )
  }
  if (passage.entries.some(({ type }) => type === UNWRITTEN.sending))
    return <p class="unwritten">On its way to the agent…</p>
  return null
}
