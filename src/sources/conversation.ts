import { createChain, textOf, type Bridge, type Damage, type Entry } from '#model'
import { readBackward, type LineBatch } from './backward.ts'
import type { LineFormat } from './source.ts'
import type { TranscriptFile } from './transcript-file.ts'

/** What the model sees now: the active path after the last compaction, with what the compaction preserved. */
export interface Conversation {
  readonly entries: readonly Entry[]
  readonly bridges: readonly Bridge[]
  /** Bytes among its lines that hold no readable one. */
  readonly damage: readonly Damage[]
}

/**
 * Reads a conversation from the end of its file, back to the last compaction and no further than what it preserved.
 * The rest of the file is read only when the chain leads there.
 */
export async function readConversation(file: TranscriptFile, format: LineFormat): Promise<Conversation> {
  const found: Entry[] = []
  const damage: Damage[] = []
  const lines = readLinks(file, format)
  await collect(lines, { found, damage }, untilCompaction())
  let path = findPath(found)
  const missing = path.bridges.some(({ reason }) => reason === 'missing-parent')
  if (missing || leadsFurther(path.entries, found)) {
    // A writer that knew nothing of the compaction continued from before it, or what was taken back begins before it.
    await collect(lines, { found, damage }, () => false)
    path = findPath(found)
  }
  const [first] = path.entries
  if (first?.kind !== 'compaction' || first.keepsPrompts !== true) return toConversation(path, damage, format)
  await collect(lines, { found, damage }, untilPrompts())
  return toConversation(findPath(found), damage, format)
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
  const damage: Damage[] = []
  await collect(readLinks(file, format), { found, damage }, ({ id }) => id === entryId)
  const { entries } = toConversation(findPath(found), damage, format)
  const from = entries.findIndex(({ id }) => id === entryId)
  if (from < 0) return await readConversation(file, format)
  const kept = entries.slice(from)
  return { entries: kept, bridges: [], damage: behind(damage, kept[0]) }
}

/** Whether something was taken back, and what is left does not begin with a compaction. */
function leadsFurther(path: readonly Entry[], found: readonly Entry[]): boolean {
  return path[0]?.kind !== 'compaction' && found.some(({ link }) => link?.takesBack !== undefined)
}

function readLinks(file: TranscriptFile, format: LineFormat): AsyncGenerator<LineBatch> {
  const { linkMarks } = format
  return readBackward(file, format, linkMarks === undefined ? {} : { mentioning: linkMarks })
}

/** Reads on until the judge of the links found says it is enough. Not closed: the caller may want more. */
async function collect(
  lines: AsyncGenerator<LineBatch>,
  { found, damage }: { readonly found: Entry[]; readonly damage: Damage[] },
  isEnough: (entry: Entry) => boolean,
): Promise<void> {
  for (;;) {
    const next = await lines.next()
    if (next.done === true) return
    let enough = false
    for (const reading of next.value.readings.toReversed()) {
      if (reading.kind === 'damage') {
        damage.push(reading.damage)
        continue
      }
      const { link, type } = reading.entry
      // What was taken back is known by a line that is no link.
      if (link === undefined && !type.startsWith('queue-operation/')) continue
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

/** True when prompts were found that no compaction keeps all of. */
function untilPrompts(): (entry: Entry) => boolean {
  let length = 0
  return (entry) => {
    if (entry.kind === 'prompt') length += textOf(entry.blocks).length
    return length > ENOUGH
  }
}

/** Twice what a compaction keeps: some of it may have been taken back. */
const ENOUGH = 160_000

interface Path extends Omit<Conversation, 'damage'> {
  /** Prompts that may have been kept by the compaction at its beginning, oldest first. */
  readonly before: readonly Entry[]
}

function findPath(lastFirst: readonly Entry[]): Path {
  const chain = createChain()
  const byId = new Map<string, Entry>()
  for (const entry of lastFirst.toReversed()) {
    chain.add(entry)
    byId.set(entry.id, entry)
  }
  const { path, spine, bridges } = chain.finish()
  const entries = path.flatMap((id) => byId.get(id) ?? [])
  const first = entries[0]
  const before: Entry[] = []
  for (const entry of byId.values()) {
    if (entry === first) break
    if (!spine.has(entry.id)) continue
    if (entry.kind === 'prompt') before.push(entry)
    // What was said before a compaction is in what it left.
    else if (entry.kind === 'compaction' && entry.keepsPrompts !== true)
      before.splice(0, before.length, ...(entry.history ?? []).filter(({ kind }) => kind === 'prompt'))
  }
  return { entries, bridges, before }
}

function toConversation(
  { entries: path, bridges, before }: Path,
  damage: readonly Damage[],
  { settle }: LineFormat,
): Conversation {
  const entries = settle?.(path, before) ?? path
  const compaction = path.findLast(({ kind }) => kind === 'compaction')
  return { entries, bridges, damage: behind(damage, compaction) }
}

/** What is damaged behind an entry, in the order of the file. */
function behind(lastFirst: readonly Damage[], entry: Entry | undefined): readonly Damage[] {
  const from = entry?.place.offset ?? 0
  return lastFirst.filter(({ offset }) => offset >= from).toReversed()
}
