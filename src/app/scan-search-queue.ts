import { findDelivered, isQueued, textOf, type Entry } from '#model'
import { formatOf, readBackward, type TranscriptFile } from '#sources'

/** So much of what was typed tells the lines apart that may deliver it. */
const BEGINNING = 40

/** Whether what was queued is said again by a later line, where it is found. */
export async function isDelivered(file: TranscriptFile, entry: Entry): Promise<boolean> {
  if (!isQueued(entry)) return false
  const words = entry.kind === 'prompt' ? textOf(entry.blocks) : (entry.args ?? entry.command ?? '')
  const beginning = words
    .trim()
    .slice(0, BEGINNING)
    .replace(/[\uD800-\uDBFF]$/, '')
  if (beginning === '') return false
  // As it stands in a line: without the quotes around a whole text.
  const mentioning = [Buffer.from(JSON.stringify(beginning).slice(1, -1))]
  const lastFirst: Entry[] = []
  for await (const { readings } of readBackward(file, formatOf(file.path), { mentioning }))
    for (const reading of readings.toReversed()) if (reading.kind === 'entry') lastFirst.push(reading.entry)
  return findDelivered(lastFirst.toReversed()).has(entry.id)
}
