import type { Throughline } from '#app'
import { ThroughlineError } from '#base'
import { readCommandLine, type Request, type Values } from './command-line.ts'
import type { Console } from './console.ts'
import { toCommandHelp, toHelp } from './help.ts'
import { toJsonLine } from './json.ts'
import { ls } from './ls.ts'
import { OutputClosed } from './output.ts'
import { toSystemTrouble } from './system-trouble.ts'
import { saySettingTroubles } from './setting-troubles.ts'
import { openAnywhere, type Site } from './site.ts'

/** A command about sessions: it does not know whether a daemon or this process answers. */
type SessionRun = (throughline: Throughline, values: Values, console: Console) => Promise<number>
/** A command about the daemon, about live sessions, or about this machine. */
type SiteRun = (site: Site, values: Values, console: Console) => Promise<number>

// A list is over in the time that the code of the other commands takes to load, so only its own is loaded at once.
const SESSION_RUNS: Readonly<Record<string, () => Promise<SessionRun>>> = {
  ls: async () => ls,
  show: async () => (await import('./show.ts')).show,
  check: async () => (await import('./check.ts')).check,
  export: async () => (await import('./export.ts')).exportSession,
  search: async () => (await import('./search.ts')).search,
  usage: async () => (await import('./usage.ts')).usage,
  'wake-up': async () => (await import('./wake-up.ts')).wakeUp,
  remember: async () => (await import('./remember.ts')).remember,
  documents: async () => (await import('./documents.ts')).documents,
  import: async () => (await import('./import.ts')).importFrom,
  restore: async () => (await import('./restore.ts')).restore,
  repair: async () => (await import('./repair.ts')).repair,
  compact: async () => (await import('./compact.ts')).compact,
  continue: async () => (await import('./continue.ts')).continueSession,
  rename: async () => (await import('./rename.ts')).rename,
  star: async () => (await import('./rename.ts')).star,
}

const SITE_RUNS: Readonly<Record<string, () => Promise<SiteRun>>> = {
  start: async () => (await import('./start.ts')).start,
  serve: async () => (await import('./serve.ts')).serve,
  status: async () => (await import('./status.ts')).status,
  stop: async () => (await import('./stop.ts')).stop,
  open: async () => (await import('./open.ts')).open,
  demo: async () => (await import('./demo.ts')).demo,
  logs: async () => (await import('./logs.ts')).logs,
  pair: async () => (await import('./pair.ts')).pair,
  devices: async () => (await import('./devices.ts')).devices,
  archive: async () => (await import('./archive.ts')).archive,
  service: async () => (await import('./service.ts')).service,
  run: async () => (await import('./run-agent.ts')).runAgent,
  attach: async () => (await import('./attach.ts')).attach,
  send: async () => (await import('./send.ts')).send,
  interrupt: async () => (await import('./send.ts')).interrupt,
  end: async () => (await import('./send.ts')).end,
  record: async () => (await import('./record.ts')).record,
  resume: async () => (await import('./resume.ts')).resume,
  handoff: async () => (await import('./handoff.ts')).handoff,
  team: async () => (await import('./team.ts')).team,
  board: async () => (await import('./board.ts')).board,
  attentions: async () => (await import('./attentions.ts')).attentions,
  answer: async () => (await import('./answer.ts')).answer,
  audit: async () => (await import('./audit.ts')).audit,
  connect: async () => (await import('./connect.ts')).connectAgent,
  mcp: async () => (await import('./mcp.ts')).mcp,
  disconnect: async () => (await import('./connect.ts')).disconnectAgent,
}

/** Does what the command line says and gives the exit code: 0 done, 1 failed, 2 not understood. */
export async function run(
  args: readonly string[],
  options: { readonly console: Console; readonly debug: boolean; readonly site: () => Site },
): Promise<number> {
  const { console, debug } = options
  try {
    return await answer(readCommandLine(args), options)
  } catch (error) {
    return report(error, args, { console, debug })
  }
}

/** Says what went wrong and what to do, and gives the exit code. Never throws, and shows no stack unless asked to. */
export function report(
  thrown: unknown,
  args: readonly string[],
  { console, debug }: { readonly console: Console; readonly debug: boolean },
): number {
  if (thrown instanceof OutputClosed) return 0
  const error = thrown instanceof ThroughlineError ? thrown : (toSystemTrouble(thrown) ?? thrown)
  if (debug && thrown instanceof Error && thrown !== error) console.say(thrown.stack ?? '')
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

async function answer(
  request: Request,
  options: { readonly console: Console; readonly site: () => Site },
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
      await console.out.write(`${options.site().version}\n`)
      return 0
    case 'run':
      return await perform(request.command.name, request.values, options)
  }
}

async function perform(
  name: string,
  values: Values,
  { console, site }: { readonly console: Console; readonly site: () => Site },
): Promise<number> {
  if (!values.flag('json')) await saySettingTroubles(name, site().home, console)
  const ofSite = await SITE_RUNS[name]?.()
  if (ofSite !== undefined) return await ofSite(site(), values, console)
  const ofSession = await SESSION_RUNS[name]?.()
  if (ofSession === undefined) return 2
  const throughline = await openAnywhere(site())
  try {
    return await ofSession(throughline, values, console)
  } finally {
    await throughline.close()
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
