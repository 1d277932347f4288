import { textOf, type CommandMessage, type PromptMessage } from '#model'
import { toJson } from './call-input.ts'
import { type CallPart } from './call-parts.ts'
import { displayWidth } from './display-width.ts'
import { toClock, toPlural } from './figures.ts'
import type { Paint, Style } from './paint.ts'
import { safeLine, safeText } from './safe-text.ts'
import { toTextLines } from './terminal-text.ts'
import { describeBlock, speakerOf } from './transcript.ts'
import { chopLine, wrapText } from './wrap.ts'

/** Where and how something is written. */
export interface Page {
  readonly paint: Paint
  readonly colour: boolean
  readonly width: number
  readonly full: boolean
  /** Stands before every line: the bars of the subagents we are in. */
  readonly inset: string
  readonly depth: number
}

/** Lines that belong together. Folded ones stand close to each other. */
export interface Piece {
  readonly kind: 'text' | 'fold'
  readonly lines: readonly string[]
}

/** Prompts beyond this many lines are cut unless everything is asked for. */
const LONGEST_PROMPT = 40
const LONGEST_OUTPUT = 6

export function textPiece(text: string, page: Page, style?: Style): Piece {
  const options = style === undefined ? page : { ...page, style }
  return { kind: 'text', lines: toTextLines(safeText(text), options) }
}

export function promptPiece(prompt: PromptMessage, page: Page): Piece {
  const { paint, width } = page
  const bar = paint('person', '▌')
  const said = textOf(prompt.blocks).trim()
  const clock = prompt.at === undefined ? '' : `  ${toClock(prompt.at)}`
  const meanwhile = prompt.midTurn ? '  while the agent was working' : ''
  const label = `${paint('person', speakerOf(prompt, page.depth))}${paint('dim', clock + meanwhile)}`
  const things = prompt.blocks.filter((block) => block.kind !== 'text')
  const style = prompt.origin === 'system' ? 'dim' : 'strong'
  // Not all of a pasted log is wrapped to show its first lines.
  const shown = page.full ? said : said.slice(0, width * LONGEST_PROMPT * 2)
  const words =
    shown === '' ? [] : toTextLines(safeText(shown), { ...page, width: width - 2, colour: false, style })
  const lines = [
    label,
    ...(page.full ? words : cutPrompt(words, said)),
    ...things.map((block) => paint('dim', `[${describeBlock(block)}]`)),
  ]
  return { kind: 'text', lines: lines.map((line) => `${bar} ${line}`) }

  function cutPrompt(wrapped: readonly string[], whole: string): readonly string[] {
    if (wrapped.length <= LONGEST_PROMPT && shown.length === whole.length) return wrapped
    const note = `… ${toPlural(whole.length, 'character')} in all; --full shows them`
    return [...wrapped.slice(0, LONGEST_PROMPT - 10), paint('dim', note)]
  }
}

export function commandPiece(message: CommandMessage, page: Page): Piece {
  const { paint, width } = page
  const lines: string[] = []
  if (message.command !== undefined) {
    const name = message.command.startsWith('/') ? message.command : `/${message.command}`
    const line = safeLine(`${name} ${message.args ?? ''}`)
    const words = toTextLines(line, { ...page, width: width - 2, colour: false, style: 'strong' })
    lines.push(...words.map((part) => `${paint('person', '▌')} ${part}`))
  }
  const output = safeText(message.output ?? '').trim()
  if (output !== '') {
    const printed = toTextLines(output, { ...page, width: width - 2, colour: false, style: 'dim' })
    lines.push(...foldedCut(printed, page, LONGEST_OUTPUT).map((line) => `  ${line}`))
  }
  return { kind: 'text', lines }
}

/** The first lines, and how many there are more, unless everything is asked for. */
export function foldedCut(lines: readonly string[], page: Page, most: number): readonly string[] {
  if (page.full || lines.length <= most + 1) return lines
  return [...lines.slice(0, most), page.paint('dim', `… ${toPlural(lines.length - most, 'more line')}`)]
}

export function divider(text: string, page: Page): string {
  const room = Math.max(4, page.width - displayWidth(text) - 2)
  const left = Math.floor(room / 2)
  return page.paint('dim', `${'─'.repeat(left)} ${text} ${'─'.repeat(room - left)}`)
}

/** What is inside an unfolded call, moved in under its line. */
export function partLines(part: CallPart, page: Page): readonly string[] {
  const { paint } = page
  switch (part.kind) {
    case 'plan':
      return toTextLines(safeText(part.text).trim(), { ...page, width: page.width - 4 }).map(
        (line) => `    ${line}`,
      )
    case 'input':
      return block(part.text, 'code')
    case 'note':
      return block(part.text, 'warning')
    case 'diff':
      return part.lines.flatMap(({ kind, text }) => {
        if (kind === 'added') return block(`+ ${text}`, 'added')
        return kind === 'removed' ? block(`- ${text}`, 'removed') : block(`  ${text}`, 'dim')
      })
    case 'output':
      return part.blocks.flatMap((found) => {
        if (found.kind === 'text') return block(found.text.trimEnd(), part.failed ? 'removed' : 'dim')
        return block(found.kind === 'unknown' ? toJson(found.value) : `[${describeBlock(found)}]`, 'dim')
      })
  }

  function block(text: string, style: Style): readonly string[] {
    const width = page.width - 4
    const lines: string[] = []
    for (const line of safeText(text).replaceAll('\t', '    ').split('\n')) {
      const pieces = part.kind === 'diff' ? chopLine(line, width) : wrapLine(line, width)
      for (const piece of pieces) lines.push(`    ${paint(style, piece)}`)
    }
    return lines
  }
}

function wrapLine(line: string, width: number): readonly string[] {
  return line.length * 2 <= width ? [line] : wrapText(line, width)
}
