import type { ComponentChildren, VNode } from 'preact'
import { splitExact, warnOfHidden } from '#render'
import './attention.css'

/** Text exactly as it will be used: what would not be seen is shown by its code point. */
export function Exact({ text }: { text: string }): VNode {
  return <>{toExactNodes(text)}</>
}

/** What a person should know of these texts before they decide. Nothing when all of it is plainly visible. */
export function HiddenWarning({ texts }: { texts: readonly string[] }): VNode | null {
  const warning = warnOfHidden(texts)
  return warning === undefined ? null : <p class="exact-warning">{warning}</p>
}

function toExactNodes(text: string): ComponentChildren {
  return splitExact(text).map((part) =>
    part.isHidden ? (
      <span class="hidden-character" title="Invisible, or looks like another character">
        {part.text}
      </span>
    ) : (
      part.text
    ),
  )
}
