import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import { string } from '#base'

/** How a command ended. */
export type ChildEnd =
  | { readonly kind: 'exited'; readonly code: number }
  | { readonly kind: 'killed'; readonly signal: NodeJS.Signals }
  | { readonly kind: 'not-run'; readonly code: 126 | 127 }

/** Signals that whoever ends this process means for the command. */
const PASSED_ON = ['SIGTERM', 'SIGHUP', 'SIGUSR1', 'SIGUSR2'] as const
/** Signals of the terminal: the command gets them too, and decides what they mean. */
const OF_THE_TERMINAL = ['SIGINT', 'SIGQUIT'] as const

/** Runs a command with this process's own terminal, in its group: keys, size and job control are the command's. */
export async function runChild(
  [program = '', ...args]: readonly string[],
  options: { readonly env: Readonly<Record<string, string | undefined>> },
): Promise<ChildEnd> {
  const child = spawn(program, args, { stdio: 'inherit', env: options.env })
  const undo: (() => void)[] = []
  const on = (signal: NodeJS.Signals, listener: () => void): void => {
    process.on(signal, listener)
    undo.push(() => process.off(signal, listener))
  }
  for (const signal of PASSED_ON) on(signal, () => child.kill(signal))
  for (const signal of OF_THE_TERMINAL)
    on(signal, () => {
      // Without a terminal nobody else has sent it to the command.
      if (!process.stdin.isTTY) child.kill(signal)
    })
  try {
    return await new Promise<ChildEnd>((resolve) => {
      child.once('error', (error) => {
        const isMissing = string(error, 'code') === 'ENOENT'
        if (child.pid === undefined) resolve({ kind: 'not-run', code: isMissing ? 127 : 126 })
      })
      child.once('close', (code, signal) => {
        if (signal !== null) resolve({ kind: 'killed', signal })
        else if (child.pid !== undefined) resolve({ kind: 'exited', code: code ?? 1 })
      })
    })
  } finally {
    for (const off of undo) off()
  }
}

/** Ends as the command did: by the same signal, so that a shell sees what it would have seen. */
export async function endAs(end: ChildEnd): Promise<number> {
  if (end.kind !== 'killed') return end.code
  // A dump of this process would say nothing of the command's trouble.
  if (end.signal !== 'SIGQUIT') process.kill(process.pid, end.signal)
  await new Promise((resolve) => setTimeout(resolve, 200))
  return 128 + (constants.signals[end.signal] ?? 0)
}
