import type { SessionSummary } from '#model'
import type { Route } from '../route.ts'
import { toFolderName } from '../folder-names.ts'
import { toTitle } from '../session-groups.ts'
import { findMatch } from './match.ts'

/** Something the app can do, as the palette offers it. */
export interface PaletteAction {
  readonly id: string
  readonly label: string
  readonly keys?: string
  readonly run: () => void
}

/** One line of the palette. */
export interface Choice {
  readonly id: string
  readonly group: 'Sessions' | 'Go to' | 'Do' | 'Search'
  readonly label: string
  /** Places in the label that were typed. */
  readonly places: readonly number[]
  readonly note: string
  readonly goal:
    | { readonly kind: 'go'; readonly route: Route }
    | { readonly kind: 'run'; readonly action: PaletteAction }
}

const MOST_SESSIONS = 30
const RECENT = 7

const PLACES: readonly { readonly id: string; readonly label: string; readonly route: Route }[] = [
  { id: 'home', label: 'Start page', route: { kind: 'home' } },
  { id: 'search', label: 'Search', route: { kind: 'search', q: '' } },
  { id: 'board', label: 'Board', route: { kind: 'board' } },
  { id: 'memory', label: 'Memory', route: { kind: 'memory' } },
  { id: 'usage', label: 'Usage', route: { kind: 'usage' } },
]

/** What the palette offers for what was typed: sessions, places, actions; best first, recent first among equals. */
export function toChoices(
  typed: string,
  sessions: readonly SessionSummary[],
  actions: readonly PaletteAction[],
): readonly Choice[] {
  const found = typed.trim() === '' ? sessions.slice(0, RECENT).map(toPlain) : findSessions(typed, sessions)
  const places = PLACES.filter(({ id }) => !actions.some((action) => action.id === id))
  const others = [...toPlaceChoices(typed, places), ...toActionChoices(typed, actions)]
  const goals = others.filter(({ group }) => group === 'Go to')
  const deeds = others.filter(({ group }) => group === 'Do')
  const search: readonly Choice[] =
    typed.trim() === ''
      ? []
      : [
          {
            id: 'search-for',
            group: 'Search',
            label: `Search every session for “${typed.trim()}”`,
            places: [],
            note: '',
            goal: { kind: 'go', route: { kind: 'search', q: typed.trim() } },
          },
        ]
  return [...found, ...goals, ...deeds, ...search]
}

function findSessions(typed: string, sessions: readonly SessionSummary[]): readonly Choice[] {
  const scored: { readonly choice: Choice; readonly score: number }[] = []
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean)
  for (const session of sessions) {
    const title = toTitle(session)
    const inTitle = findMatch(typed, title)
    // Words may be spread over the name and the folder.
    const match = inTitle ?? findMatch(typed, `${title} ${session.workdirs.at(-1) ?? ''}`)
    if (match === undefined && !isElsewhere(session, words)) continue
    const score = match === undefined ? 0 : match.score + (inTitle === undefined ? -2 : 0)
    const places = (match?.places ?? []).filter((place) => place < title.length)
    scored.push({ choice: { ...toPlain(session), places }, score })
  }
  return scored
    .toSorted((a, b) => b.score - a.score)
    .slice(0, MOST_SESSIONS)
    .map(({ choice }) => choice)
}

/** In a long text letters stand in any order by chance, so there only whole words count. */
function isElsewhere(
  { firstPrompt = '', gitBranch = '', id }: SessionSummary,
  words: readonly string[],
): boolean {
  const text = `${firstPrompt} ${gitBranch} ${id}`.toLowerCase()
  return words.every((word) => text.includes(word))
}

function toPlain(session: SessionSummary): Choice {
  return {
    id: `session-${session.id}`,
    group: 'Sessions',
    label: toTitle(session),
    places: [],
    note: toFolderName(session.workdirs.at(-1) ?? ''),
    goal: { kind: 'go', route: { kind: 'session', id: session.id } },
  }
}

function toPlaceChoices(typed: string, places: typeof PLACES): readonly Choice[] {
  return places.flatMap(({ id, label, route }) => {
    const match = findMatch(typed, label)
    return match === undefined
      ? []
      : [
          {
            id: `place-${id}`,
            group: 'Go to',
            label,
            places: match.places,
            note: '',
            goal: { kind: 'go', route },
          },
        ]
  })
}

function toActionChoices(typed: string, actions: readonly PaletteAction[]): readonly Choice[] {
  return actions.flatMap((action): readonly Choice[] => {
    const match = findMatch(typed, action.label)
    if (match === undefined) return []
    const group = PLACES.some(({ id }) => id === action.id) ? 'Go to' : 'Do'
    return [
      {
        id: `action-${action.id}`,
        group,
        label: action.label,
        places: match.places,
        note: action.keys ?? '',
        goal: { kind: 'run', action },
      },
    ]
  })
}
