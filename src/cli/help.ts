import type { Paint } from '#render'
import type { CommandSpec, OptionSpec } from './command.ts'
import { commands, everywhere, variables } from './commands.ts'

/** What `throughline --help` prints. */
export function toHelp(paint: Paint): string {
  return [
    'Throughline makes the sessions of coding agents durable.',
    'It finds and reads every transcript they leave behind, and changes none of them.',
    '',
    `${paint('strong', 'Usage')}  throughline [command] [options]`,
    '',
    paint('strong', 'Commands'),
    ...columns(commands.map(({ name, summary }) => [name, summary])),
    '',
    paint('strong', 'Examples'),
    ...columns([
      ['throughline', 'start the daemon, open a browser'],
      ['throughline ls', 'every session, most recently active first'],
      ['throughline search flaky test', 'where was that?'],
      ['throughline show 7d0c1f3e', 'read one; the beginning of its id is enough'],
      ['throughline export 7d0c1f3e --out session.html', 'a page to keep or send'],
      ['throughline check', 'is anything damaged?'],
    ]),
    '',
    paint('strong', 'Environment'),
    ...columns(variables.map(({ name, summary }) => [name, summary])),
    '',
    'Run `throughline <command> --help` for its options.',
    '',
  ].join('\n')
}

/** What `throughline <command> --help` prints. */
export function toCommandHelp(command: CommandSpec, paint: Paint): string {
  const args = command.args
    .map(({ name, required, many }) => {
      const words = many === true ? `${name}…` : name
      return required ? `<${words}>` : `[${words}]`
    })
    .concat('[options]')
    .join(' ')
  const lines = [
    command.summary,
    '',
    `${paint('strong', 'Usage')}  throughline ${command.name} ${args}`,
    '',
    ...wrapWords(command.description, 78),
    '',
  ]
  if (command.args.length > 0) {
    lines.push(
      paint('strong', 'Arguments'),
      ...columns(command.args.map(({ name, summary }) => [name, summary])),
      '',
    )
  }
  lines.push(
    paint('strong', 'Options'),
    ...columns([...command.options, ...everywhere].map((option) => [toOptionUsage(option), option.summary])),
    '',
    paint('strong', 'Examples'),
    ...columns(command.examples.map(({ line, says }) => [line, says])),
    '',
  )
  if (command.exits !== undefined) {
    lines.push(
      paint('strong', 'Exit codes'),
      ...columns(
        [...command.exits, [2, 'the command line was not understood']].map(([code, meaning]) => [
          String(code),
          String(meaning),
        ]),
      ),
      '',
    )
  }
  return lines.join('\n')
}

function toOptionUsage({ name, value, values, bare }: OptionSpec): string {
  if (value === undefined) return `--${name}`
  const shown = values === undefined ? `<${value}>` : values.join('|')
  return bare === undefined ? `--${name} ${shown}` : `--${name} [${shown}]`
}

const WIDEST = 96

function columns(rows: readonly (readonly [string, string])[]): readonly string[] {
  const width = Math.max(...rows.map(([left]) => left.length))
  return rows.flatMap(([left, right]) =>
    wrapWords(right, WIDEST - width - 4).map(
      (line, at) => `  ${(at === 0 ? left : '').padEnd(width)}  ${line}`,
    ),
  )
}

function wrapWords(text: string, width: number): readonly string[] {
  const lines: string[] = ['']
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? ''
    if (line === '') lines[lines.length - 1] = word
    else if (line.length + 1 + word.length <= width) lines[lines.length - 1] = `${line} ${word}`
    else lines.push(word)
  }
  return lines
}
