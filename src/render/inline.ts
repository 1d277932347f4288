/** A piece of a line of Markdown. */
export type Inline =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'code'; readonly text: string }
  | { readonly kind: 'strong' | 'emphasis' | 'deleted'; readonly content: readonly Inline[] }
  /** Only `http:`, `https:` and `mailto:`; any other destination stays text. */
  | { readonly kind: 'link'; readonly href: string; readonly content: readonly Inline[] }

const DEEPEST = 6
const LONGEST_LINK = 2048
const PUNCTUATION = /[!-/:-@[-`{-~]/

/** Reads emphasis, code and links. Linear in the length of the text, whatever is in it. */
export function parseInline(text: string, depth = 0): readonly Inline[] {
  if (depth > DEEPEST) return [{ kind: 'text', text }]
  const out: Inline[] = []
  const find = createFinder(text)
  let plain = ''
  let at = 0
  const take = (node: Inline, end: number): void => {
    if (plain !== '') out.push(...linkAddresses(plain))
    plain = ''
    out.push(node)
    at = end
  }
  while (at < text.length) {
    const next = nextSpecial(text, at)
    plain += text.slice(at, next)
    at = next
    const char = text.charAt(at)
    if (char === '') break
    if (char === '\\' && PUNCTUATION.test(text.charAt(at + 1))) {
      plain += text.charAt(at + 1)
      at += 2
      continue
    }
    const found = readSpan(text, at, find, depth)
    if (found === undefined) {
      // The whole run of a delimiter is text, else `****…` would be looked at once per star.
      const run = runLength(text, at)
      plain += text.slice(at, at + run)
      at += run
    } else {
      take(found.node, found.end)
    }
  }
  if (plain !== '') out.push(...linkAddresses(plain))
  return out
}

/** The address of a link that may be followed, or `undefined`. */
export function safeHref(address: string): string | undefined {
  const trimmed = address.trim()
  if (trimmed.length > LONGEST_LINK || !/^(?:https?:\/\/|mailto:)[!-~\u00a1-\uffff]+$/i.test(trimmed))
    return undefined
  return trimmed
}

type Finder = (needle: string, from: number) => number

/** `indexOf` that never walks the same stretch twice for one needle. */
function createFinder(text: string): Finder {
  const known = new Map<string, { from: number; found: number }>()
  return (needle, from) => {
    const last = known.get(needle)
    if (last !== undefined && last.from <= from && (last.found < 0 || last.found >= from)) return last.found
    const found = text.indexOf(needle, from)
    known.set(needle, { from, found })
    return found
  }
}

const SPECIAL = /[\\`*_~[]/g

function nextSpecial(text: string, from: number): number {
  SPECIAL.lastIndex = from
  const found = SPECIAL.exec(text)
  return found === null ? text.length : found.index
}

interface Span {
  readonly node: Inline
  readonly end: number
}

function readSpan(text: string, at: number, find: Finder, depth: number): Span | undefined {
  switch (text.charAt(at)) {
    case '`':
      return readCode(text, at, find)
    case '[':
      return readLink(text, at, find, depth)
    case '~':
      return text.startsWith('~~', at) ? readPair(text, at, '~~', 'deleted', find, depth) : undefined
    case '*':
    case '_': {
      const char = text.charAt(at)
      const run = runLength(text, at)
      if (run > 2) return undefined
      return readPair(text, at, char.repeat(run), run === 2 ? 'strong' : 'emphasis', find, depth)
    }
    default:
      return undefined
  }
}

function runLength(text: string, at: number): number {
  const char = text.charAt(at)
  if (char === '[') return 1
  let length = 1
  while (text.charAt(at + length) === char) length++
  return length
}

function readCode(text: string, at: number, find: Finder): Span | undefined {
  const fence = '`'.repeat(Math.min(runLength(text, at), 32))
  const start = at + fence.length
  const end = find(fence, start)
  if (end < 0 || text.charAt(start) === '`' || text.charAt(end + fence.length) === '`') return undefined
  const inside = text.slice(start, end)
  const padded = inside.startsWith(' ') && inside.endsWith(' ') && inside.trim() !== ''
  const code = padded ? inside.slice(1, -1) : inside
  return { node: { kind: 'code', text: code }, end: end + fence.length }
}

function readPair(
  text: string,
  at: number,
  mark: string,
  kind: 'strong' | 'emphasis' | 'deleted',
  find: Finder,
  depth: number,
): Span | undefined {
  const start = at + mark.length
  // `snake_case` and `2 * 3` are no emphasis.
  if (mark.startsWith('_') && /[\p{L}\p{N}]/u.test(text.charAt(at - 1))) return undefined
  if (/^\s?$/.test(text.charAt(start))) return undefined
  const end = find(mark, start)
  if (end <= start || /\s/.test(text.charAt(end - 1))) return undefined
  if (mark.startsWith('_') && /[\p{L}\p{N}]/u.test(text.charAt(end + mark.length))) return undefined
  if (mark.length === 1 && text.charAt(end + 1) === mark) return undefined
  return {
    node: { kind, content: parseInline(text.slice(start, end), depth + 1) },
    end: end + mark.length,
  }
}

function readLink(text: string, at: number, find: Finder, depth: number): Span | undefined {
  const close = find(']', at + 1)
  if (close < 0 || text.charAt(close + 1) !== '(') return undefined
  const end = find(')', close + 2)
  if (end < 0 || end - close > LONGEST_LINK) return undefined
  const href = safeHref(text.slice(close + 2, end))
  if (href === undefined) return undefined
  return {
    node: { kind: 'link', href, content: withoutLinks(parseInline(text.slice(at + 1, close), depth + 1)) },
    end: end + 1,
  }
}

/** A link inside a link is text. */
function withoutLinks(nodes: readonly Inline[]): readonly Inline[] {
  return nodes.flatMap((node) => {
    switch (node.kind) {
      case 'text':
      case 'code':
        return [node]
      case 'link':
        return node.content
      case 'strong':
      case 'emphasis':
      case 'deleted':
        return [{ kind: node.kind, content: withoutLinks(node.content) }]
    }
  })
}

/** Addresses that stand in the text by themselves. */
function linkAddresses(text: string): readonly Inline[] {
  const out: Inline[] = []
  let last = 0
  for (const found of text.matchAll(/https?:\/\/[^\s<>"'`\\]{1,2000}/g)) {
    const address = found[0].replace(/[.,;:!?)\]}]{1,8}$/, '')
    const href = safeHref(address)
    if (href === undefined) continue
    if (found.index > last) out.push({ kind: 'text', text: text.slice(last, found.index) })
    out.push({ kind: 'link', href, content: [{ kind: 'text', text: address }] })
    last = found.index + address.length
  }
  if (last < text.length) out.push({ kind: 'text', text: text.slice(last) })
  return out
}
