import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Entry, Loss, NativeAgent } from '#model'
import { findUntold, toNativeSession, toSaid, type NativeSession, type Said } from '#restore'
import { readWrittenSession } from '#sources'
import { createLines, readAgentSessions, readLines } from '#testing'
import { faultsOf } from './native-faults.ts'
import { historyOf } from './native-history.ts'
import { openNativePlace, type NativePlace } from './native-place.ts'
import { AGENTS_HERE, hasOpencode } from './opencode-program.ts'

/** All of them take minutes: every day the session with everything in it goes to each, and each is gone on from. */
const PAIRS: readonly (readonly [NativeAgent, NativeAgent])[] =
  process.env['RUNS'] === 'full'
    ? AGENTS_HERE.flatMap((from) => AGENTS_HERE.map((to) => [from, to] as const))
    : [
        ...AGENTS_HERE.map((to) => ['claude', to] as const),
        ['codex', 'claude'],
        ['gemini', 'codex'],
        ...(hasOpencode ? [['opencode', 'codex'] as const] : []),
      ]

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const PDF = Buffer.from(
  '%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj 3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n',
).toString('base64')

const text = (words: string): object => ({ type: 'text', text: words })
const base64 = (media_type: string, data: string): object => ({ type: 'base64', media_type, data })
const at = (url: string): object => ({ type: 'url', url })
const image = (source: object): object => ({ type: 'image', source })
const document = (source: object, more: object = {}): object => ({ type: 'document', source, ...more })

/** Every kind of content that a message or a result can hold, each beside words that must not go with it. */
const HELD: Readonly<Record<string, readonly object[]>> = {
  picture: [image(base64('image/png', PNG))],
  'picture-elsewhere': [image(at('https://example.com/a.png'))],
  pdf: [document(base64('application/pdf', PDF), { title: 'spec.pdf' })],
  notes: [
    document({ type: 'text', media_type: 'text/plain', data: 'words of the notes' }, { title: 'n.txt' }),
  ],
  table: [document(base64('text/csv', Buffer.from('a,b of the table').toString('base64')))],
  'pdf-elsewhere': [document(at('https://example.com/a.pdf'))],
  pieces: [document({ type: 'content', content: [text('words of the pieces')] })],
  found: [
    {
      type: 'search_result',
      source: 'https://example.com',
      title: 't',
      content: [text('words that were found')],
    },
  ],
  two: [image(base64('image/png', PNG)), document(base64('application/pdf', PDF))],
}

/** A session of Claude Code with all of it: in prompts, in results, and results without a word beside. */
async function makeEverything(): Promise<readonly Entry[]> {
  const make = createLines()
  const user = (...content: readonly object[]): object =>
    make.prompt('', { message: { role: 'user', content } })
  const call = (id: string): object => ({ type: 'tool_use', id, name: 'Read', input: { file_path: id } })
  const names = Object.keys(HELD)
  const results = names.flatMap((name) => [
    [`toolu_${name}`, [text(`result-${name}`), ...(HELD[name] ?? [])]] as const,
    [`toolu_only_${name}`, HELD[name] ?? []] as const,
  ])
  return await readLines([
    ...names.flatMap((name) => [
      user(text(`IMPORTANT-${name}: never touch prod.`), ...(HELD[name] ?? [])),
      make.reply([text(`Understood-${name}.`)]),
    ]),
    ...names.flatMap((name) => [user(...(HELD[name] ?? [])), make.reply([text(`Seen-${name}.`)])]),
    user(text('Read all of it.')),
    make.reply([
      text('\n\n'),
      { type: 'thinking', thinking: 'I read it.', signature: 'c2ln' },
      { type: 'redacted_thinking', data: 'Zm9v' },
      text('I read all of it.'),
      ...results.map(([id]) => call(id)),
      call('toolu_failed'),
      call('toolu_silent'),
    ]),
    ...results.map(([id, content]) => make.result(id, content)),
    make.prompt('', {
      message: {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'toolu_failed', is_error: true, content: 'no-such-file' },
        ],
      },
    }),
    make.result('toolu_silent', ''),
    make.reply([text('All of it was read.')]),
  ])
}

let place: NativePlace
beforeAll(async () => {
  place = await openNativePlace(() => [{ kind: 'text', text: 'Going on.' }])
})
afterAll(() => place.close())

function write(said: Said, [from, id]: readonly [string, string], to: NativeAgent): NativeSession {
  return toNativeSession(to, said, {
    source: { agent: from, sessionId: id },
    workdir: place.workdir,
    goOnWith: 'scripted/scripted-model',
    created: '2026-11-15T08:00:00.000Z',
  })
}

const origins = new Map<NativeAgent, Promise<Said>>()

/** The session as the agent itself has it, after one turn of its own. */
async function originIn(agent: NativeAgent): Promise<Said> {
  const session = write(toSaid(await makeEverything()), ['made', 'everything'], agent)
  await place.goOn(session, 'One-turn-here')
  const root = agent === 'opencode' ? place.opencodeData : place.roots[agent]
  const entries = (await readAgentSessions(agent, root, join(place.scratch, agent))).get(session.id)
  if (entries === undefined) throw new Error(`${agent} has no session ${session.id}`)
  return toSaid(entries)
}

/** What the model did not hear of a conversation, except what is told to be dropped or changed. */
function findUnheard(
  { messages }: Said,
  losses: readonly Loss[],
  heard: readonly string[],
): readonly string[] {
  const told = new Map(losses.map(({ origin, how }) => [`${origin.entryId} ${String(origin.index)}`, how]))
  const calls = heard.flatMap((line) => (line.startsWith('call ') ? [line.split(' ', 2)[1] ?? ''] : []))
  const results = new Map(
    heard.flatMap((line) => {
      const [what = '', id = '', ...words] = line.split(' ')
      return what === 'result' || what === 'failed' ? [[id, words.join(' ')] as const] : []
    }),
  )
  const numbers = new Map<string, number>()
  let from = 0
  const hears = (wanted: string): boolean => {
    const found = heard.findIndex((line, index) => index >= from && line.includes(wanted))
    if (found >= 0) from = found
    return found >= 0
  }
  return messages.flatMap(({ role, blocks }) =>
    blocks.flatMap(({ block, origin }): readonly string[] => {
      const how = told.get(`${origin.entryId} ${String(origin.index)}`)
      switch (block.kind) {
        case 'text':
          return how === 'dropped' || hears(block.text) ? [] : [`${role} ${block.text}`]
        case 'tool-use':
          numbers.set(block.id, numbers.size)
          return hears(`${block.name} ${JSON.stringify(block.input)}`) ? [] : [`call ${block.id}`]
        case 'tool-result': {
          const words = results.get(calls[numbers.get(block.toolUseId) ?? -1] ?? '')
          const missing = block.content.flatMap((each) =>
            each.kind === 'text' && words?.includes(each.text) !== true ? [each.text] : [],
          )
          return words === undefined ? [`result ${block.toolUseId}`] : missing
        }
        case 'thinking':
          return how !== undefined || hears(block.thinking) ? [] : [`thinking ${block.thinking}`]
        case 'redacted-thinking':
        case 'image':
        case 'document':
        case 'unknown':
          return []
      }
    }),
  )
}

/** Of images and documents: how many the model was shown, and how many it was to be shown. */
function countMedia({ messages }: Said, losses: readonly Loss[]): number {
  const changed = new Set(
    losses.flatMap(({ kind, origin }) =>
      kind === 'media' || kind === 'unknown-block' ? [`${origin.entryId} ${String(origin.index)}`] : [],
    ),
  )
  return messages
    .flatMap(({ blocks }) => blocks)
    .filter(({ origin }) => !changed.has(`${origin.entryId} ${String(origin.index)}`))
    .flatMap(({ block }) => (block.kind === 'tool-result' ? block.content : [block]))
    .filter(({ kind }) => kind === 'image' || kind === 'document').length
}

describe('a conversation with every kind of content, from every agent to every agent', () => {
  test.each(PAIRS)(
    '[NAT14] [NAT15] from %s to %s nothing is lost that is not told, and the model of the real one hears the rest',
    async (from, to) => {
      const origin = origins.get(from) ?? originIn(from)
      origins.set(from, origin)
      const said = await origin
      const session = write(said, [from, 'everything'], to)
      const back = toSaid(await readWrittenSession({ ...session, text: session.files[0]?.text ?? '' }))
      expect(findUntold(said, back, session.losses)).toEqual([])
      const asked = await place.goOn(session, `Goon${from}`)
      const heard = historyOf(asked)
      expect(findUnheard(said, session.losses, heard)).toEqual([])
      const shown = heard.join('\n').match(/(?:^|\[)(?:picture|document)(?:$|\])/gmu) ?? []
      expect(shown.length).toBeGreaterThanOrEqual(countMedia(said, session.losses))
      expect(heard.join('\n')).not.toMatch(/aborted|omitted because/u)
      expect(faultsOf(asked)).toEqual([])
      expect(heard.at(-1)).toContain(`Goon${from}`)
    },
  )
})
