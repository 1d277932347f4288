import type { TurnExtract } from './extract.ts'

export interface SummaryOptions {
  readonly sessionId: string
  /** How many tokens it may take. */
  readonly budget: number
  readonly countTokens: (text: string) => number
}

/**
 * The turns of the past in one text that is good enough to go on with: what was asked, what came of it, what was
 * done, which files, what failed, what was to be remembered. Nothing in it is made up. When it does not all fit,
 * files, errors and learnings stay and the oldest turns give way first; how many is said.
 */
export function toSummary(extracts: readonly TurnExtract[], options: SummaryOptions): string {
  const { sessionId, budget, countTokens } = options
  const head = [
    'This conversation goes on from an earlier part, of which this is a summary. Every turn named here is kept in',
    `full: session ${sessionId}, entry as given.`,
  ].join(' ')
  const learnings = unique(extracts.flatMap((each) => each.learnings))
  const files = unique(extracts.flatMap((each) => each.files))
  const errors = unique(extracts.flatMap((each) => each.errors)).slice(-20)
  const tail = [
    section(
      'To be remembered',
      learnings.map((text) => `- ${text}`),
    ),
    section(
      'Files that were worked on',
      files.slice(-80).map((path) => `- ${path}`),
    ),
    section(
      'What failed',
      errors.map((text) => `- ${text}`),
    ),
  ].filter((part) => part !== '')
  let left = budget - countTokens([head, ...tail].join('\n\n')) - 30
  const turns: string[] = []
  let dropped = 0
  for (const extract of extracts.toReversed()) {
    const forms = [toTurnText(extract, 'whole'), toTurnText(extract, 'short')]
    const text = forms.find((form) => countTokens(form) <= left)
    if (text === undefined) {
      dropped++
      continue
    }
    left -= countTokens(text) + 2
    turns.unshift(text)
  }
  const gap = dropped === 0 ? [] : [`(${dropped} of the turns are not named here.)`]
  return [head, '## What happened', ...gap, ...turns, ...tail].join('\n\n')
}

function toTurnText(extract: TurnExtract, form: 'whole' | 'short'): string {
  const { number, entryId, prompt, outcome, actions } = extract
  const lines = [`### Turn ${number} (entry ${entryId})`, `Asked: ${oneLine(prompt)}`]
  if (form === 'whole' && actions.length > 0) lines.push(`Did: ${actions.map(oneLine).join('; ')}`)
  if (outcome !== '') lines.push(`Came to: ${form === 'whole' ? outcome : oneLine(outcome).slice(0, 160)}`)
  return lines.join('\n')
}

function section(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? '' : `## ${title}\n\n${lines.join('\n')}`
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/gu, ' ').trim()
}

function unique(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)]
}
