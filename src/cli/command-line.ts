import { findNearest, ThroughlineError } from '#base'
import { safeLine } from '#render'
import { parseArgs, type ArgsDef } from 'citty'
import type { CommandSpec, OptionSpec } from './command.ts'
import { commands, everywhere } from './commands.ts'

/** What a person asked for. */
export type Request =
  | { readonly kind: 'help'; readonly command?: CommandSpec }
  | { readonly kind: 'version' }
  | { readonly kind: 'run'; readonly command: CommandSpec; readonly values: Values }

/** The arguments and options of one call, checked against the command's specification. */
export interface Values {
  /** The first positional argument. */
  readonly arg?: string
  /** All of them. */
  readonly args: readonly string[]
  flag(name: string): boolean
  value(name: string): string | undefined
  /** Every value of an option that may be given more than once, in order. */
  all(name: string): readonly string[]
  /** A whole number above zero. */
  count(name: string): number | undefined
}

const ALIASES: Readonly<Record<string, string>> = { '-h': '--help', '-V': '--version', '-v': '--version' }

/** Understands a command line, or throws `bad-usage` with the nearest thing that would have been understood. */
export function readCommandLine(given: readonly string[]): Request {
  // What stands behind two dashes is somebody else's.
  const dashes = given.indexOf('--')
  const own = dashes < 0 ? given : given.slice(0, dashes)
  const args = [...own.map((arg) => ALIASES[arg] ?? arg), ...given.slice(own.length)]
  const name = args.find((arg) => !arg.startsWith('-'))
  if (name === undefined) return readBare(args)
  if (name === 'help') {
    const about = args.find((arg) => !arg.startsWith('-') && arg !== 'help')
    return about === undefined ? { kind: 'help' } : { kind: 'help', command: getCommand(about) }
  }
  const command = getCommand(name)
  const rest = args.toSpliced(args.indexOf(name), 1)
  if (beforeDashes(rest).includes('--help')) return { kind: 'help', command }
  if (beforeDashes(rest).includes('--version')) return { kind: 'version' }
  return { kind: 'run', command, values: readValues(command, withBareValues(command, rest)) }
}

/** Without a command it starts, so it takes the options of `start`. */
function readBare(args: readonly string[]): Request {
  const command = getCommand('start')
  for (const arg of args) {
    if (arg === '--help') return { kind: 'help' }
    if (arg === '--version') return { kind: 'version' }
    const [name] = splitOption(arg)
    if (command.options.some((option) => `--${option.name}` === name)) continue
    throw unknownOption(name, [...command.options, ...everywhere], 'throughline')
  }
  return { kind: 'run', command, values: readValues(command, args) }
}

/** What other programs call it. */
const MEANT: ReadonlyMap<string, string> = new Map([
  ['list', 'Use `throughline ls`.'],
  ['sessions', 'Use `throughline ls`.'],
  ['ps', 'Use `throughline board` for what runs, or `throughline ls` for all sessions.'],
  ['inbox', 'Use `throughline attentions`.'],
  ['doctor', 'Use `throughline check` for sessions, or `throughline status` for the daemon.'],
  ['version', 'Use `throughline --version`.'],
  ['kill', 'Use `throughline end <session>`, or `throughline stop` for the daemon.'],
  ['grep', 'Use `throughline search <words>`.'],
  ['cost', 'Use `throughline usage`.'],
  ['login', 'Use `throughline open` for a browser here, or `throughline pair` for another device.'],
  ['config', 'Settings are in `config.json` of the home folder; docs/reference/config.md has all of them.'],
])

function getCommand(name: string): CommandSpec {
  const found = commands.find((command) => command.name === name)
  if (found !== undefined) return found
  const meant = MEANT.get(name.toLowerCase())
  if (meant !== undefined) {
    throw new ThroughlineError('bad-usage', `there is no command "${safeLine(name)}"`, { hint: meant })
  }
  const near = findNearest(
    name,
    commands.map((command) => command.name),
  )
  throw new ThroughlineError('bad-usage', `there is no command "${safeLine(name)}"`, {
    hint:
      near === undefined
        ? 'Run `throughline --help` to see all commands.'
        : `Did you mean \`throughline ${near}\`?`,
  })
}

function beforeDashes(args: readonly string[]): readonly string[] {
  const end = args.indexOf('--')
  return end < 0 ? args : args.slice(0, end)
}

/** `--live` alone means `--live any`, and does not swallow the word behind it. */
function withBareValues(command: CommandSpec, args: readonly string[]): readonly string[] {
  const own = beforeDashes(args).length
  return args.map((arg, at) => {
    if (at >= own) return arg
    const option = command.options.find(({ name, bare }) => bare !== undefined && arg === `--${name}`)
    const next = args[at + 1]
    if (option?.bare === undefined || (next !== undefined && option.values?.includes(next) === true))
      return arg
    return `${arg}=${option.bare}`
  })
}

/** citty parses; it neither refuses unknown options nor missing values, so that is looked at first. */
function readValues(command: CommandSpec, args: readonly string[]): Values {
  const words: string[] = []
  const options: string[] = []
  const given = new Map<string, string[]>()
  // Where everything further is text, a dash in front of a word belongs to it: `search retry -backoff`.
  const takesMany = command.args.at(-1)?.many === true
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] ?? ''
    if (arg === '--') {
      words.push(...args.slice(at + 1))
      break
    }
    if (!arg.startsWith('-') || arg === '-' || (takesMany && !arg.startsWith('--'))) {
      words.push(arg)
      continue
    }
    options.push(arg)
    const [name, joined] = splitOption(arg)
    const option = command.options.find((known) => `--${known.name}` === name)
    if (option === undefined) throw unknownOption(name, [...command.options, ...everywhere], command.name)
    if (option.value === undefined) {
      if (joined !== undefined) throw usage(command, `--${option.name} takes no value`)
      continue
    }
    const value = joined ?? args[++at]
    if (joined === undefined && value !== undefined) options.push(value)
    if (value === undefined || value === '') throw usage(command, `--${option.name} needs a value`)
    if (option.values !== undefined && !option.values.includes(value)) {
      const near = findNearest(value, option.values)
      throw usage(
        command,
        `--${option.name} cannot be "${safeLine(value)}"`,
        near === undefined
          ? `It is one of: ${option.values.join(', ')}.`
          : `Did you mean \`--${option.name} ${near}\`?`,
      )
    }
    given.set(option.name, [...(given.get(option.name) ?? []), value])
  }
  checkWords(command, words)
  return toValues(command, parseArgs(options, toArgsDef(command)), { words, given })
}

function checkWords(command: CommandSpec, words: readonly string[]): void {
  for (const [at, spec] of command.args.entries()) {
    const word = words[at]
    if (word === undefined && spec.required) {
      throw usage(
        command,
        `${command.name} needs ${/^[aeiou]/.test(spec.name) ? 'an' : 'a'} ${spec.name}`,
        spec.name === 'session' ? 'Run `throughline ls` to see what there is.' : undefined,
      )
    }
    if (word === undefined || spec.values === undefined || spec.values.includes(word)) continue
    const near = findNearest(word, spec.values)
    throw usage(
      command,
      `${command.name} cannot "${safeLine(word)}"`,
      near === undefined
        ? `It is one of: ${spec.values.join(', ')}.`
        : `Did you mean \`throughline ${command.name} ${near}\`?`,
    )
  }
  const extra = command.args.at(-1)?.many === true ? undefined : words[command.args.length]
  if (extra === undefined) return
  throw usage(
    command,
    `"${safeLine(extra)}" is one word too many`,
    'Put words that belong together in quotes.',
  )
}

function toArgsDef(command: CommandSpec): ArgsDef {
  return Object.fromEntries(
    command.options.map((option) => [
      option.name,
      { type: option.value === undefined ? 'boolean' : 'string' },
    ]),
  )
}

function toValues(
  command: CommandSpec,
  parsed: Readonly<Record<string, unknown>>,
  {
    words: args,
    given,
  }: {
    readonly words: readonly string[]
    readonly given: ReadonlyMap<string, readonly string[]>
  },
): Values {
  const [arg] = args
  const value = (name: string): string | undefined => {
    const found = parsed[name]
    return typeof found === 'string' ? found : undefined
  }
  return {
    ...(arg === undefined ? {} : { arg }),
    args,
    // citty takes `--no-open` for the opposite of `--open`.
    flag: (name) => parsed[name] === true || (name.startsWith('no-') && parsed[name.slice(3)] === false),
    value,
    all: (name) => given.get(name) ?? [],
    count(name) {
      const found = value(name)
      if (found === undefined) return undefined
      if (name === 'port' && Number(found) > LAST_PORT)
        throw usage(command, `--port ${safeLine(found)} is not a port`, `Ports go from 1 to ${LAST_PORT}.`)
      if (/^[1-9]\d{0,8}$/.test(found)) return Number(found)
      throw usage(command, `--${name} must be a whole number above zero, not "${safeLine(found)}"`)
    },
  }
}

const LAST_PORT = 65_535

function splitOption(arg: string): readonly [name: string, value?: string] {
  const equals = arg.indexOf('=')
  return equals < 0 ? [arg] : [arg.slice(0, equals), arg.slice(equals + 1)]
}

function unknownOption(name: string, known: readonly OptionSpec[], command: string): ThroughlineError {
  const near = findNearest(
    name.replace(/^-+/, ''),
    known.map((option) => option.name),
  )
  const help = command === 'throughline' ? '`throughline --help`' : `\`throughline ${command} --help\``
  return new ThroughlineError('bad-usage', `there is no option "${safeLine(name)}"`, {
    hint: near === undefined ? `Run ${help} to see all options.` : `Did you mean \`--${near}\`?`,
  })
}

function usage(command: CommandSpec, message: string, hint?: string): ThroughlineError {
  return new ThroughlineError('bad-usage', message, {
    hint: hint ?? `Run \`throughline ${command.name} --help\` to see how it is used.`,
  })
}
