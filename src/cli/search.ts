import type { Throughline } from '#app'
import { ThroughlineError } from '#base'
import type { SearchHit, SearchPage, Snippet } from '#wire'
import { cutToWidth, displayWidth, safeLine, toCount, toPlural, toShellWord } from '#render'
import type { Values } from './command-line.ts'
import type { Console } from './console.ts'
import { toJsonLine } from './json.ts'
import { toAge, toShortId, toShortPath } from './short.ts'
import { sayUnknownAgents } from './unknown-agents.ts'

const USUAL = 10

/** `throughline search` */
export async function search(throughline: Throughline, values: Values, console: Console): Promise<number> {
  const q = values.args.join(' ')
  if (q.trim() === '') {
    throw new ThroughlineError('bad-usage', 'search needs something to look for', {
      hint: 'Give words: `throughline search flaky test`. `throughline ls` lists everything.',
    })
  }
  const limit = values.count('limit') ?? USUAL
  const cursor = values.value('cursor')
  const page = await throughline.search({ q, limit, ...(cursor === undefined ? {} : { cursor }) })
  if (values.flag('json')) {
    await console.out.write(toJsonLine(page))
    return page.hits.length > 0 ? 0 : 1
  }
  for (const note of page.notes) console.say(`note: ${note}`)
  for (const hit of page.hits) await console.out.write(`${toHit(hit, console)}\n`)
  await sayRest(page, { throughline, q, limit, console, isFirst: cursor === undefined })
  return page.hits.length > 0 ? 0 : 1
}

/** The session, the words, and the line that shows where they stand. */
function toHit(hit: SearchHit, console: Console): string {
  const { session, entry, snippet } = hit
  const { paint, home, now, width } = console
  const facts = [
    session.demo === true ? 'sample' : undefined,
    toAge(entry.at, now),
    toWhere(hit),
    hit.subagent === undefined ? undefined : 'subagent',
    session.workdir === undefined ? undefined : toShortPath(session.workdir, home),
    session.origin === undefined ? undefined : toMachine(session.origin),
  ]
  const name = cutToWidth(safeLine(session.name ?? toShortId(session.id)), Math.min(width, 60))
  const failed = hit.isError ? '  failed' : ''
  const room = Math.max(8, width - displayWidth(name) - failed.length - 2)
  const shown = cutToWidth(facts.filter((fact) => fact !== undefined).join(' · '), room)
  return [
    `${paint('strong', name)}  ${paint('dim', shown)}${paint('error', failed)}`,
    `  ${toMarked(snippet, console)}`,
    `  ${paint('code', `throughline show ${toShortId(session.id)} --at ${toShellWord(safeLine(entry.id))}`)}`,
    '',
  ].join('\n')
}

function toMachine({ machine, person, mine }: NonNullable<SearchHit['session']['origin']>): string {
  return mine ? `on ${safeLine(machine)}` : `${safeLine(person)} on ${safeLine(machine)}`
}

function toWhere({ where, tool, entry }: SearchHit): string {
  switch (where) {
    case 'said':
      return entry.kind === 'prompt' ? 'asked' : 'said'
    case 'thought':
      return 'thought'
    case 'tool':
      return tool === undefined ? 'tool' : safeLine(tool.slice(0, 60))
  }
}

/** Marks stand in the text as it was; what is shown is made safe piece by piece, so they stay in their places. */
function toMarked({ text, marks }: Snippet, { paint, colour }: Console): string {
  let at = 0
  let line = ''
  for (const [start, end] of marks) {
    if (start < at) continue
    const word = safePiece(text.slice(start, end))
    line += safePiece(text.slice(at, start)) + (colour ? paint('warning', paint('strong', word)) : word)
    at = end
  }
  return line + safePiece(text.slice(at))
}

/** Like `safeLine`, but a space at an end stays: the piece stands between others. */
function safePiece(text: string): string {
  const safe = safeLine(text)
  if (safe === '') return text === '' ? '' : ' '
  return `${/^\s/.test(text) ? ' ' : ''}${safe}${/\s$/.test(text) ? ' ' : ''}`
}

async function sayRest(
  page: SearchPage,
  options: {
    readonly throughline: Throughline
    readonly q: string
    readonly limit: number
    readonly console: Console
    readonly isFirst: boolean
  },
): Promise<void> {
  const { console, q } = options
  const { count, exact } = page.total
  if (page.hits.length === 0) console.say(options.isFirst ? `Nothing matches.` : 'That was all.')
  else if (page.next !== undefined) {
    const all = exact ? `of ${toCount(count)}` : `of ${toCount(count)} or more`
    await console.out.write(console.paint('dim', `${toPlural(page.hits.length, 'hit')} ${all}\n`))
    console.say(
      `next: throughline search ${toShellWord(q)} --limit ${options.limit} --cursor ${toShellWord(page.next)}`,
    )
  } else await console.out.write(console.paint('dim', `${toPlural(page.hits.length, 'hit')}\n`))
  if (page.index === 'building') {
    console.say('note: the index is being built; there may be more. `throughline status` says how far it is.')
  }
  if (page.index === 'none') {
    console.say(
      'note: there is no index yet, so every file was read. `throughline` starts a daemon that keeps one.',
    )
  }
  if (page.hits.length === 0 && options.isFirst) {
    const asked = [...q.matchAll(/(?:^|\s)-?agent:([\w-]+)/gi)].map(([, name = '']) => name)
    await sayUnknownAgents(options.throughline, asked, console)
    console.say('next: try fewer words, or a beginning: `throughline search pars*`')
  }
}
