import { ThroughlineError } from '#base'
import type { Values } from './command-line.ts'
import type { Console } from './console.ts'
import { findTerminal } from './live-session.ts'

/**
 * Asks before something is done that cannot be undone. `--yes` answers it; without a terminal to ask in, and on any
 * answer but `yes`, throws `bad-usage`, and nothing is done.
 */
export async function confirm(console: Console, values: Values, what: string): Promise<void> {
  if (values.flag('yes')) return
  const terminal = findTerminal(console, values)
  try {
    const answer = await terminal?.ask(`${what} Continue? (yes/no): `, new AbortController().signal)
    if (answer?.trim().toLowerCase() === 'yes') return
  } finally {
    terminal?.close()
  }
  throw new ThroughlineError('bad-usage', 'nothing was done', {
    hint: `${what} Confirm with --yes.`,
  })
}
