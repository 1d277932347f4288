import type { ComponentChildren, VNode } from 'preact'

/**
 * Everything that is not plainly visible: controls, spaces of other widths, what joins, separates, reorders or hides.
 * In what a person is asked to allow, each of them is shown by its number, emoji and foreign scripts included: a
 * command has no need of them.
 */
const HIDDEN =
  // oxlint-disable-next-line no-control-regex, no-misleading-character-class
  /[\u0000-\u0008\u000b-\u001f\u007f-\u00a0\u00ad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f\u2000-\u200f\u2028-\u202f\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]|\p{Cs}|\p{Co}|\p{Cn}/gu

/** A stretch of text, or a character that would not be seen, by its number. */
export interface ExactPart {
  readonly text: string
  readonly isHidden: boolean
}

/** Cuts a text at what would not be seen. Nothing is left out: only line breaks and tabs stay what they are. */
export function splitExact(text: string): readonly ExactPart[] {
  const parts: ExactPart[] = []
  let last = 0
  for (const found of text.matchAll(HIDDEN)) {
    if (found.index > last) parts.push({ text: text.slice(last, found.index), isHidden: false })
    parts.push({ text: toNumber(found[0]), isHidden: true })
    last = found.index + found[0].length
  }
  if (last < text.length) parts.push({ text: text.slice(last), isHidden: false })
  return parts
}

/** Whether there is anything in a text that would not be seen. */
export function hasHidden(text: string): boolean {
  return text.search(HIDDEN) >= 0
}

function toNumber(character: string): string {
  const number = character.codePointAt(0) ?? 0
  return `U+${number.toString(16).toUpperCase().padStart(4, '0')}`
}

/** Text exactly as it will be used. */
export function Exact({ text }: { text: string }): VNode {
  return <>{toExactNodes(text)}</>
}

function toExactNodes(text: string): ComponentChildren {
  return splitExact(text).map((part) =>
    part.isHidden ? (
      <span class="hidden-character" title="A character that is not visible">
        {part.text}
      </span>
    ) : (
      part.text
    ),
  )
}
