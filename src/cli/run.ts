import type { Throughline } from '#app'
import { ThroughlineError } from '#base'
import { check } from './check.ts'
import type { Request, Values } from './command-line.ts'
import { readCommandLine } from './command-line.ts'
import type { Console } from './console.ts'
import { exportSession } from './export.ts'
import { toCommandHelp, toHelp } from './help.ts'
import { toJsonLine } from './json.ts'
import { ls } from './ls.ts'
import { OutputClosed } from './output.ts'
import { show } from './show.ts'

type Run = (throughline: Throughline, values: Values, console: Console) => Promise<number>

const RUNS: Readonly<Record<string, Run>> = { ls, show, check, export: exportSession }

/** Does what the command line says and gives the exit code: 0 done, 1 failed, 2 not understood. */
export async function run(
  args: readonly string[],
  options: {
    readonly console: Console
    readonly version: string
    readonly debug: boolean
    readonly open: () => Promise<Throughline>
  },
): Promise<number> {
  const { console, debug } = options
  try {
    return await answer(readCommandLine(args), options)
  } catch (error) {
    if (error instanceof OutputClosed) return 0
    if (error instanceof ThroughlineError) {
      sayError(error, args, console)
      return error.code === 'bad-usage' ? 2 : 1
    }
    console.say(
      `error: something unexpected happened: ${error instanceof Error ? error.message : String(error)}`,
    )
    if (debug && error instanceof Error) console.say(error.stack ?? '')
    console.say(
      debug
        ? 'next: report it with the lines above; they may name files of yours.'
        : 'next: run it again with THROUGHLINE_DEBUG=1 and report what it prints.',
    )
    return 1
  }
}

async function answer(
  request: Request,
  options: { readonly console: Console; readonly version: string; readonly open: () => Promise<Throughline> },
): Promise<number> {
  const { console } = options
  switch (request.kind) {
    case 'help': {
      const { command } = request
      await console.out.write(
        command === undefined ? toHelp(console.paint) : toCommandHelp(command, console.paint),
      )
      return 0
    }
    case 'version':
      await console.out.write(`${options.version}\n`)
      return 0
    case 'run': {
      const throughline = await options.open()
      try {
        return (await RUNS[request.command.name]?.(throughline, request.values, console)) ?? 2
      } finally {
        await throughline.close()
      }
    }
  }
}

function sayError(error: ThroughlineError, args: readonly string[], console: Console): void {
  const { code, message, hint } = error
  if (args.includes('--json')) {
    console.say(toJsonLine({ error: { code, message, hint } }).trimEnd())
    return
  }
  console.say(`error: ${message}`)
  console.say(`next: ${hint}`)
}
