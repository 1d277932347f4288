import { toPassages } from '#model'
import type { Page, PageOptions } from '#wire'
import { invalid, type Arguments } from './parameters.ts'
import { QUOTES_ARE_DATA } from './quoting.ts'
import { toShown } from './said.ts'
import { describeSaid } from './session-tool.ts'
import { CURSOR, SESSION, type Tool } from './tool.ts'
import { readWholeTurn, type WholeTurn } from './whole-turn.ts'

const USUAL = 8
const MOST = 50
const WORDS = 500
const MOST_WORDS = 8000

/** `read_entries`: what stands around a place of a session. */
export const entriesTool: Tool = {
  name: 'read_entries',
  title: 'Read entries',
  description:
    'The messages and tool calls of a session around an entry, oldest first, with cursors to read on in both directions. Without an entry: the end of the session. A summary of a session names entries whose whole turn can be read here.',
  parameters: [
    SESSION,
    { name: 'entry', kind: 'text', meaning: 'The id of the entry to look around.' },
    { name: 'subagent', kind: 'text', meaning: 'The subagent whose conversation is meant.' },
    { name: 'limit', kind: 'count', most: MOST, meaning: `Entries per answer. Default ${USUAL}.` },
    {
      name: 'characters',
      kind: 'count',
      most: MOST_WORDS,
      meaning: `How much of each message. Default ${WORDS}.`,
    },
    {
      name: 'whole',
      kind: 'text',
      values: ['turn'],
      meaning: 'The turn that the entry belongs to, from its prompt to its end, with all that tools gave.',
    },
    CURSOR,
  ],
  async run({ throughline, quoting }, given) {
    const session = await throughline.get(given.getText('session'))
    const turn = findWholeTurn(given)
    if (turn !== undefined) return await readWholeTurn({ throughline, quoting }, session, turn)
    const page = await throughline.page(session, toPageOptions(given))
    const most = given.count('characters', WORDS)
    const shown = toPassages(page.readings, undefined).flatMap(
      (passage) => toShown(passage, quoting.clean) ?? [],
    )
    return [
      `session ${quoting.line(session.id, 128)}. ${QUOTES_ARE_DATA}`,
      ...(shown.length === 0 ? ['Nothing was said here.'] : []),
      ...shown.map((said) => describeSaid(said, most, quoting)),
      ...toWays(page),
    ].join('\n')
  },
}

/** The turn that is meant, when a whole one is. */
function findWholeTurn(given: Arguments): WholeTurn | undefined {
  const subagent = given.text('subagent')
  const rest = subagent === undefined ? {} : { subagent }
  const [, from, entry] = /^turn:(\d{1,12}):(.+)$/.exec(given.text('cursor') ?? '') ?? []
  if (entry !== undefined) return { entry, from: Number(from), ...rest }
  if (given.text('whole') === undefined) return undefined
  const named = given.text('entry')
  if (named === undefined) throw invalid('a whole turn is read by an entry of it', 'Give `entry`.')
  return { entry: named, from: 0, ...rest }
}

function toPageOptions(given: Arguments): PageOptions {
  const subagent = given.text('subagent')
  const entry = given.text('entry')
  const common = {
    limit: given.count('limit', USUAL),
    raw: false,
    ...(subagent === undefined ? {} : { subagent }),
  }
  const cursor = given.text('cursor')
  if (cursor === undefined) return { ...common, ...(entry === undefined ? {} : { around: { entry } }) }
  const [, way, place] = /^(before|after):(.+)$/.exec(cursor) ?? []
  if (place === undefined) {
    throw invalid('this cursor is none of read_entries', 'Give an entry instead, or nothing for the end.')
  }
  return { ...common, ...(way === 'before' ? { before: place } : { after: place }) }
}

function toWays({ start, end, atStart, atEnd }: Page): readonly string[] {
  return [
    ...(atStart ? [] : [`Earlier: read_entries with cursor ${JSON.stringify(`before:${start}`)}`]),
    ...(atEnd ? [] : [`Later: read_entries with cursor ${JSON.stringify(`after:${end}`)}`]),
  ]
}
