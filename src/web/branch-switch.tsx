import type { VNode } from 'preact'
import type { BranchPath } from '#wire'
import { Icon } from './icon.tsx'

/** Where the person went back and said something else: each way can be looked at. */
export function BranchSwitch(props: {
  branches: readonly BranchPath[]
  chosen: string | undefined
  onChoose: (leafId: string | undefined) => void
}): VNode {
  const ways = [undefined, ...props.branches.map(({ leafId }) => leafId)]
  const at = Math.max(0, ways.indexOf(props.chosen))
  const branch = props.branches.find(({ leafId }) => leafId === props.chosen)
  const go = (by: number): void => props.onChoose(ways[(at + by + ways.length) % ways.length])
  return (
    <div class="fork" role="group" aria-label="Branches of the conversation">
      <Icon name="branch" />
      <button type="button" class="icon-button small" aria-label="Previous branch" onClick={() => go(-1)}>
        ‹
      </button>
      <span aria-live="polite">
        {at + 1} of {ways.length}:{' '}
        {branch === undefined ? 'the way it went on' : `set aside — ${branch.text}`}
      </span>
      <button type="button" class="icon-button small" aria-label="Next branch" onClick={() => go(1)}>
        ›
      </button>
    </div>
  )
}
