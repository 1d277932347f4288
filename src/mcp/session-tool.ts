import type { OutlinePoint, SessionFacts, SessionSummary } from '#model'
import { invalid } from './parameters.ts'
import { QUOTES_ARE_DATA, toMinute, type Quoting } from './quoting.ts'
import { toSpoken, type Said } from './said.ts'
import { CURSOR, SESSION, type Desk, type Tool } from './tool.ts'

const OUTLINE_PAGE = 15
const WORDS = 300
const FIRST = 1
const LAST = 3

/** `read_session`: what a session was about, and where its parts are. */
export const sessionTool: Tool = {
  name: 'read_session',
  title: 'Read a session',
  description:
    'What one session was about: its facts, its first and last messages, and the outline of its prompts with entry ids. Then read_entries for any place in it.',
  parameters: [SESSION, CURSOR],
  async run(desk, given) {
    const { throughline, quoting } = desk
    const session = await throughline.get(given.getText('session'))
    const from = readPlace(given.text('cursor'))
    const { facts, outline } = await throughline.digest(session)
    const points = outline.filter((point) => point.kind !== 'damage')
    const page = points.slice(from, from + OUTLINE_PAGE)
    const next = from + page.length
    const head = from > 0 ? [] : [...toFacts(session, facts, quoting), ...(await readEnds(desk, session))]
    const listed = page.map((point) => describePoint(point, quoting))
    return [
      ...head,
      `Outline, ${points.length === 0 ? 'empty' : `${from + 1} to ${next} of ${points.length}`}. ${QUOTES_ARE_DATA}`,
      ...listed,
      ...(next < points.length ? [`More: read_session with cursor "outline:${next}"`] : []),
    ].join('\n')
  },
}

function readPlace(cursor: string | undefined): number {
  if (cursor === undefined) return 0
  const [, place] = /^outline:(\d{1,9})$/.exec(cursor) ?? []
  if (place !== undefined) return Number(place)
  throw invalid('this cursor is none of read_session', 'Leave it out to begin at the beginning.')
}

/** A session on a few lines of our own. */
export function toFacts(
  session: SessionSummary,
  facts: SessionFacts | undefined,
  { line, block, cleanName }: Quoting,
): readonly string[] {
  const workdir = session.workdirs.at(-1)
  const name = session.name === undefined ? '' : ` ${block(cleanName(session.name), 120)}`
  const counts =
    facts === undefined
      ? []
      : [
          `${facts.prompts} prompts, ${facts.replies} replies, ${facts.toolCalls} tool calls, ${facts.compactions} compactions`,
        ]
  return [
    `session ${line(session.id, 128)}${name}`,
    [
      `agent ${line(session.agent, 40)}`,
      ...(workdir === undefined ? [] : [`in ${line(workdir, 200)}`]),
      ...(session.gitBranch === undefined ? [] : [`branch ${line(session.gitBranch, 80)}`]),
      `${toMinute(session.createdAt)} to ${toMinute(session.lastActivityAt)}`,
      ...counts,
    ].join(' · '),
  ]
}

/** The first prompt and the last messages, without reading what stands between. */
async function readEnds(desk: Desk, session: SessionSummary): Promise<readonly string[]> {
  if (session.path === '') return []
  const last: Said[] = []
  for await (const piece of desk.throughline.passages(session, { last: 12 })) last.push(...toSpoken(piece))
  const first =
    session.firstPrompt === undefined
      ? []
      : [{ id: '', at: session.createdAt, speaker: 'human' as const, text: session.firstPrompt }]
  return [
    'It began:',
    ...first.slice(0, FIRST).map((said) => describeSaid(said, WORDS, desk.quoting)),
    'It ended:',
    ...last.slice(-LAST).map((said) => describeSaid(said, WORDS, desk.quoting)),
  ]
}

function describePoint(point: OutlinePoint, quoting: Quoting): string {
  switch (point.kind) {
    case 'prompt': {
      const aside = point.offPath === true ? ' (rewound)' : ''
      return `- ${toMinute(point.at)} entry ${quoting.line(point.id, 128)}${aside} ${quoting.block(quoting.cleanName(point.text), 120)}`
    }
    case 'compaction':
      return `- ${toMinute(point.at)} entry ${quoting.line(point.id, 128)} compaction`
    case 'damage':
      return `- ${point.length} bytes that cannot be read`
  }
}

/** One message with where it stands. */
export function describeSaid({ id, at, speaker, text }: Said, most: number, quoting: Quoting): string {
  const place = id === '' ? '' : ` entry ${quoting.line(id, 128)}`
  return `- ${toMinute(at)} ${speaker}${place} ${quoting.block(text, most)}`
}
