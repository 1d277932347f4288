import { ThroughlineError, type JsonObject } from '#base'
import { createBlobStore, hashText, type Journal } from '#journal'
import { takeBlobsOut, type TakingOut } from '#model'

/** Puts lines on disk, with or without what is long in them. */
export interface LineWriter {
  /** Resolves when all of the lines are on disk, and what they refer to before them; rejects when none is. */
  write(lines: readonly JsonObject[]): Promise<void>
}

/** Text that takes more bytes can have a file of its own. */
const LARGE_TEXT_BYTES = 10 * 1024

/**
 * `lines`: text stands in its line as long as a journal takes the line, and only then in a file of its own. `blobs`:
 * all text that is large.
 */
export function createLineWriter(
  journal: Journal,
  options: { readonly blobsFolder: string; readonly large: 'lines' | 'blobs' },
): LineWriter {
  const blobs = createBlobStore(options.blobsFolder)

  async function writeWithout(grain: TakingOut['grain'], lines: readonly JsonObject[]): Promise<void> {
    const taken = lines.map((line) => takeBlobsOut(line, { limit: LARGE_TEXT_BYTES, hash: hashText, grain }))
    for (const { texts } of taken) {
      for (const [sha256, text] of texts) await blobs.put(sha256, text)
    }
    await journal.appendAll(taken.map(({ line }) => line))
  }

  return {
    async write(lines) {
      const ways = [
        ...(options.large === 'lines' ? [async () => void (await journal.appendAll(lines))] : []),
        async () => await writeWithout('texts', lines),
        // Long because of many things that are short.
        async () => await writeWithout('wholes', lines),
      ]
      let refusal: unknown
      for (const way of ways) {
        try {
          await way()
          return
        } catch (error) {
          if (!isTooLong(error)) throw error
          refusal ??= error
        }
      }
      throw refusal
    },
  }
}

/** The journal refuses a line that is too long, and JavaScript a text that is. */
function isTooLong(error: unknown): boolean {
  return (
    error instanceof RangeError || (error instanceof ThroughlineError && error.cause instanceof RangeError)
  )
}
