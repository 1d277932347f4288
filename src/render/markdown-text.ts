import { closesFence, readFence } from './markdown-tree.ts'
import { safeHref } from './inline.ts'

/**
 * Somebody's Markdown, made fit to stand inside ours: no HTML, no image that is fetched by looking at it, no link
 * to anything but the web, mail and files nearby, no code block left open, headings below our own.
 *
 * It never guesses what a Markdown reader takes for code. Backticks are either a pair on one line, which every
 * reader agrees on, or escaped; so is every fence that is not written here.
 */
export function toContainedMarkdown(text: string): string {
  const out: string[] = []
  const lines = text.split('\n')
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? ''
    const fence = readFence(line)
    if (fence === undefined) {
      out.push(containLine(line))
      continue
    }
    let end = at + 1
    while (end < lines.length && !closesFence(lines[end] ?? '', fence.mark)) end++
    // Blank lines end any list or paragraph before it, so that the block begins where we think it does.
    const info =
      LANGUAGE.test(fence.language) || fence.language === '' ? [] : [toPlainMarkdown(fence.language), '']
    out.push('', ...info, toFenced(lines.slice(at + 1, end).join('\n'), fence.language), '')
    at = end
  }
  return out.join('\n')
}

/** A code block whose fence is longer than any run of backticks inside. */
export function toFenced(text: string, language = ''): string {
  let longest = 2
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length)
  const mark = '`'.repeat(longest + 1)
  return `${mark}${LANGUAGE.test(language) ? language : ''}\n${text}\n${mark}`
}

/** What may stand behind the marks that open a code block. Anything else is a line of its own above it. */
const LANGUAGE = /^[\w+#.-]{1,30}$/

/** Text on one line, with nothing in it that Markdown or HTML would act on. */
export function toPlainMarkdown(text: string): string {
  return text.replace(/[\\`*_[\]<>!|~&]/g, (char) => {
    if (char === '<') return '&lt;'
    return char === '&' ? '&amp;' : `\\${char}`
  })
}

function containLine(line: string): string {
  // Four columns in, a line would be code to some readers and text to others, depending on what is above it.
  const shallow = line.replace(/^[ \t]+(?![ \t]|[-*+] |\d{1,9}[.)] )/, (indent) =>
    '  '.slice(0, indent.length),
  )
  const lowered = shallow.replace(/^( {0,3})(#{1,4})(?= )/, '$1##$2').replace(/^( {0,3})(~{3,})/, '$1\\$2')
  // Pieces in a list: looking at the end of a growing string costs its whole length.
  const out: string[] = []
  const ends = createRunFinder(lowered)
  let at = 0
  while (at < lowered.length) {
    const char = lowered.charAt(at)
    switch (char) {
      case '\\':
        // A pair stays a pair, so a backtick of ours is never preceded by a backslash that would disarm it.
        out.push(lowered.slice(at, at + 2).replace('<', '&lt;'))
        at += 2
        break
      case '`': {
        const run = runLength(lowered, at)
        // A backtick beside another one, escaped or not, is a pair to one reader and none to the next.
        const code = out.at(-1)?.endsWith('`') === true ? undefined : readCodeSpan(lowered, at, run, ends)
        out.push(code ?? '\\`'.repeat(run))
        at += code?.length ?? run
        break
      }
      case '<':
        out.push('&lt;')
        at++
        break
      case '!':
        out.push(lowered.charAt(at + 1) === '[' ? '\\!' : '!')
        at++
        break
      case ']':
        out.push(isHarmless(lowered, at) ? ']' : '\\]')
        at++
        break
      default: {
        const end = nextSpecial(lowered, at)
        out.push(lowered.slice(at, end))
        at = end
      }
    }
  }
  return out.join('')
}

const SPECIAL = /[\\`<!\]]/g

function nextSpecial(line: string, from: number): number {
  SPECIAL.lastIndex = from
  return SPECIAL.exec(line)?.index ?? line.length
}

function runLength(line: string, at: number): number {
  let length = 1
  while (line.charAt(at + length) === '`') length++
  return length
}

type RunFinder = (length: number, from: number) => number

/** Where the next run of exactly so many backticks begins. A length that was not found is not looked for again. */
function createRunFinder(line: string): RunFinder {
  const none = new Set<number>()
  return (length, from) => {
    let found = none.has(length) ? -1 : line.indexOf('`', from)
    while (found >= 0) {
      const run = runLength(line, found)
      if (run === length) return found
      found = line.indexOf('`', found + run)
    }
    none.add(length)
    return -1
  }
}

function readCodeSpan(line: string, at: number, length: number, ends: RunFinder): string | undefined {
  const end = length > 3 ? -1 : ends(length, at + length)
  if (end < 0) return undefined
  const span = line.slice(at, end + length)
  // In a table a pipe ends the cell, and the code with it.
  return span.includes('<') && span.includes('|') ? undefined : span
}

/** Whether a `]` is followed by a link that may be followed, or by no link at all. */
function isHarmless(line: string, at: number): boolean {
  const next = line.charAt(at + 1)
  if (next === ':') return false
  if (next !== '(') return true
  const link = line.slice(at + 2, at + 2100)
  const end = link.indexOf(')')
  if (end < 0) return false
  const address = link.slice(0, end).trim()
  return safeHref(address) !== undefined || /^[\w./#~-]+$/.test(address)
}
