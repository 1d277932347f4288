/** Something that is opened when it is first needed, once for all who need it. */
export interface OpenedOnce<T> {
  /** Opens it. Where that fails, whoever asks next tries again. */
  readonly open: () => Promise<T>
  /** What is open already. */
  readonly now: T | undefined
  /** What is open, or being opened; nothing when nobody needed it, or it failed. */
  readonly opened: () => Promise<T | undefined>
}

/** Opens with `open` what is asked for. */
export function openOnce<T>(open: () => Promise<T>): OpenedOnce<T> {
  let opening: Promise<T> | undefined
  let now: T | undefined
  async function begin(): Promise<T> {
    try {
      now = await open()
      return now
    } catch (error) {
      opening = undefined
      throw error
    }
  }
  return {
    open: () => (opening ??= begin()),
    get now() {
      return now
    },
    opened: async () => await opening?.catch(() => undefined),
  }
}
