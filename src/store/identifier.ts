/** How much is added to one text at most, in UTF-16 units. */
const MOST = 8192
/** A longer run of letters is data, not a name. */
const LONGEST = 64
/** A name with more numbers in it is an id or a piece of base64. */
const MOST_NUMBERS = 2

/**
 * What is indexed beside a text, so that `line` and `parse line` find `parseLine`: the parts of every name in it that
 * is written in several words without anything between them, lower-case, in order, each name once. Empty for most
 * texts.
 */
export function identifierParts(text: string): string {
  let parts = ''
  let seen: Set<string> | undefined
  HUMP.lastIndex = 0
  while (HUMP.test(text)) {
    const [start, end] = nameAround(text, HUMP.lastIndex - 2)
    HUMP.lastIndex = end
    if (end - start > LONGEST) continue
    const name = text.slice(start, end)
    if (seen?.has(name)) continue
    seen ??= new Set()
    seen.add(name)
    const found = knownParts(name)
    if (found === '') continue
    if (parts.length + found.length + 1 > MOST) break
    parts = parts === '' ? found : `${parts} ${found}`
  }
  return parts
}

/** Names come again and again: those of a project fit in here. */
const known = new Map<string, string>()
const MOST_KNOWN = 20_000

function knownParts(name: string): string {
  const found = known.get(name)
  if (found !== undefined) return found
  if (known.size >= MOST_KNOWN) known.clear()
  const parts = partsOf(name)
  known.set(name, parts)
  return parts
}

/** Where a part may begin inside a name. The regular expression looks through plain text four times faster than a loop. */
const HUMP = /[a-z0-9][A-Z]|[A-Z][A-Z][a-z]/g

/** Where the parts of a name begin, the first one at 0. A name of one part, or that is none, has no others. */
export function partStarts(name: string): readonly number[] {
  const starts = [0]
  if (name.length > LONGEST) return starts
  let numbers = 0
  for (let at = 0; at < name.length; at++) {
    const code = name.charCodeAt(at)
    if (isDigit(code) && !(at > 0 && isDigit(name.charCodeAt(at - 1)))) numbers++
    if (at > 0 && beginsPart(name, at)) starts.push(at)
  }
  return numbers > MOST_NUMBERS ? [0] : starts
}

/** The run of letters and digits around a place. */
export function nameAround(text: string, at: number): readonly [start: number, end: number] {
  let start = at
  let end = at + 1
  while (start > 0 && isNameCharacter(text.charCodeAt(start - 1))) start--
  while (end < text.length && isNameCharacter(text.charCodeAt(end))) end++
  return [start, end]
}

function partsOf(name: string): string {
  const starts = partStarts(name)
  if (starts.length < 2) return ''
  let parts = ''
  for (const [n, start] of starts.entries()) {
    const part = name.slice(start, starts[n + 1])
    parts = n === 0 ? part : `${parts} ${part}`
  }
  return parts.toLowerCase()
}

/** `L` in `parseLine` and `2Line`, `P` in `HTMLParser`. */
function beginsPart(name: string, at: number): boolean {
  if (!isUpper(name.charCodeAt(at))) return false
  const before = name.charCodeAt(at - 1)
  if (isLower(before) || isDigit(before)) return true
  return isUpper(before) && at + 1 < name.length && isLower(name.charCodeAt(at + 1))
}

function isUpper(code: number): boolean {
  return code >= 65 && code <= 90
}

function isLower(code: number): boolean {
  return code >= 97 && code <= 122
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57
}

/** ASCII letters and digits, and the letters of Latin alphabets; scripts without capitals end a name. */
export function isNameCharacter(code: number): boolean {
  return isLower(code) || isUpper(code) || isDigit(code) || (code >= 0xc0 && code <= 0x24f)
}
