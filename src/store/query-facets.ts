import type { EntryKind } from '#model'
import type { SearchTier } from '#wire'
import { dayAfter, findDay, type Calendar } from './calendar.ts'
import type { Piece } from './query-pieces.ts'
import type { Speaker } from './store.ts'

/** What a hit must be, beside having the words. An empty choice takes everything. */
export interface Facets {
  /** In small letters. */
  readonly agents: Choice<string>
  /** A folder, for it and what is below; without a leading slash, one or more names in a row of the path. */
  readonly workdirs: Choice<string>
  /** Beginnings of ids. */
  readonly sessions: Choice<string>
  /** `role:user` asks for people and programs, `role:assistant` for agents. */
  readonly speakers: Choice<Speaker>
  /** Names of tools in small letters; one that ends in `*` is the beginning of a name. */
  readonly tools: Choice<string>
  readonly kinds: Choice<EntryKind>
  readonly tiers: Choice<SearchTier>
  /** Not before this moment, in milliseconds. */
  readonly from?: number | undefined
  /** Before this moment. */
  readonly to?: number | undefined
  /** Only what failed, or only what did not. */
  readonly isError?: boolean | undefined
  /** Only where an agent asks that something is kept, or only where none does. */
  readonly hasDirective?: boolean | undefined
}

/** One of `any`, where there are some, and none of `none`. */
export interface Choice<Value> {
  readonly any: readonly Value[]
  readonly none: readonly Value[]
}

export const FACET_NAMES: ReadonlySet<string> = new Set([
  'agent',
  'workdir',
  'session',
  'role',
  'speaker',
  'tool',
  'kind',
  'after',
  'before',
  'on',
  'has',
  'in',
])

/** Collects the facets of a query. */
export interface FacetReader {
  /** Takes a facet in, or says in a sentence why it could not be understood. */
  add(piece: Piece): string | undefined
  facets(): Facets
  readonly count: number
}

const SPEAKERS: Readonly<Record<Speaker, true>> = {
  human: true,
  agent: true,
  tool: true,
  program: true,
  system: true,
}
const TIERS: Readonly<Record<SearchTier, true>> = { said: true, thought: true, tool: true }
const KINDS: Readonly<Record<EntryKind, true>> = {
  prompt: true,
  reply: true,
  result: true,
  command: true,
  interruption: true,
  injection: true,
  summary: true,
  compaction: true,
  context: true,
  notice: true,
  record: true,
  delegated: true,
  oversize: true,
  unknown: true,
}
const ROLES: Readonly<Record<'user' | 'assistant', readonly Speaker[]>> = {
  user: ['human', 'program'],
  assistant: ['agent'],
}

/** `calendar` says where days begin, `now` which of them is today. */
export function createFacetReader(calendar: Calendar, now: number): FacetReader {
  const agents = createChoice<string>()
  const workdirs = createChoice<string>()
  const sessions = createChoice<string>()
  const speakers = createChoice<Speaker>()
  const tools = createChoice<string>()
  const kinds = createChoice<EntryKind>()
  const tiers = createChoice<SearchTier>()
  let from: number | undefined
  let to: number | undefined
  let isError: boolean | undefined
  let hasDirective: boolean | undefined
  let count = 0

  function startAt(at: number): undefined {
    from = from === undefined ? at : Math.max(from, at)
  }
  function endAt(at: number): undefined {
    to = to === undefined ? at : Math.min(to, at)
  }

  function addTime({ facet, text, negated }: Piece): string | undefined {
    const span = findSpan(text.toLowerCase(), calendar, now)
    if (span === undefined) {
      return 'A date is written 2026-11-15, 7d, 12h, 2w, today or yesterday'
    }
    if (facet === 'on') {
      if (negated) return 'One day cannot be left out: use before: and after:'
      startAt(span.day)
      return endAt(span.nextDay)
    }
    return (facet === 'after') === negated ? endAt(span.at) : startAt(span.at)
  }

  function add(piece: Piece): string | undefined {
    const { facet, text, negated } = piece
    const value = text.toLowerCase()
    switch (facet) {
      case 'agent':
        return agents.add([value], negated)
      case 'workdir':
        return workdirs.add([text.length > 1 && text.endsWith('/') ? text.slice(0, -1) : text], negated)
      case 'session':
        return sessions.add([value], negated)
      case 'tool':
        return tools.add([value], negated)
      case 'role':
        return isKey(ROLES, value) ? speakers.add(ROLES[value], negated) : choices(facet, ROLES)
      case 'speaker':
        return isKey(SPEAKERS, value) ? speakers.add([value], negated) : choices(facet, SPEAKERS)
      case 'kind':
        return isKey(KINDS, value) ? kinds.add([value], negated) : choices(facet, KINDS)
      case 'in':
        return isKey(TIERS, value) ? tiers.add([value], negated) : choices(facet, TIERS)
      case 'has':
        if (value === 'error' || value === 'errors') isError = !negated
        else if (value === 'directive' || value === 'directives') hasDirective = !negated
        else return '“has:” takes error, directive'
        return undefined
      default:
        return addTime(piece)
    }
  }

  return {
    get count() {
      return count
    },
    add(piece) {
      const problem = piece.text === '' ? `“${piece.facet}:” says nothing` : add(piece)
      if (problem === undefined) count++
      return problem
    },
    facets: () => ({
      agents: agents.choice,
      workdirs: workdirs.choice,
      sessions: sessions.choice,
      speakers: speakers.choice,
      tools: tools.choice,
      kinds: kinds.choice,
      tiers: tiers.choice,
      from,
      to,
      isError,
      hasDirective,
    }),
  }
}

function createChoice<Value>(): {
  readonly choice: Choice<Value>
  add(values: readonly Value[], negated: boolean): undefined
} {
  const any: Value[] = []
  const none: Value[] = []
  return {
    choice: { any, none },
    add(values, negated) {
      const list = negated ? none : any
      for (const value of values) if (!list.includes(value)) list.push(value)
    },
  }
}

function isKey<Key extends string>(known: Readonly<Record<Key, unknown>>, value: string): value is Key {
  return Object.hasOwn(known, value)
}

function choices(facet: string, known: Readonly<Record<string, unknown>>): string {
  return `“${facet}:” takes ${Object.keys(known).join(', ')}`
}

const UNITS: Readonly<Record<string, number>> = { h: 3_600_000, d: 86_400_000, w: 7 * 86_400_000 }

interface Span {
  /** The moment that is meant. */
  readonly at: number
  /** The day it falls on, and the one after it. */
  readonly day: number
  readonly nextDay: number
}

function findSpan(text: string, calendar: Calendar, now: number): Span | undefined {
  const today = calendar.dayOf(now)
  const named = text === 'today' ? today : text === 'yesterday' ? dayAfter(today, -1) : findDay(text)
  if (named !== undefined) return spanOf(named, calendar)
  const unit = UNITS[text.slice(-1)]
  if (unit === undefined || !/^\d{1,5}[hdw]$/.test(text)) return undefined
  const at = now - Number.parseInt(text, 10) * unit
  return { ...spanOf(calendar.dayOf(at), calendar), at }
}

function spanOf(day: string, calendar: Calendar): Span {
  const start = calendar.startOf(day)
  return { at: start, day: start, nextDay: calendar.startOf(dayAfter(day, 1)) }
}
