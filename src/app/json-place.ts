/** Where a text stops being JSON. */
export interface JsonPlace {
  /** Counted from 1, as editors do. */
  readonly line: number
  readonly column: number
}

/** Deeper than anything that a person writes. */
const DEEPEST = 100

/**
 * The first place at which a text is no JSON any more; nothing for one that is JSON. `JSON.parse` tells no place for
 * short texts, and repeats what stands there, which may be a password.
 */
export function findJsonBreak(text: string): JsonPlace | undefined {
  const scan = createScan(text)
  if (scan.value(0) && scan.end()) return undefined
  const before = text.slice(0, scan.at())
  return {
    line: before.split('\n').length,
    column: before.length - before.lastIndexOf('\n'),
  }
}

interface Scan {
  readonly value: (depth: number) => boolean
  readonly end: () => boolean
  readonly at: () => number
}

// oxlint-disable-next-line no-control-regex -- JSON takes none of them in a text
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y
const PLAIN = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y
const SPACE = /[ \t\r\n]*/y

function createScan(text: string): Scan {
  let at = 0

  function match(pattern: RegExp): boolean {
    pattern.lastIndex = at
    const found = pattern.exec(text)
    if (found === null) return false
    at += found[0].length
    return true
  }

  function sign(wanted: string): boolean {
    match(SPACE)
    if (text[at] !== wanted) return false
    at++
    return true
  }

  function key(depth: number): boolean {
    match(SPACE)
    return match(STRING) && sign(':') && value(depth)
  }

  function group(close: string, depth: number, item: (depth: number) => boolean): boolean {
    if (depth > DEEPEST) return false
    if (sign(close)) return true
    while (item(depth + 1)) {
      if (sign(close)) return true
      if (!sign(',')) return false
    }
    return false
  }

  function value(depth: number): boolean {
    match(SPACE)
    if (sign('{')) return group('}', depth, key)
    if (sign('[')) return group(']', depth, value)
    return match(STRING) || match(PLAIN)
  }

  return {
    value,
    end() {
      match(SPACE)
      return at === text.length
    },
    at: () => at,
  }
}
