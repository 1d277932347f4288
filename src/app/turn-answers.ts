import type { ForeignTexts } from '#memory'
import type { Entry, SessionSummary } from '#model'
import type { Page, PageOptions, PickedAt } from '#wire'
import { findForeignOrigin } from './word-origin.ts'

/** How far back a turn is looked at for what its tools answered. */
export const TURN_ENTRIES = 80
const TURNS = 2
const LONGEST_ANSWER = 200_000

/** What tools answered in the turn that ends these entries, and in the one before. */
export function toAnswers(entries: readonly Entry[]): readonly string[] {
  const answers: string[] = []
  let turns = 0
  for (const entry of entries.toReversed()) {
    if (entry.kind === 'prompt' && !entry.midTurn && ++turns === TURNS) break
    if (entry.kind !== 'result') continue
    for (const block of entry.blocks) {
      if (block.kind !== 'tool-result') continue
      for (const part of block.content)
        if (part.kind === 'text') answers.push(part.text.slice(0, LONGEST_ANSWER))
    }
  }
  return answers
}

/** What the words that an agent asks to keep at a place may have been copied from. Nothing where the place is unknown. */
export async function readForeignTexts(
  at: PickedAt,
  content: string,
  {
    get,
    page,
  }: {
    readonly get: (id: string) => Promise<SessionSummary>
    readonly page: (session: SessionSummary, options: PageOptions) => Promise<Page>
  },
): Promise<ForeignTexts> {
  const session = await get(at.sessionId).catch(() => undefined)
  if (session === undefined) return { toolTexts: [] }
  const around = { entry: at.entryId }
  const read = await page(session, { limit: 2 * TURN_ENTRIES, around, raw: false }).catch(() => undefined)
  const entries = (read?.readings ?? []).flatMap((one) => (one.kind === 'entry' ? [one.entry] : []))
  const last = entries.findIndex(({ id }) => id === at.entryId)
  const origin = await findForeignOrigin(session, { entryId: at.entryId, at: entries[last]?.at }, content)
  return { toolTexts: toAnswers(entries.slice(0, last + 1)), origin }
}
