/** Lines of a file as tools show them: each with its number before it. */
export interface NumberedLines {
  readonly first: number
  readonly lines: readonly string[]
  /** What stands behind the lines: a remark of the client, mostly. */
  readonly rest: string
}

/** Reads `    12→text` lines. `undefined` unless the text begins with some, and their numbers count up by one. */
export function readNumberedLines(text: string): NumberedLines | undefined {
  const all = text.split('\n')
  const lines: string[] = []
  let first: number | undefined
  for (const line of all) {
    const found = /^ {0,8}(\d{1,8})(?:→|\t)/.exec(line)
    if (found === null) break
    first ??= Number(found[1])
    if (Number(found[1]) !== first + lines.length) break
    lines.push(line.slice(found[0].length))
  }
  return first === undefined ? undefined : { first, lines, rest: all.slice(lines.length).join('\n') }
}

/** What a file's name says of its language. */
export function languageOf(path: string): string {
  return /\.([a-z0-9]{1,10})$/i.exec(path)?.[1] ?? ''
}
