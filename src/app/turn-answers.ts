import type { Entry, SessionSummary } from '#model'
import type { Page, PageOptions, PickedAt } from '#wire'

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

/** What tools answered before something was said at a place. Nothing when the place is nowhere. */
export async function readAnswers(
  at: PickedAt,
  {
    get,
    page,
  }: {
    readonly get: (id: string) => Promise<SessionSummary>
    readonly page: (session: SessionSummary, options: PageOptions) => Promise<Page>
  },
): Promise<readonly string[]> {
  const around = { entry: at.entryId }
  const read = await get(at.sessionId)
    .then((session) => page(session, { limit: 2 * TURN_ENTRIES, around, raw: false }))
    .catch(() => undefined)
  const entries = (read?.readings ?? []).flatMap((one) => (one.kind === 'entry' ? [one.entry] : []))
  const last = entries.findIndex(({ id }) => id === at.entryId)
  return toAnswers(entries.slice(0, last + 1))
}
