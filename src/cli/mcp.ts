import { maskSecrets, type Throughline } from '#app'
import type { Lend } from '#mcp'
import type { Values } from './command-line.ts'
import type { Console } from './console.ts'
import { toJsonLine } from './json.ts'
import { ENTRY_NAME, toMcpEntry } from './mcp-entry.ts'
import { openAnywhere, type Site } from './site.ts'

/** `throughline mcp` */
export async function mcp(site: Site, values: Values, console: Console): Promise<number> {
  if (values.flag('json')) {
    await console.out.write(toJsonLine({ [ENTRY_NAME]: toMcpEntry(site) }))
    return 0
  }
  const { stdin, stdout } = process
  if (stdin.isTTY) console.say('note: an agent starts this and talks to it. Ctrl+D ends it.')
  const { serveMcp } = await import('#mcp')
  const desk = createLending(() => openAnywhere(site))
  await serveMcp(desk.lend, {
    version: site.version,
    redact: maskSecrets,
    workdir: process.cwd(),
    session: site.env['CLAUDE_CODE_SESSION_ID'],
    stdin,
    stdout,
    onError: (error) => console.say(`error: ${error instanceof Error ? error.message : String(error)}`),
  })
  await desk.closed()
  return 0
}

interface Lending {
  readonly lend: Lend
  /** Resolves when nothing is open any more. */
  closed(): Promise<void>
}

/**
 * An agent's session lasts for hours, in which daemons come and go, and only one process at a time may write what is
 * remembered. So it is looked anew for every piece of work who answers, and nothing stays open between them.
 */
export function createLending(open: () => Promise<Throughline>): Lending {
  let held: { readonly opening: Promise<Throughline>; users: number } | undefined
  let closing: Promise<void> = Promise.resolve()

  return {
    async lend(work) {
      const mine = (held ??= { opening: closing.then(open), users: 0 })
      mine.users++
      try {
        return await work(await mine.opening)
      } finally {
        mine.users--
        if (mine.users === 0) {
          held = undefined
          // Whoever comes next waits for it; the answer does not.
          closing = close(mine.opening).catch(() => {})
        }
      }
    },
    async closed() {
      await closing
    },
  }
}

async function close(opening: Promise<Throughline>): Promise<void> {
  await opening.then(
    (throughline) => throughline.close(),
    () => {},
  )
}
