import type { VNode } from 'preact'
import { safeLine } from '#render'

/** Tags, to look at. */
export function TagList({ tags }: { tags: readonly string[] }): VNode | null {
  if (tags.length === 0) return null
  return (
    <>
      {tags.map((tag) => (
        <span key={tag} class="tag memory-tag">
          #{safeLine(tag.slice(0, 60))}
        </span>
      ))}
    </>
  )
}
