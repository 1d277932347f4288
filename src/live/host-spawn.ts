import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { object, parseJson, ThroughlineError } from '#base'
import type { HostOrder } from './host-order.ts'
import { findHello, toError } from './host-protocol.ts'
import type { HostHello } from './host-protocol.ts'
import { makeRunFolder, runPaths } from './run-file.ts'

/** How the process of a host is started. */
export interface HostProgram {
  readonly command: string
  readonly args: readonly string[]
  /** What the host itself sees of the environment; the agent sees what the order says. */
  readonly env: Readonly<Record<string, string>>
}

/**
 * Starts a host. Resolves when its socket answers; rejects with what it says against it. It does not end with this
 * process, nor with its terminal.
 */
export async function spawnHost(order: HostOrder, program: HostProgram): Promise<HostHello> {
  await makeRunFolder(order.home)
  // What it says when it fails is kept for a person to look at.
  const errors = openSync(runPaths(order.home, order.sessionId).errors, 'a', 0o600)
  try {
    const child = spawn(program.command, [...program.args], {
      detached: true,
      stdio: ['pipe', 'pipe', errors],
      env: { ...program.env },
      cwd: order.home,
    })
    child.unref()
    const { stdin, stdout } = child
    // A host that is gone before it has read is told by its silence.
    stdin?.on('error', () => {})
    stdin?.end(`${JSON.stringify(order)}\n`)
    const failed = once(child, 'error').then(([error]: unknown[]) => {
      throw error
    })
    const first = stdout === null ? undefined : await Promise.race([firstLine(stdout), failed])
    stdout?.destroy()
    return getHello(first)
  } finally {
    closeSync(errors)
  }
}

async function firstLine(stream: NodeJS.ReadableStream): Promise<string | undefined> {
  for await (const line of createInterface({ input: stream })) return line
  return undefined
}

function getHello(line: string | undefined): HostHello {
  const said = line === undefined ? undefined : parseJson(line)
  const hello = findHello(object(said, 'ready'))
  if (hello) return hello
  const refused = object(said, 'refused')
  if (refused) throw toError(refused)
  throw new ThroughlineError('host-unreachable', 'the process for this session ended before it began', {
    hint: 'See what it has left in the folder `run`.',
  })
}
