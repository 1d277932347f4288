import type { SearchHit, SearchPage, SearchRequest, Throughline } from '#wire'
import { QUOTES_ARE_DATA, toMinute } from './quoting.ts'
import { readSnippet } from './snippet.ts'
import { CURSOR, type Desk, type Tool } from './tool.ts'

const USUAL = 6
const MOST = 20
const SNIPPET = 220

/** `search`: words in all sessions. */
export const searchTool: Tool = {
  name: 'search',
  title: 'Search sessions',
  description:
    'Full text over every earlier session of every agent on this machine. Words, "phrases", prefix*, -without, and facets: workdir:, session:, agent:, role:user|assistant, tool:, after:2026-01-31, before:, in:said|thought|tool. Best first, each hit with session and entry: read on with read_entries.',
  parameters: [
    { name: 'query', kind: 'text', required: true, meaning: 'Words and facets.' },
    { name: 'limit', kind: 'count', most: MOST, meaning: `Hits per answer. Default ${USUAL}.` },
    CURSOR,
  ],
  async run(desk, given) {
    const cursor = given.text('cursor')
    const found = await findHits(desk.throughline, {
      q: given.getText('query'),
      limit: given.count('limit', USUAL),
      ...(cursor === undefined ? {} : { cursor }),
    })
    const { hits, page } = found
    const notes = page.notes.map((note) => `Note: ${desk.quoting.line(note, 300)}`)
    if (page.index === 'building') notes.push('Note: the index is being built; there may be more.')
    const more = page.next === undefined ? [] : [`More: search with cursor ${JSON.stringify(page.next)}`]
    if (hits.length === 0) {
      const next = cursor === undefined ? 'Try fewer words, a beginning (pars*), or recall.' : 'That was all.'
      return ['No hits.', ...notes, ...(more.length > 0 ? more : [next])].join('\n')
    }
    const told: string[] = []
    for (const hit of hits) told.push(await describeHit(desk, hit))
    const all = `${page.total.count}${page.total.exact ? '' : ' or more'}`
    return [`${hits.length} of ${all}. ${QUOTES_ARE_DATA}`, ...told, ...notes, ...more].join('\n')
  },
}

const MOST_PAGES = 4
/** Calls of these tools, whatever a client puts before their names. */
const OWN_TOOL = /(?:^|_)throughline__\w+$/

/** A page of hits without echoes: what was asked here, and answered, stands in sessions too. */
async function findHits(
  throughline: Throughline,
  request: SearchRequest & { readonly limit: number },
): Promise<{ readonly hits: readonly SearchHit[]; readonly page: SearchPage }> {
  const hits: SearchHit[] = []
  let page = await throughline.search(request)
  for (let pages = 1; ; pages++) {
    hits.push(...page.hits.filter(({ tool }) => tool === undefined || !OWN_TOOL.test(tool)))
    const { next } = page
    if (next === undefined || hits.length >= request.limit || pages >= MOST_PAGES) return { hits, page }
    page = await throughline.search({ ...request, limit: request.limit - hits.length, cursor: next })
  }
}

async function describeHit(desk: Desk, hit: SearchHit): Promise<string> {
  const { line, block } = desk.quoting
  const { session, entry } = hit
  const inside = hit.subagent === undefined ? '' : ` subagent ${line(hit.subagent, 80)}`
  const folder = session.workdir === undefined ? '' : ` in ${line(session.workdir, 120)}`
  return [
    `- ${toMinute(entry.at)} ${toWhere(hit, line)}${hit.isError ? ' (failed)' : ''}${folder}`,
    `  session ${line(session.id, 128)}${inside} entry ${line(entry.id, 128)}`,
    `  ${block(await readSnippet(desk, hit), SNIPPET)}`,
  ].join('\n')
}

function toWhere({ where, tool, entry }: SearchHit, line: Desk['quoting']['line']): string {
  switch (where) {
    case 'said':
      return entry.kind === 'prompt' ? 'human' : 'agent'
    case 'thought':
      return 'agent, thinking'
    case 'tool':
      return tool === undefined ? 'a tool' : `tool ${line(tool, 60)}`
  }
}
