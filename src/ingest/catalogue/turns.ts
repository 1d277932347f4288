import { createSlices } from '../slices.ts'

/** Does the same for sessions: for a few at once, for many in slices, between which other work has its turn. */
export interface Turns {
  /** One that waits already is done once. */
  add(ids: readonly string[]): void
  /** The work that is under way. */
  busy(): readonly Promise<void>[]
  close(): void
}

const FEW = 64

export function createTurns(act: (id: string) => void): Turns {
  const waiting = new Set<string>()
  let working: Promise<void> | undefined

  async function work(): Promise<void> {
    const slices = createSlices()
    try {
      await slices.next()
      for (const id of waiting) {
        waiting.delete(id)
        act(id)
        if (slices.isOver()) await slices.next()
      }
    } finally {
      working = undefined
    }
  }

  return {
    add(ids) {
      if (ids.length <= FEW) return ids.forEach(act)
      for (const id of ids) waiting.add(id)
      working ??= work()
    },
    busy: () => (working === undefined ? [] : [working]),
    close: () => waiting.clear(),
  }
}
