import type { Change, EntryRow, Store } from '#store'

/** What of a store takes in what is read of files. */
export interface FedStore extends Pick<Store, 'files' | 'apply' | 'close'> {
  /** What this machine is called in it. */
  readonly origin: string
}

export interface MaskOptions {
  /** A text without its secrets. Throws where it cannot be looked through. */
  readonly mask: (text: string) => string
  /** A text was left out, for it could not be looked through. */
  readonly onHeld?: (() => void) | undefined
}

/**
 * A store that is told no text before it was masked. One that cannot be masked is not told: its entry is there, and
 * nothing is found in it. Whatever fails in the store is the store's failure, and no file's.
 */
export function toMaskedStore(
  store: FedStore,
  { mask, onHeld }: MaskOptions,
): Pick<Store, 'files' | 'apply'> {
  function toMasked(entry: EntryRow): EntryRow {
    const text: { said?: string; thought?: string; tool?: string } = {}
    for (const tier of ['said', 'thought', 'tool'] as const) {
      const words = entry.text[tier]
      if (words === undefined) continue
      try {
        text[tier] = mask(words)
      } catch {
        onHeld?.()
      }
    }
    return { ...entry, text }
  }

  return {
    files: () => asStoreFailure(() => store.files()),
    async apply(changes) {
      const masked = changes.map((change): Change =>
        change.kind === 'advance' ? { ...change, entries: change.entries.map(toMasked) } : change,
      )
      return await asStoreFailure(() => store.apply(masked))
    },
  }
}

/** Of an error of ours that comes from a file, the file is passed over. One of the store must not be taken for that. */
async function asStoreFailure<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (cause) {
    throw new Error('the store did not answer', { cause })
  }
}
