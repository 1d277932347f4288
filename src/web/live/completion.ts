/** What could stand where the caret is. */
export interface Completion {
  readonly kind: 'command' | 'file'
  /** The part of the text that a choice takes the place of. */
  readonly from: number
  readonly to: number
  readonly choices: readonly string[]
}

const MOST = 8

/** Commands behind a `/` at the beginning, files behind an `@`. `undefined` when there is nothing to offer. */
export function findCompletion(
  text: string,
  caret: number,
  known: { readonly commands: readonly string[]; readonly files: readonly string[] },
): Completion | undefined {
  const before = text.slice(0, caret)
  const command = /^\/([\w:.-]*)$/u.exec(before)?.[1]
  if (command !== undefined) {
    const names = known.commands.map((name) => name.replace(/^\//, ''))
    return toCompletion('command', {
      from: 0,
      to: caret,
      choices: pick(names, command).map((name) => `/${name}`),
    })
  }
  const file = /(?:^|\s)@([^\s@]*)$/u.exec(before)?.[1]
  if (file === undefined) return undefined
  const choices = pick(known.files, file).map((path) => `@${path}`)
  return toCompletion('file', { from: caret - file.length - 1, to: caret, choices })
}

function toCompletion(kind: Completion['kind'], found: Omit<Completion, 'kind'>): Completion | undefined {
  return found.choices.length === 0 ? undefined : { kind, ...found }
}

/** Those that begin with what was typed, then those that have it inside; a path by its last part too. */
function pick(names: readonly string[], typed: string): readonly string[] {
  const wanted = typed.toLowerCase()
  const ranked = names.flatMap((name) => {
    const low = name.toLowerCase()
    const isFirst = low.startsWith(wanted) || low.slice(low.lastIndexOf('/') + 1).startsWith(wanted)
    if (isFirst) return [{ name, rank: 0 }]
    return low.includes(wanted) ? [{ name, rank: 1 }] : []
  })
  return ranked
    .toSorted((a, b) => a.rank - b.rank)
    .slice(0, MOST)
    .map(({ name }) => name)
}

/** The text with a choice in it, and where the caret is then. */
export function complete(
  text: string,
  { from, to }: Pick<Completion, 'from' | 'to'>,
  choice: string,
): { readonly text: string; readonly caret: number } {
  const rest = text.slice(to)
  const gap = rest.startsWith(' ') ? '' : ' '
  return { text: `${text.slice(0, from)}${choice}${gap}${rest}`, caret: from + choice.length + 1 }
}
