import { parseJson } from '#base'
import { lineBreakOf, takeBack, type ConfigEdit, type EntryState, type Stretch } from './config-edit.ts'
import { ENTRY_NAME, isOurEntry, type McpEntry } from './mcp-entry.ts'
import { readTables, type TomlTable } from './toml-tables.ts'

const SERVERS = 'mcp_servers'
const NOTE = '# Made by `throughline connect codex`, and taken away by `throughline disconnect codex`.'

/** The settings of Codex: TOML, to which a table is added at the end. */
export function createCodexEdit({ command, args, env }: McpEntry): ConfigEdit {
  return {
    entry: (text) =>
      [
        NOTE,
        `[${SERVERS}.${ENTRY_NAME}]`,
        `command = ${toText(command)}`,
        `args = [${args.map(toText).join(', ')}]`,
        `env = { ${Object.entries(env)
          .map(([name, value]) => `${name} = ${toText(value)}`)
          .join(', ')} }`,
      ].join(lineBreakOf(text)),
    find,
    insert,
    remove,
  }
}

/** JSON escapes what TOML wants escaped, but for one character. */
function toText(text: string): string {
  return JSON.stringify(text).replaceAll('\u007f', String.raw`\u007f`)
}

const isOurs = ({ path }: TomlTable): boolean => path[0] === SERVERS && path[1] === ENTRY_NAME

function find(text: string): EntryState {
  const tables = readTables(text)
  if (tables === undefined) return { kind: 'unclear', reason: 'it is no TOML' }
  const [root, ...named] = tables
  if (root?.keys.some(([key]) => key === SERVERS) === true) {
    return { kind: 'unclear', reason: `${SERVERS} is not written as tables` }
  }
  const isInside = named.some(
    ({ path, keys }) => path[0] === SERVERS && path.length === 1 && keys.some(([key]) => key === ENTRY_NAME),
  )
  if (isInside) return { kind: 'foreign' }
  const tablesOfOurs = named.filter(isOurs)
  if (tablesOfOurs.length === 0) return { kind: 'absent' }
  const [main, other] = tablesOfOurs.filter(({ path }) => path.length === 2)
  if (main === undefined || other !== undefined) return { kind: 'foreign' }
  const [, list] = /^args[ \t]*=[ \t]*(\[[^\]]*\])/m.exec(text.slice(main.start, main.end)) ?? []
  const args = parseJson(list ?? '')
  if (!Array.isArray(args) || !isOurEntry(args)) return { kind: 'foreign' }
  const { from, to } = toStretch(text, main)
  return { kind: 'ours', text: text.slice(from, to).replace(/\r?\n$/, '') }
}

/** Each case reads differently, so that it can be told what was there before: a file that was made ends with a line. */
function insert(text: string | undefined, entry: string): string {
  if (text === undefined) return `${entry}\n`
  if (text === '') return entry
  const end = lineBreakOf(text)
  return text.endsWith('\n') ? `${text}${end}${entry}${end}` : `${text}${end}${end}${entry}`
}

function remove(text: string): string | undefined {
  const found = find(text)
  const main = readTables(text)?.find((table) => isOurs(table) && table.path.length === 2)
  if (found.kind !== 'ours' || main === undefined) return text
  if (insert(undefined, found.text) === text) return undefined
  const stretches = stretchesOf(text, toStretch(text, main))
  const before = takeBack(text, stretches, (rest) => insert(rest, found.text))
  return before ?? cutOut(text)
}

/** Its note, its header and its keys. */
function toStretch(text: string, { start, end }: TomlTable): Stretch {
  const [note = ''] =
    /(?:^|\n)(# Made by `throughline connect codex`[^\n]*\n)$/.exec(text.slice(0, start)) ?? []
  return { from: start - note.replace(/^\n/, '').length, to: end }
}

/** With the lines around it that may be ours. */
function* stretchesOf(text: string, { from, to }: Stretch): Generator<Stretch> {
  const [breaks = ''] = /(?:\r?\n){0,2}$/.exec(text.slice(0, from)) ?? []
  for (const before of [breaks.length, breaks.length / 2, 0]) yield { from: from - before, to }
}

/** Codex writes tables of its own below ours: what was allowed of our tools. Without ours they would break its settings. */
function cutOut(text: string): string {
  let rest = text
  for (const table of (readTables(text) ?? []).filter(isOurs).toReversed()) {
    const { from, to } = toStretch(text, table)
    const isAlone = /(?:^|\n)\r?\n$/.test(rest.slice(0, from)) && /^(?:\r?\n|$)/.test(rest.slice(to))
    const [line = ''] = /\r?\n$/.exec(rest.slice(0, from)) ?? []
    rest = rest.slice(0, isAlone ? from - line.length : from) + rest.slice(to)
  }
  return rest
}
