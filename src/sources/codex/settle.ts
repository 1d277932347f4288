import type { Entry } from '#model'

/**
 * What only their order tells of the entries of a conversation: what a compaction left stands where it stood, and the
 * model of an answer, and where it worked, are those of the turn's context before it.
 */
export function settle(entries: readonly Entry[]): readonly Entry[] {
  let model: string | undefined
  let cwd: string | undefined
  return entries.flatMap((entry): readonly Entry[] => {
    if (entry.kind === 'compaction') return [entry, ...(entry.history ?? [])]
    if (entry.kind === 'record' && entry.type === 'turn_context') {
      model = entry.value ?? model
      cwd = entry.cwd ?? cwd
    }
    return entry.kind === 'reply' ? [{ ...entry, model, cwd }] : [entry]
  })
}
