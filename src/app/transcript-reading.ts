import { openTranscript, type TranscriptFile } from '#sources'

const PIECE = 256 * 1024

/** Opens a transcript, gives what is made of it, and closes it, whoever stops first. */
export async function* withFile<T>(
  path: string,
  use: (file: TranscriptFile) => AsyncGenerator<T>,
): AsyncGenerator<T> {
  const file = openTranscript(path)
  try {
    yield* use(file)
  } finally {
    file.close()
  }
}

/** The bytes of a transcript, in pieces. */
export async function* readBytes(file: TranscriptFile): AsyncGenerator<Uint8Array> {
  for (let position = 0; position < file.size;) {
    const buffer = Buffer.allocUnsafe(Math.min(PIECE, file.size - position))
    const count = await file.read(buffer, buffer.length, position)
    if (count === 0) return
    position += count
    yield buffer.subarray(0, count)
  }
}
