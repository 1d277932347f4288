/** What the settings of an agent say of our entry. */
export type EntryState =
  | { readonly kind: 'absent' }
  /** `text` is how it stands there. */
  | { readonly kind: 'ours'; readonly text: string }
  | { readonly kind: 'foreign' }
  /** The settings cannot be read, or are written in a way that nothing can be added to. */
  | { readonly kind: 'unclear'; readonly reason: string }

/** Changes the text of an agent's settings, and of it only our entry. A file that is not there is `undefined`. */
export interface ConfigEdit {
  /** How our entry would stand in this text. */
  entry(text: string | undefined): string
  find(text: string): EntryState
  /** Only for a text without one. */
  insert(text: string | undefined, entry: string): string
  /** Only for a text with one of ours. When nobody else changed it since: exactly what was there before. */
  remove(text: string): string | undefined
}

/** The line break that a text has. */
export function lineBreakOf(text: string | undefined): string {
  return text?.includes('\r\n') === true ? '\r\n' : '\n'
}

/** A stretch of a text that may be what was put in. */
export interface Stretch {
  readonly from: number
  readonly to: number
}

/**
 * Takes the stretch out that gives back exactly this text when it is put in again. `undefined` when none does: somebody
 * else changed what is around it.
 */
export function takeBack(
  text: string,
  stretches: Iterable<Stretch>,
  putIn: (before: string) => string | undefined,
): string | undefined {
  for (const { from, to } of stretches) {
    const before = text.slice(0, from) + text.slice(to)
    if (putIn(before) === text) return before
  }
  return undefined
}
