import type { VNode } from 'preact'
import { safeText } from '#render'
import { toWordDiff } from './word-diff.ts'

/** How one text became another, in one piece: what went is struck out, what came is underlined. */
export function WordDiff({ before, after }: { before: string; after: string }): VNode {
  if (before === after) return <p class="soft small">The same words.</p>
  return (
    <div class="word-diff" dir="auto" tabIndex={0} role="group" aria-label="What changed">
      {toWordDiff(before, after).map(({ kind, text }, at) => {
        const words = safeText(text)
        if (kind === 'added') return <ins key={at}>{words}</ins>
        return kind === 'removed' ? <del key={at}>{words}</del> : <span key={at}>{words}</span>
      })}
    </div>
  )
}
