import type { Entry } from '#model'
import {
  formatOf,
  openTranscript,
  readConversation,
  readConversationFrom,
  readPageBefore,
  type Conversation,
} from '#sources'

/** Everything that the model sees of a session, from its transcript; only what stands from an entry on, if one is named. */
export async function readEntries(path: string, from?: string): Promise<readonly Entry[]> {
  return (await readSession(path, from)).entries
}

/** The same, with what could not be read of it. */
export async function readSession(path: string, from?: string): Promise<Conversation> {
  const file = openTranscript(path)
  const format = formatOf(path)
  try {
    return from === undefined
      ? await readConversation(file, format)
      : await readConversationFrom(file, format, from)
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
