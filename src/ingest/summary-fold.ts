import { shorten } from '#base'
import { textOf, toPromptTitle, type Entry, type Reading, type SessionSummary } from '#model'

const PROMPT_LENGTH = 1000

/** A summary after some more of the session was written. Says the same as a glance at the whole file would. */
export function growSummary(
  summary: SessionSummary,
  readings: readonly Reading[],
  size: number,
): SessionSummary {
  let { firstPrompt, gitBranch, createdAt, lastActivityAt, state, nameFrom, name } = summary
  const workdirs = new Set(summary.workdirs)
  for (const reading of readings) {
    if (reading.kind === 'damage') {
      state = 'damaged'
      continue
    }
    const { entry } = reading
    if (entry.at !== undefined) {
      createdAt ??= entry.at
      lastActivityAt = entry.at
    }
    gitBranch = entry.gitBranch ?? gitBranch
    if (entry.cwd !== undefined) workdirs.add(entry.cwd)
    if (state === 'empty' && (entry.kind === 'prompt' || entry.kind === 'reply')) state = 'ok'
    if (entry.kind === 'prompt' && entry.origin !== 'system' && entry.queued !== true)
      firstPrompt ??= promptOf(entry)
    if (entry.kind !== 'record' || entry.value === undefined) continue
    if (entry.type === 'relocated') workdirs.add(entry.value)
    if (entry.type === 'custom-title') {
      name = entry.value
      nameFrom = 'custom'
    } else if (entry.type === 'ai-title' && nameFrom !== 'custom') {
      name = entry.value
      nameFrom = 'agent'
    }
  }
  if (nameFrom === undefined && firstPrompt !== undefined) {
    name = toPromptTitle(firstPrompt)
    nameFrom = 'prompt'
  }
  return {
    ...summary,
    size,
    firstPrompt,
    gitBranch,
    createdAt,
    lastActivityAt,
    state,
    name,
    nameFrom,
    workdirs: workdirs.size === summary.workdirs.length ? summary.workdirs : [...workdirs],
  }
}

function promptOf(entry: Extract<Entry, { kind: 'prompt' }>): string | undefined {
  const text = textOf(entry.blocks)
  return text === '' ? undefined : shorten(text, PROMPT_LENGTH)
}
