import type { ListOptions, SessionList, Throughline } from '#app'
import { isLive, type SessionSummary } from '#model'
import { safeLine, toPlural, toShortCount, toSize, toTokens } from '#render'
import { resolve } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import type { Values } from './command-line.ts'
import type { Console } from './console.ts'
import { toJsonLine } from './json.ts'
import { toAge, toShortId, toShortPath } from './short.ts'
import { sayUnknownAgents } from './unknown-agents.ts'
import { toTable, type Cell, type Column } from './table.ts'

/** `throughline ls` */
export async function ls(throughline: Throughline, values: Values, console: Console): Promise<number> {
  const full = values.flag('full')
  // A list is over before the code that makes it is compiled: compiling it costs as much as listing does. Reading
  // everything whole takes longer, and wants the compiler.
  if (!full) setFlagsFromString('--no-opt')
  const options = toListOptions(values, console)
  const list = await throughline.list(options)
  const { sessions } = list
  if (values.flag('json')) {
    await console.out.write(
      toJsonLine({ sessions: sessions.map(toPlain), usage: list.usage ?? null, problems: list.problems }),
    )
    return 0
  }
  if (sessions.length > 0) await console.out.write(toSessionTable(sessions, { full, console }))
  else sayNothingFound(list, options, console)
  if (sessions.length === 0) await sayUnknownAgents(throughline, options.agent ?? [], console)
  if (full && sessions.length > 0) await console.out.write(toTotals(list, sessions, console))
  for (const { path, message, hint } of list.problems) {
    console.say(`note: ${toShortPath(path, console.home)}: ${message}`)
    console.say(`next: ${hint}`)
  }
  return 0
}

function toListOptions(values: Values, console: Console): ListOptions {
  const limit = values.count('limit')
  const workdir = values.value('workdir')
  const agent = values.value('agent')
  const text = values.arg ?? values.value('text')
  const live = (['any', 'busy', 'waiting', 'idle'] as const).find((state) => state === values.value('live'))
  return {
    ...(workdir === undefined ? {} : { workdir: resolve(workdir) }),
    ...(agent === undefined ? {} : { agent }),
    ...(text === undefined ? {} : { text }),
    ...(live === undefined ? {} : { live }),
    ...(limit === undefined ? {} : { limit }),
    ...(values.flag('starred') ? { starred: true } : {}),
    ...(values.flag('full')
      ? {
          full: true,
          onProgress: (done: number, total: number) => console.progress(done, total, 'sessions read'),
        }
      : {}),
  }
}

const NARROW = 72

function toSessionTable(
  sessions: readonly SessionSummary[],
  options: { readonly full: boolean; readonly console: Console },
): string {
  const { full, console } = options
  const { width, paint } = console
  const withWorkdir = width >= NARROW && !(full && width < 100)
  const withAgent = new Set(sessions.map(({ agent }) => agent)).size > 1
  const withOrigin = sessions.some(({ origin }) => origin !== undefined)
  const columns: Column[] = [
    { title: '' },
    { title: 'name', share: 3 },
    ...(withAgent ? [{ title: 'agent' }] : []),
    ...(withOrigin ? [{ title: 'on' }] : []),
    ...(withWorkdir ? [{ title: 'workdir', share: 2 }] : []),
    ...(full ? FULL_COLUMNS : []),
    { title: 'active', align: 'right' },
    { title: 'size', align: 'right' },
    { title: 'id' },
  ]
  const rows = sessions.map((session): readonly Cell[] => [
    toMark(session),
    toName(session),
    ...(withAgent ? [{ text: safeLine(session.agent).slice(0, 12), style: 'dim' as const }] : []),
    ...(withOrigin ? [toOrigin(session)] : []),
    ...(withWorkdir ? [toWorkdir(session, console.home)] : []),
    ...(full ? toFactCells(session) : []),
    { text: toAge(session.lastActivityAt, console.now) },
    { text: toSize(session.size), style: 'dim' },
    { text: toShortId(session.id), style: 'code' },
  ])
  const words = [
    ...(sessions.some(({ live }) => isLive(live)) ? ['● busy', '◆ waiting for you', '○ idle'] : []),
    ...(sessions.some(({ live }) => live?.status === 'gone') ? ['✕ ended abruptly'] : []),
  ]
  const legend = words.length > 0 ? `\n${paint('dim', words.join('  '))}\n` : ''
  return toTable(columns, rows, { width, paint }) + legend
}

const FULL_COLUMNS: readonly Column[] = [
  { title: 'prompts', align: 'right' },
  { title: 'turns', align: 'right' },
  { title: 'tokens', align: 'right' },
  { title: 'damage', align: 'right' },
]

function toMark({ live, state }: SessionSummary): Cell {
  switch (live?.status) {
    case 'busy':
      return { text: '●', style: 'live' }
    case 'waiting':
      return { text: '◆', style: 'warning' }
    case 'idle':
    case 'unknown':
      return { text: '○', style: 'live' }
    case 'gone':
      return { text: '✕', style: 'warning' }
    case undefined:
      return state === 'ok' || state === 'empty' ? { text: ' ' } : { text: '⚠', style: 'warning' }
  }
}

function toName({ name, problem, state, starred, demo }: SessionSummary): Cell {
  const shown = safeLine((name ?? '').slice(0, 500))
  const marks = `${demo === true ? '[sample] ' : ''}${starred === true ? '★ ' : ''}`
  if (shown !== '') return { text: `${marks}${shown}` }
  if (state === 'unreadable') return { text: safeLine(problem ?? 'cannot be read'), style: 'warning' }
  return { text: state === 'empty' ? '(empty)' : '–', style: 'dim' }
}

/** The machine, and whose it is when it is not one's own. */
function toOrigin({ origin }: SessionSummary): Cell {
  if (origin === undefined) return { text: 'here', style: 'dim' }
  return { text: safeLine(origin.mine ? origin.machine : `${origin.person}/${origin.machine}`).slice(0, 24) }
}

function toWorkdir({ workdirs, workdirsComplete }: SessionSummary, home: string): Cell {
  const [first, ...others] = workdirs
  if (first === undefined) return { text: '–', style: 'dim' }
  const more = others.length === 0 ? '' : ` +${others.length}`
  // There may be more of them in the part of the file that a list does not read.
  return { text: `${toShortPath(first, home)}${more}${workdirsComplete ? '' : ' …'}`, style: 'dim' }
}

function toFactCells({ counts }: SessionSummary): readonly Cell[] {
  if (counts === undefined) return FULL_COLUMNS.map(() => ({ text: '–', style: 'dim' }))
  const { prompts, turns, usage, damaged } = counts
  return [
    { text: toShortCount(prompts) },
    { text: toShortCount(turns) },
    { text: toShortCount(toTokens(usage)) },
    damaged === 0 ? { text: '·', style: 'dim' } : { text: toShortCount(damaged), style: 'warning' },
  ]
}

function toTotals(list: SessionList, shown: readonly SessionSummary[], console: Console): string {
  const size = shown.reduce((sum, session) => sum + session.size, 0)
  const parts = [toPlural(shown.length, 'session'), toSize(size)]
  if (list.usage !== undefined) {
    const { input, output, cacheRead, cacheCreation } = list.usage
    parts.push(
      `${toShortCount(toTokens(list.usage))} tokens (${toShortCount(input)} in, ${toShortCount(output)} out, ${toShortCount(cacheRead)} from cache, ${toShortCount(cacheCreation)} to cache)`,
    )
  }
  return `\n${console.paint('strong', parts.join(' · '))}\n`
}

function sayNothingFound(list: SessionList, options: ListOptions, console: Console): void {
  const { agent, text, workdir, live, starred } = options
  const filtered = [agent, text, workdir, live, starred].some((filter) => filter !== undefined)
  console.say(filtered ? 'No session matches.' : 'No sessions found.')
  const roots = list.lookedIn.map((root) => toShortPath(root, console.home)).join(', ')
  console.say(`note: looked in ${roots}, and where Codex, Gemini CLI and opencode keep theirs`)
  if (list.allowedRoots.length > 0) {
    console.say(`note: ALLOWED_ROOTS shows only those that worked in ${list.allowedRoots.join(', ')}`)
  }
  console.say(
    filtered
      ? 'next: try fewer filters: `throughline ls`'
      : 'next: run an agent once, or set CLAUDE_CONFIG_DIR (or CODEX_HOME, …) to the folder it uses. `throughline demo --sandbox` has samples to look at.',
  )
}

/** Every field is there; what is not known is null. */
function toPlain(session: SessionSummary): Readonly<Record<string, unknown>> {
  const { name, nameFrom, firstPrompt, gitBranch, createdAt, lastActivityAt, live, problem, counts, facts } =
    session
  return {
    ...session,
    name: name ?? null,
    nameFrom: nameFrom ?? null,
    firstPrompt: firstPrompt ?? null,
    gitBranch: gitBranch ?? null,
    createdAt: createdAt ?? null,
    lastActivityAt: lastActivityAt ?? null,
    live: live ?? null,
    problem: problem ?? null,
    starred: session.starred ?? false,
    sourceGone: session.sourceGone ?? false,
    recorded: session.recorded ?? null,
    origin: session.origin ?? null,
    counts: counts ?? null,
    facts: facts ?? null,
  }
}
