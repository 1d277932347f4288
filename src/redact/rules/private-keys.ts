import type { Effort, Secret } from '../secret.ts'

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
  return [...found, ...findWithoutHeader(text, { effort, found })]
}

/** How the bytes of a private key begin, in base64: of RSA, of elliptic curves, of OpenSSH. No certificate begins so. */
const BEGINNING =
  /(?:MII[\w+/]{3}IBA(?:AK[BC]|DANBgkqhkiG9w0BAQ)|MHcCAQEEI|MIGkAgEBBD|MIHcAgEBBE|MI[GH][\w+/]AgEAMB[\w+/]GByqGSM49|MC4CAQAwBQYDK2VwBCIE|b3BlbnNzaC1rZXktdjE)(?=[\w+/]{16})/g
const PRIVATE_FOOTER = /-----END ?[A-Z0-9 ]{0,40}PRIVATE ?KEY(?: ?BLOCK)? ?-----/g

interface Known {
  readonly effort: Effort
  readonly found: readonly Secret[]
}

/** A key whose first line was cut off: what stands before its last line, or begins as keys do. */
function findWithoutHeader(text: string, { effort, found }: Known): readonly Secret[] {
  const more: Secret[] = []
  let known = 0
  let last = 0
  for (const { 0: footer, index } of text.includes(END) ? text.matchAll(PRIVATE_FOOTER) : []) {
    while ((found[known]?.end ?? Infinity) <= index) known += 1
    if ((found[known]?.start ?? Infinity) <= index) continue
    const start = startOfBody(text, index, Math.max(last, index - LONGEST, found[known - 1]?.end ?? 0))
    effort.spend(index - start + 64)
    last = index + footer.length
    if (start < index) more.push({ kind: 'private-key', start, end: last, confidence: 'certain' })
  }
  let covered = 0
  for (const { index } of text.matchAll(BEGINNING)) {
    if (index < covered || /[\w+/]/.test(text.charAt(index - 1))) continue
    covered = endOfOpenKey(text, index)
    effort.spend(covered - index + 64)
    more.push({ kind: 'private-key', start: index, end: covered, confidence: 'certain' })
  }
  return more
}

/** The lines above a place that are those of a key, whatever a tool puts before each. The first may begin elsewhere. */
function startOfBody(text: string, footer: number, limit: number): number {
  let whole = footer
  for (let end = footer; end > limit;) {
    // Not by looking back through all of the text: many last lines must not each read to its beginning.
    const above = text.slice(Math.max(limit, end - LONGEST), end)
    const line = above.slice(above.lastIndexOf('\n') + 1)
    const before = end - line.length
    const [, gutter = '', body = ''] = BODY_LINE.exec(line) ?? []
    if (body.length >= SHORTEST_BODY) whole = before + gutter.length
    else if (body === '' && !GUTTER.test(line)) {
      const word = startOfLastWord(line)
      return word === line.length ? whole : before + word
    }
    end = before - 1
  }
  return whole
}

const SHORTEST_BODY = 16
const GUTTER = /^[\s>|"'+&.]{0,80}(?:\d{1,6}[\t:→|-][ \t]{0,8})?$/
const BODY_LINE =
  /^([\s>|"'+&.]{0,80}(?:\d{1,6}[\t:→|-][ \t]{0,8})?)([\w+/=]{2,}(?:["'`] ?(?:\|\||[+.&])? ?["'`][\w+/=]{1,1024}){0,4})[\s"'`+,\\|&.]{0,20}$/

/** Where the word of a key begins that a line ends with; behind the line when there is none. */
function startOfLastWord(line: string): number {
  let end = line.length
  while (end > 0 && JUNK.includes(line.charAt(end - 1))) end -= 1
  let at = end
  while (at > 0 && isOfKey(line.charCodeAt(at - 1))) at -= 1
  return end - at >= 20 ? at : line.length
}

const JUNK = ' \t\r"\'`+,\\|&.'

function isOfKey(code: number): boolean {
  return /[\w+/=]/.test(String.fromCharCode(code))
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
