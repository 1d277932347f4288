import { toShortCount } from '#render'

/** How large the window was before a compaction and after it: `170k → 12k`. What is not known is left out. */
export function toCompactionSize({
  tokensBefore,
  tokensAfter,
}: {
  readonly tokensBefore?: number | undefined
  readonly tokensAfter?: number | undefined
}): string {
  if (tokensBefore === undefined) return tokensAfter === undefined ? '' : `to ${toShortCount(tokensAfter)}`
  const after = tokensAfter === undefined ? '' : ` → ${toShortCount(tokensAfter)}`
  return `${toShortCount(tokensBefore)}${after}`
}
