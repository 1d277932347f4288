import { open, rename, rm } from 'node:fs/promises'
import { findSystemRefusal, ThroughlineError } from '#base'

/** Writes a file that only its owner can read. Without `force` an existing one stays; a failure leaves no half of one. */
export async function writePieces(
  path: string,
  pieces: AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>,
  options: { readonly force: boolean },
): Promise<number> {
  const target = options.force ? `${path}.${process.pid}.tmp` : path
  const file = await open(target, 'wx', 0o600).catch((cause: unknown) => {
    throw toWriteError(path, cause)
  })
  let size = 0
  try {
    for await (const piece of pieces) {
      const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece
      await file.writeFile(bytes)
      size += bytes.length
    }
    await file.sync()
    await file.close()
    if (options.force) await rename(target, path)
  } catch (error) {
    await file.close().catch(() => {})
    await rm(target, { force: true })
    throw toWriteError(path, error)
  }
  return size
}

/** The same for a text. */
export async function writeOutput(
  path: string,
  text: string,
  options: { readonly force: boolean },
): Promise<void> {
  await writePieces(path, [text], options)
}

/** Of the file or of the disk; what went wrong with the pieces is told as it is. */
function toWriteError(path: string, cause: unknown): unknown {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
  if (code === 'EEXIST') {
    return new ThroughlineError('output-exists', `${path} is already there`, {
      hint: 'Choose another name, or add --force to replace it.',
      cause,
    })
  }
  const refusal = findSystemRefusal(cause)
  if (refusal === undefined) return cause
  return new ThroughlineError('output-unwritable', `cannot write ${path}: ${refusal.says}`, {
    hint: refusal.hint,
    cause,
  })
}
