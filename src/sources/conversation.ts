import { createChain, type Bridge, type Entry } from '#model'
import { readBackward, type LineBatch } from './backward.ts'
import type { LineFormat } from './source.ts'
import type { TranscriptFile } from './transcript-file.ts'

/** What the model sees now: the active path after the last compaction, with what the compaction preserved. */
export interface Conversation {
  readonly entries: readonly Entry[]
  readonly bridges: readonly Bridge[]
}

/**
 * Reads a conversation from the end of its file, back to the last compaction and no further than what it preserved.
 * The rest of the file is read only when the chain leads there.
 */
export async function readConversation(file: TranscriptFile, format: LineFormat): Promise<Conversation> {
  const found: Entry[] = []
  // Only entries of the chain are wanted.
  const { linkMark } = format
  const lines = readBackward(file, format, linkMark === undefined ? {} : { mentioning: linkMark })
  await collect(lines, found, untilCompaction())
  const conversation = toConversation(found, format)
  const missing = conversation.bridges.some(({ reason }) => reason === 'missing-parent')
  if (!missing) return conversation
  // A writer that knew nothing of the compaction went on from before it.
  await collect(lines, found, () => false)
  return toConversation(found, format)
}

/**
 * The end of a conversation, from one of its entries on, with nothing before it read. All of the conversation where the
 * way back does not lead to that entry.
 */
export async function readConversationFrom(
  file: TranscriptFile,
  format: LineFormat,
  entryId: string,
): Promise<Conversation> {
  const found: Entry[] = []
  const { linkMark } = format
  const lines = readBackward(file, format, linkMark === undefined ? {} : { mentioning: linkMark })
  await collect(lines, found, ({ id }) => id === entryId)
  const { entries } = toConversation(found, format)
  const from = entries.findIndex(({ id }) => id === entryId)
  if (from < 0) return await readConversation(file, format)
  return { entries: entries.slice(from), bridges: [] }
}

/** Reads on until the judge of the links found says it is enough. Not closed: the caller may want more. */
async function collect(
  lines: AsyncGenerator<LineBatch>,
  found: Entry[],
  isEnough: (entry: Entry) => boolean,
): Promise<void> {
  for (;;) {
    const next = await lines.next()
    if (next.done === true) return
    let enough = false
    for (const reading of next.value.readings.toReversed()) {
      if (reading.kind === 'damage' || reading.entry.link === undefined) continue
      found.push(reading.entry)
      enough = isEnough(reading.entry) || enough
    }
    if (enough) return
  }
}

/** True at the compaction that counts, or, if it preserved something from before, when all of that is found. */
function untilCompaction(): (entry: Entry) => boolean {
  const wanted = new Set<string>()
  let compacted = false
  return (entry) => {
    wanted.delete(entry.id)
    if (!compacted && entry.kind === 'compaction' && entry.link?.sidechain !== true) {
      compacted = true
      const { preserved } = entry.compaction
      if (preserved?.kind === 'entries') for (const id of preserved.ids) wanted.add(id)
      else if (preserved?.kind === 'segment') wanted.add(preserved.headId).add(preserved.tailId)
    }
    return compacted && wanted.size === 0
  }
}

function toConversation(lastFirst: readonly Entry[], { settle }: LineFormat): Conversation {
  const chain = createChain()
  const byId = new Map<string, Entry>()
  for (const entry of lastFirst.toReversed()) {
    chain.add(entry)
    byId.set(entry.id, entry)
  }
  const { path, bridges } = chain.finish()
  const entries = path.flatMap((id) => byId.get(id) ?? [])
  return { entries: settle?.(entries) ?? entries, bridges }
}
