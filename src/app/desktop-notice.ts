import { execFile } from 'node:child_process'
import { basename } from 'node:path'
import { field, shorten } from '#base'
import type { Attention } from '#model'
import { safeLine } from '#render'

/** Tells a person on their desktop that sessions wait for them. Nothing it does can fail. */
export interface Notifier {
  /** Shows that an attention is open: once, however often it is told. */
  opened(attention: Attention): void
  /** It is not open any more: what was not shown yet will not be. */
  settled(id: string): void
  /** Resolves when everything that was begun is over. Nothing is shown afterwards. */
  close(): Promise<void>
}

/** Runs a program to its end. Rejects when it cannot be run, fails, or takes too long. */
export type RunProgram = (command: string, args: readonly string[]) => Promise<void>

export interface NotifierOptions {
  readonly platform: NodeJS.Platform
  readonly run?: RunProgram | undefined
  /** Hears once why nothing can be shown. */
  readonly onNotice?: ((message: string) => void) | undefined
  /** Runs something later, unless the function that it gives is called before. */
  readonly after?: ((ms: number, work: () => void) => () => void) | undefined
  /** Whatever comes within so long after a notice is shown together at its end. */
  readonly quietMs?: number | undefined
}

const QUIET_MS = 15_000
const TIMEOUT_MS = 5_000
const LONGEST = 60
/** So many failures one after another, and it is left alone. */
const PATIENCE = 3
/** Attentions that were told are remembered up to here; they are settled long before. */
const REMEMBERED = 10_000

/**
 * Notices by `notify-send` on Linux and `osascript` on macOS; elsewhere none. They may be seen by anybody who passes a
 * locked screen: they name the tool and the folder's last part, and never what is asked.
 */
export function createNotifier(options: NotifierOptions): Notifier {
  const { platform, run = createRun({ timeoutMs: TIMEOUT_MS }), onNotice } = options
  const { after = afterUnheld, quietMs = QUIET_MS } = options
  const told = new Set<string>()
  const waiting = new Map<string, Attention>()
  let stopQuiet: (() => void) | undefined
  let showing: Promise<void> = Promise.resolve()
  let isClosed = false
  let failures = 0
  let isOff = toCommand(platform, { title: '', body: '' }) === undefined

  function show(notice: Notice): void {
    const command = toCommand(platform, notice)
    if (!command || isOff) return
    showing = showAfter(showing, command)
  }

  async function showAfter(before: Promise<void>, { program, args }: Command): Promise<void> {
    await before
    if (isOff) return
    try {
      await run(program, args)
      failures = 0
    } catch (error) {
      fail(error, program)
    }
  }

  function fail(error: unknown, program: string): void {
    failures += 1
    const isMissing = field(error, 'code') === 'ENOENT'
    if (!isMissing && failures < PATIENCE) return
    isOff = true
    onNotice?.(
      isMissing
        ? `Desktop notifications are off: the program ${program} is not there.`
        : `Desktop notifications are off: ${program} failed ${PATIENCE} times.`,
    )
  }

  /** Shows what came meanwhile, and is quiet again for a while if that was anything. */
  function endQuiet(): void {
    stopQuiet = undefined
    const all = [...waiting.values()]
    waiting.clear()
    const [only] = all
    if (!only) return
    show(all.length === 1 ? toNotice(only) : toSummary(all))
    stopQuiet = after(quietMs, endQuiet)
  }

  return {
    opened(attention) {
      if (isClosed || isOff || told.has(attention.id)) return
      if (told.size >= REMEMBERED) told.clear()
      told.add(attention.id)
      waiting.set(attention.id, attention)
      if (!stopQuiet) endQuiet()
    },
    settled: (id) => void waiting.delete(id),
    async close() {
      isClosed = true
      stopQuiet?.()
      waiting.clear()
      await showing
    },
  }
}

type Command = { readonly program: string; readonly args: readonly string[] }
type Notice = { readonly title: string; readonly body: string }

function toNotice({ ask }: Attention): Notice {
  const folder = shown(basename(ask.workdir))
  const what = ask.kind === 'permission' ? `${shown(ask.tool)} needs a permission` : 'There is a question'
  return { title: 'A session waits for you', body: folder === '' ? what : `${what} in ${folder}` }
}

function toSummary(all: readonly Attention[]): Notice {
  const sessions = new Set(all.map(({ sessionId }) => sessionId)).size
  const title = sessions === 1 ? 'A session waits for you' : `${sessions} sessions wait for you`
  return { title, body: `${all.length} permissions and questions are open` }
}

/**
 * A name that somebody else chose, for one line. Some desktops read markup and escapes in a notice: the characters
 * that begin them are replaced by ones that only look like them.
 */
function shown(name: string): string {
  return shorten(safeLine(name), LONGEST).replaceAll(/[<>&\\]/g, (found) => LOOKALIKE[found] ?? '')
}

const LOOKALIKE: Readonly<Record<string, string>> = { '<': '‹', '>': '›', '&': '＆', '\\': '∖' }

/** The words are arguments, never part of a script. */
function toCommand(platform: NodeJS.Platform, { title, body }: Notice): Command | undefined {
  if (platform === 'linux')
    return { program: 'notify-send', args: ['--app-name=Throughline', '--', title, body] }
  if (platform !== 'darwin') return undefined
  const script = [
    'on run argv',
    'display notification (item 2 of argv) with title (item 1 of argv)',
    'end run',
  ]
  return { program: 'osascript', args: [...script.flatMap((line) => ['-e', line]), title, body] }
}

/** Runs programs for real. `env` is what they see, and where they are looked for; ours where it is not given. */
export function createRun({
  timeoutMs,
  env = process.env,
}: {
  readonly timeoutMs: number
  readonly env?: NodeJS.ProcessEnv | undefined
}): RunProgram {
  return async (command, args) =>
    await new Promise<void>((resolve, reject) => {
      const settings = { timeout: timeoutMs, killSignal: 'SIGKILL', windowsHide: true, env } as const
      execFile(command, [...args], settings, (error) => (error ? reject(error) : resolve()))
    })
}

function afterUnheld(ms: number, work: () => void): () => void {
  const timer = setTimeout(work, ms)
  // Nobody's process stays for the sake of a notice.
  timer.unref()
  return () => clearTimeout(timer)
}
