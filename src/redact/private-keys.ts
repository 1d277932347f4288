import type { Effort, Secret } from './secret.ts'

const BEGIN = '-----BEGIN'
const END = '-----END'
const HEADER = /-----BEGIN ?[A-Z0-9 ]{0,40}PRIVATE ?KEY(?: ?BLOCK)? ?-----/y
const FOOTER = /-----END[A-Z0-9 ]{0,60}-----/y

/** A key of 16,384 bits in base64, with room for what may stand between its lines. */
const LONGEST = 65_536
const LONGEST_LINE = 1024

/** Private keys from `BEGIN` to `END`; one without its end is taken as far as it looks like a key. */
export function findPrivateKeys(text: string, effort: Effort): readonly Secret[] {
  const found: Secret[] = []
  let footer = -2
  for (let at = text.indexOf(BEGIN); at !== -1;) {
    effort.spend(64)
    HEADER.lastIndex = at
    const header = HEADER.exec(text)?.[0].length
    if (header === undefined) {
      at = text.indexOf(BEGIN, at + BEGIN.length)
      continue
    }
    // Looked for once, and remembered: many beginnings without an end must not each read to the end of the text.
    if (footer !== -1 && footer < at) footer = text.indexOf(END, at)
    const isClosed = footer !== -1 && footer - at <= LONGEST
    const end = isClosed ? endOfFooter(text, footer) : endOfOpenKey(text, at + header)
    effort.spend(end - at)
    found.push({ kind: 'private-key', start: at, end, confidence: 'certain' })
    at = text.indexOf(BEGIN, end)
  }
  return found
}

function endOfFooter(text: string, at: number): number {
  FOOTER.lastIndex = at
  return at + (FOOTER.exec(text)?.[0].length ?? END.length)
}

const KEY_LINE = /^(?:[\w+/=]{12,}|(?:Proc-Type|DEK-Info|Version|Comment): [^\n]{0,200}|[\w+/=]{0,11})$/

function endOfOpenKey(text: string, start: number): number {
  const limit = Math.min(text.length, start + LONGEST)
  let end = start
  let at = start
  while (at < limit) {
    const found = nextBreak(text, at, Math.min(limit, at + LONGEST_LINE))
    const line = text.slice(at, found.at).replace(/^[\s>|"'+]{1,80}|[\s"'+,\\]{1,80}$/g, '')
    if (!KEY_LINE.test(line)) return at === start ? limitOfWord(text, start) : end
    if (line !== '') end = found.at
    at = found.at + found.length
  }
  return end
}

/** A line ends at a line break, or at one that is written as an escape. */
function nextBreak(
  text: string,
  from: number,
  limit: number,
): { readonly at: number; readonly length: number } {
  for (let at = from; at < limit; at += 1) {
    const char = text.charAt(at)
    if (char === '\n') return { at, length: 1 }
    if (char === '\\' && text.charAt(at + 1) === 'n') return { at, length: 2 }
  }
  return { at: limit, length: 0 }
}

/** The whole key stands in the line of its header: it goes on to the first character that no key has. */
function limitOfWord(text: string, start: number): number {
  return start + (/^[\w+/=\\-]*/.exec(text.slice(start, start + LONGEST))?.[0].length ?? 0)
}
