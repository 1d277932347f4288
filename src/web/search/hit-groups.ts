import type { SearchHit, Snippet } from '#wire'

/** Hits of one session that stand next to each other. */
export interface HitGroup {
  readonly key: string
  readonly session: SearchHit['session']
  readonly hits: readonly SearchHit[]
}

/** The order stays: a session that comes up again further down is a group again. */
export function toHitGroups(hits: readonly SearchHit[]): readonly HitGroup[] {
  const groups: { key: string; session: SearchHit['session']; hits: SearchHit[] }[] = []
  for (const hit of hits) {
    const last = groups.at(-1)
    if (last?.session.id === hit.session.id) last.hits.push(hit)
    else groups.push({ key: `${groups.length} ${hit.session.id}`, session: hit.session, hits: [hit] })
  }
  return groups
}

/** A stretch of a snippet that was, or was not, searched for. */
export interface SnippetPart {
  readonly text: string
  readonly marked: boolean
}

/** The snippet in stretches, whole: put together again they are its text, whatever the marks are. */
export function toSnippetParts({ text, marks }: Snippet): readonly SnippetPart[] {
  const parts: SnippetPart[] = []
  let at = 0
  for (const [start, end] of marks.toSorted(([a], [b]) => a - b)) {
    const from = Math.max(at, start)
    const to = Math.min(end, text.length)
    if (!(from < to)) continue
    if (at < from) parts.push({ text: text.slice(at, from), marked: false })
    parts.push({ text: text.slice(from, to), marked: true })
    at = to
  }
  if (at < text.length) parts.push({ text: text.slice(at), marked: false })
  return parts
}

/** Whose words they are, or what they came out of, in a word. */
export function toSpeaker(hit: SearchHit): string {
  if (hit.tool !== undefined && hit.tool !== '') return hit.tool
  if (hit.where === 'thought') return 'Thinking'
  switch (hit.entry.kind) {
    case 'prompt':
      return 'Prompt'
    case 'reply':
      return 'Reply'
    case 'result':
      return 'Result'
    case 'command':
      return 'Command'
    case 'summary':
    case 'compaction':
      return 'Summary'
    case 'interruption':
      return 'Interruption'
    case 'injection':
    case 'context':
      return 'Context'
    case 'delegated':
      return 'Subagent'
    case 'notice':
      return 'Notice'
    case 'record':
    case 'oversize':
    case 'unknown':
      return 'Record'
  }
}
