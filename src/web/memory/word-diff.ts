import { string } from '#base'
import { toLineDiff, type DiffLine } from '#model'

/** A stretch of two texts: in both, or in one of them. */
export interface WordStretch {
  readonly kind: DiffLine['kind']
  readonly text: string
}

/** How one text became another, word by word. What is not `added` is the first text, what is not `removed` the second. */
export function toWordDiff(before: string, after: string): readonly WordStretch[] {
  const out: { kind: DiffLine['kind']; text: string }[] = []
  for (const { kind, text: line } of toLineDiff(toLines(before), toLines(after))) {
    const text = fromLine(line)
    const last = out.at(-1)
    if (last?.kind === kind) last.text += text
    else if (text !== '') out.push({ kind, text })
  }
  return joinAcrossGaps(out)
}

/** Words that changed one after another are one change, not one for each: the spaces between go with them. */
function joinAcrossGaps(parts: readonly WordStretch[]): readonly WordStretch[] {
  const out: WordStretch[] = []
  let at = 0
  while (at < parts.length) {
    const end = findRunEnd(parts, at)
    const run = parts.slice(at, end)
    if (end - at < 2) out.push(...run)
    else {
      const removed = textOf(run, 'added')
      const added = textOf(run, 'removed')
      if (removed !== '') out.push({ kind: 'removed', text: removed })
      if (added !== '') out.push({ kind: 'added', text: added })
    }
    at = end
  }
  return out
}

/** Where a run of changes ends that begins here: right behind this stretch when it is none. */
function findRunEnd(parts: readonly WordStretch[], from: number): number {
  let end = from + 1
  if (parts[from]?.kind === 'same') return end
  for (let at = end; at < parts.length; at++) {
    const part = parts[at]
    if (part === undefined || (part.kind === 'same' && part.text.trim() !== '')) break
    if (part.kind !== 'same') end = at + 1
  }
  return end
}

function textOf(parts: readonly WordStretch[], without: WordStretch['kind']): string {
  return parts.map(({ kind, text }) => (kind === without ? '' : text)).join('')
}

/** One token a line. Line breaks are written in a way that is none. */
function toLines(text: string): string {
  const tokens = text.match(/\s+|[\p{L}\p{N}\p{M}_]+|[^\s\p{L}\p{N}\p{M}_]/gu) ?? []
  return tokens.map((token) => JSON.stringify({ token })).join('\n')
}

function fromLine(line: string): string {
  if (line === '') return ''
  const read: unknown = JSON.parse(line)
  return string(read, 'token') ?? ''
}
