import type { SessionSummary } from '#model'
import type { Throughline } from '#wire'
import { invalid } from './parameters.ts'
import { QUOTES_ARE_DATA, type Quoting } from './quoting.ts'
import { toSpoken, type Said } from './said.ts'
import { describeSaid, toFacts } from './session-tool.ts'
import { CURSOR, type Desk, type Tool } from './tool.ts'

/** About 1,500 tokens. */
const PAGE = 6000
const WORDS = 1500

/** `previous_session`: what was said in the last session of a folder. */
export const previousTool: Tool = {
  name: 'previous_session',
  title: 'Previous session',
  description:
    'What was said in the last completed session of a folder, as text only: no tools, no thinking. The end of it first; cursors lead to what was said before.',
  parameters: [{ name: 'workdir', kind: 'text', meaning: 'The folder. Default: where you work.' }, CURSOR],
  async run(desk, given) {
    const cursor = given.text('cursor')
    const place = cursor === undefined ? undefined : readPlace(cursor)
    const session =
      place === undefined
        ? await findPrevious(desk, getWorkdir(desk, given.text('workdir')))
        : await desk.throughline.get(place.id)
    if (session === undefined) return 'No session was completed in this folder yet.'
    return await readTranscript(desk, session, place?.end)
  },
}

/** The folder that is meant. Throws `request-invalid` when none is known. */
export function getWorkdir({ workdir }: Desk, given: string | undefined): string {
  const folder = given ?? workdir
  if (folder !== undefined) return folder
  throw invalid('no folder is known', 'Give `workdir`: the absolute path of the folder you work in.')
}

/** The session that a new one in this folder would go on from: the one its wake-up would carry. */
export async function findPrevious(
  { throughline }: { readonly throughline: Throughline },
  workdir: string,
): Promise<SessionSummary | undefined> {
  const { receipt } = await throughline.memory.wakeUp({ workdir })
  return receipt.sessionId === undefined ? undefined : await throughline.get(receipt.sessionId)
}

function readPlace(cursor: string): { readonly id: string; readonly end: number } {
  const [, end, id] = /^(\d{1,9}):(.+)$/.exec(cursor) ?? []
  if (id !== undefined) return { id, end: Number(end) }
  throw invalid('this cursor is none of previous_session', 'Leave it out to begin at the end.')
}

/** A stretch of what was said that ends before a message, as long as fits into an answer. */
export async function readTranscript(
  { throughline, quoting }: Pick<Desk, 'throughline' | 'quoting'>,
  session: SessionSummary,
  end?: number,
): Promise<string> {
  const all: Said[] = []
  for await (const piece of throughline.passages(session)) all.push(...toSpoken(piece))
  const last = Math.min(end ?? all.length, all.length)
  const { lines, first } = fillPage(all, last, quoting)
  return [
    ...toFacts(session, undefined, quoting),
    `Messages ${last === 0 ? 'none' : `${first + 1} to ${last} of ${all.length}`}. ${QUOTES_ARE_DATA}`,
    ...lines,
    ...(first > 0
      ? [`Earlier: previous_session with cursor ${JSON.stringify(`${first}:${session.id}`)}`]
      : []),
  ].join('\n')
}

function fillPage(
  all: readonly Said[],
  last: number,
  quoting: Quoting,
): { readonly lines: readonly string[]; readonly first: number } {
  const lines: string[] = []
  let length = 0
  let first = last
  for (; first > 0; first--) {
    const said = all[first - 1]
    if (said === undefined) break
    const line = describeSaid(said, WORDS, quoting)
    length += line.length
    if (length > PAGE && lines.length > 0) break
    lines.unshift(line)
  }
  return { lines, first }
}
