import type { Entry } from '#model'
import { formatOf, openTranscript, readConversation, readConversationFrom, readPageBefore } from '#sources'

/** Everything that the model sees of a session, from its transcript; only what stands from an entry on, if one is named. */
export async function readEntries(path: string, from?: string): Promise<readonly Entry[]> {
  const file = openTranscript(path)
  const format = formatOf(path)
  try {
    const { entries } =
      from === undefined
        ? await readConversation(file, format)
        : await readConversationFrom(file, format, from)
    return entries
  } finally {
    file.close()
  }
}

const LAST = 200

/** The last entries of a transcript, whatever their place in the conversation. */
export async function readLastEntries(path: string): Promise<readonly Entry[]> {
  const file = openTranscript(path)
  try {
    const { readings } = await readPageBefore(file, formatOf(path), { limit: LAST })
    return readings.flatMap((reading) => (reading.kind === 'entry' ? [reading.entry] : []))
  } finally {
    file.close()
  }
}
