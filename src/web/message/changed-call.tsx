import type { VNode } from 'preact'
import { toShortSigner } from '#model'
import { safeLine } from '#render'
import { toMarked } from './marks.tsx'

/** What a person changed before they allowed it: what the agent asked for, and what ran. */
export function ChangedCall(props: {
  by: string | undefined
  before: string
  after: string
  marks: readonly string[]
}): VNode {
  const { by, before, after, marks } = props
  return (
    <>
      <p class="note">Changed by {safeLine(toShortSigner(by ?? 'a person'))} before it ran</p>
      <div class="diff-rows" role="group" aria-label="What the agent asked for, and what ran">
        <div class="diff-row diff-removed">
          <span class="diff-sign">−</span>
          <span class="diff-text">{toMarked(before, marks)}</span>
        </div>
        <div class="diff-row diff-added">
          <span class="diff-sign">+</span>
          <span class="diff-text">{toMarked(after, marks)}</span>
        </div>
      </div>
    </>
  )
}
