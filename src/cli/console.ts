import { createPaint, safeText, type Paint } from '#render'
import type { Output } from './output.ts'

/** Where a command writes and what it may know about that place. */
export interface Console {
  readonly out: Output
  /** A line for the person, beside the output. Made safe here. */
  say(line: string): void
  /** Tells how far a long work is, where a person can see it. */
  progress(done: number, total: number, noun: string): void
  readonly paint: Paint
  readonly colour: boolean
  readonly width: number
  /** Whether standard output is a terminal. */
  readonly isTerminal: boolean
  /** The person's home, to be shown as `~`. */
  readonly home: string
  readonly now: number
}

interface Stream {
  readonly isTTY?: boolean
  readonly columns?: number
  write(text: string): unknown
}

/** Reads the terminal and the environment once. */
export function createConsole(options: {
  readonly out: Output
  readonly stdout: Stream
  readonly stderr: Stream
  readonly env: Readonly<Record<string, string | undefined>>
  readonly home: string
  readonly now: number
}): Console {
  const { out, stdout, stderr, env, home, now } = options
  const isTerminal = stdout.isTTY === true
  const colour = wantsColour(env, isTerminal)
  const paintError = createPaint({ colour: wantsColour(env, stderr.isTTY === true) })
  let shown = ''
  let lastShown = 0
  return {
    out,
    paint: createPaint({ colour }),
    colour,
    width: Number(env['COLUMNS'] ?? 0) || stdout.columns || 100,
    isTerminal,
    home,
    now,
    say(line) {
      if (shown !== '') stderr.write(`\r${' '.repeat(shown.length)}\r`)
      shown = ''
      stderr.write(
        `${safeText(line).replace(/^(error|next|note):/, (label) => paintError(label === 'error:' ? 'error' : 'strong', label))}\n`,
      )
    },
    progress(done, total, noun) {
      if (stderr.isTTY !== true) return
      const time = Date.now()
      if (done < total && time - lastShown < 80) return
      lastShown = time
      const line = done >= total ? '' : `${done} of ${total} ${noun}…`
      stderr.write(`\r${line.padEnd(shown.length)}${line === '' ? '\r' : ''}`)
      shown = line
    },
  }
}

/** https://no-color.org, https://force-color.org; `FORCE_COLOR=0` means no, as in Node. */
function wantsColour(env: Readonly<Record<string, string | undefined>>, isTerminal: boolean): boolean {
  const forced = env['FORCE_COLOR']
  if (forced !== undefined) return forced !== '0' && forced !== 'false'
  if (env['NO_COLOR'] !== undefined && env['NO_COLOR'] !== '') return false
  return isTerminal && env['TERM'] !== 'dumb'
}
