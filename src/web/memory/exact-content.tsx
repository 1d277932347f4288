import type { VNode } from 'preact'
import type { MemoryDocument } from '#model'
import { Exact, HiddenWarning } from '../live/exact-text.tsx'

/** All that a document says, exactly as an agent would be told it. */
export function ExactContent({ document: { content } }: { document: MemoryDocument }): VNode {
  return (
    <>
      <pre class="exact" aria-label="What it says">
        <Exact text={content} />
      </pre>
      <HiddenWarning texts={[content]} />
    </>
  )
}
