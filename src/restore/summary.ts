import { shorten } from '#base'
import type { TurnExtract } from './extract.ts'
import { toReference } from './reference.ts'

export interface SummaryOptions {
  readonly sessionId: string
  /** How many tokens it may take. */
  readonly budget: number
  readonly countTokens: (text: string) => number
}

const FILES = 60
const ERRORS = 12
/** Tokens that the places of turns may take. */
const PLACES = 3_000

/**
 * The turns of the past in one text that is good enough to go on with: what was asked, what was decided, what was
 * done, what came of it, which files, what failed, what is left to do, what was to be remembered. Nothing in it is made
 * up. When it does not all fit, what holds for all turns stays and the oldest turns give way first: to a line each, and
 * then to how many they are and where they begin.
 */
export function toSummary(extracts: readonly TurnExtract[], options: SummaryOptions): string {
  const { sessionId, budget, countTokens } = options
  const head = [
    'This conversation goes on from an earlier part, of which this is a summary.',
    `Every turn named here is kept in full: ${toReference(sessionId, 'as given')}.`,
  ].join(' ')
  const tail = toTail(extracts)
  const room = budget - countTokens([head, ...tail].join('\n\n')) - 40
  return [head, '## What happened', ...toTurnTexts(extracts, room, countTokens), ...tail].join('\n\n')
}

/** What somebody else wrote of the turns, with where each of them is, as far as it does not say so itself. */
export function withPlaces(
  text: string,
  extracts: readonly TurnExtract[],
  countTokens: (text: string) => number,
): string {
  const unnamed = extracts.filter(({ entryId }) => !text.includes(entryId))
  const lines: string[] = []
  let left = PLACES
  for (const extract of unnamed.toReversed()) {
    const line = toTurnText(extract, 'line')
    left -= countTokens(line)
    if (left < 0) break
    lines.unshift(line)
  }
  return lines.length === 0 ? text : `${text}\n\n${section('Where each turn is', lines)}`
}

/** Every turn gets a line as far as there is room for all of them, and the newest ones more than that. */
function toTurnTexts(
  extracts: readonly TurnExtract[],
  room: number,
  countTokens: (text: string) => number,
): readonly string[] {
  let left = room
  const named: { text: string; readonly extract: TurnExtract }[] = []
  for (const extract of extracts.toReversed()) {
    const text = toTurnText(extract, 'line')
    const cost = countTokens(text) + 2
    if (cost > left) break
    left -= cost
    named.push({ text, extract })
  }
  for (const each of named) {
    const spare = left + countTokens(each.text)
    const text = (['whole', 'short'] as const)
      .map((form) => toTurnText(each.extract, form))
      .find((form) => countTokens(form) <= spare)
    if (text === undefined) break
    left = spare - countTokens(text)
    each.text = text
  }
  const gone = extracts.length - named.length
  const gap = `(${gone} older turns are not named here; the first is at entry ${extracts[0]?.entryId ?? ''}.)`
  return [...(gone === 0 ? [] : [gap]), ...named.toReversed().map(({ text }) => text)]
}

/** What holds for all turns together. */
function toTail(extracts: readonly TurnExtract[]): readonly string[] {
  const changed = lastFirst(extracts.flatMap((each) => each.changed))
  const written = new Set(changed)
  const read = lastFirst(extracts.flatMap((each) => each.files)).filter((path) => !written.has(path))
  const errors = extracts.flatMap(({ number, errors: failed }) =>
    failed.map((text) => `turn ${number}: ${text}`),
  )
  const tasks = extracts.findLast((each) => each.tasks.length > 0)?.tasks ?? []
  return [
    section('To be remembered', unique(extracts.flatMap((each) => each.learnings))),
    section('Files that were changed, the last one first', capped(changed)),
    section('Files that were only read', capped(read).slice(0, FILES / 2)),
    section('What failed', unique(errors).slice(-ERRORS)),
    section('The list of things to do, as it was last', tasks),
  ].filter((part) => part !== '')
}

function toTurnText(extract: TurnExtract, form: 'whole' | 'short' | 'line'): string {
  const { number, entryId, prompt, outcome, actions, decisions } = extract
  const isWhole = form === 'whole'
  const asked = oneLine(prompt)
  if (form === 'line') return `Turn ${number} (entry ${entryId}): ${shorten(asked, 80)}`
  return [
    `### Turn ${number} (entry ${entryId})`,
    `Asked: ${asked === '' ? '(no words)' : isWhole ? asked : shorten(asked, 160)}`,
    ...(isWhole && decisions.length > 0 ? [`Decided: ${decisions.map(oneLine).join(' | ')}`] : []),
    ...(isWhole && actions.length > 0 ? [`Did: ${actions.map(oneLine).join('; ')}`] : []),
    ...(outcome === '' ? [] : [`Came to: ${isWhole ? outcome : shorten(oneLine(outcome), 160)}`]),
  ].join('\n')
}

function section(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? '' : `## ${title}\n\n${lines.map((line) => `- ${oneLine(line)}`).join('\n')}`
}

function capped(paths: readonly string[]): readonly string[] {
  const more = paths.length - FILES
  return more <= 0 ? paths : [...paths.slice(0, FILES), `and ${more} more`]
}

function lastFirst(texts: readonly string[]): readonly string[] {
  return unique(texts.toReversed())
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/gu, ' ').trim()
}

function unique(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)]
}
