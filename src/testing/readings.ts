import type { Reading } from '#model'
import { formatOf, openTranscript, readForward, type Meter, type ReadOptions } from '#sources'

/** Everything a transcript reads as, from front to back. */
export async function readAll(
  path: string,
  options: ReadOptions = {},
  meter?: Meter,
): Promise<readonly Reading[]> {
  const file = openTranscript(path, meter)
  try {
    const readings: Reading[] = []
    for await (const batch of readForward(file, formatOf(path), options)) readings.push(...batch.readings)
    return readings
  } finally {
    file.close()
  }
}
