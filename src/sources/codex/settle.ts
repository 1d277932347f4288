import { textOf, type CompactionEntry, type Entry } from '#model'

/**
 * What only their order tells of the entries of a conversation: what a compaction left stands where it stood, and the
 * model of an answer, and where it worked, are those of the turn's context before it. Older lines name a folder only
 * in the words about the environment.
 */
export function settle(entries: readonly Entry[], before: readonly Entry[]): readonly Entry[] {
  let model: string | undefined
  let cwd: string | undefined
  return entries.flatMap((entry, index): readonly Entry[] => {
    if (entry.kind === 'compaction') return [entry, ...toLeft(entry, index === 0 ? before : [])]
    if (entry.kind === 'record' && entry.type === 'turn_context') {
      model = entry.value ?? model
      cwd = entry.cwd ?? cwd
    } else if (entry.kind === 'injection') cwd = entry.cwd ?? cwd
    return entry.kind === 'reply' ? [{ ...entry, model, cwd }] : [entry]
  })
}

/** What a compaction left: what its line holds, in older versions behind the last prompts before it. */
function toLeft(
  { history = [], keepsPrompts }: CompactionEntry,
  prompts: readonly Entry[],
): readonly Entry[] {
  if (keepsPrompts !== true) return history
  const kept: Entry[] = []
  let size = 0
  for (const prompt of prompts.toReversed()) {
    size += prompt.kind === 'prompt' ? Buffer.byteLength(textOf(prompt.blocks)) : 0
    if (size > KEPT_BYTES) break
    kept.unshift(prompt)
  }
  return [...kept, ...history]
}

/** Codex keeps 20,000 tokens of prompts, and takes four bytes for one. */
const KEPT_BYTES = 80_000
