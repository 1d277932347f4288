import type { Site } from './site.ts'

/** How an agent starts `throughline mcp`: this very program, for this home. */
export interface McpEntry {
  readonly command: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

/** What it is called in the settings of every agent. */
export const ENTRY_NAME = 'throughline'

type EntrySite = Pick<Site, 'env' | 'home' | 'program'>

/** The entry of this home and this program. Agents pass on little of the environment, so what counts is written down. */
export function toMcpEntry({ env, home, program: [command, main] }: EntrySite): McpEntry {
  const kept = ['CLAUDE_CONFIG_DIR', 'ALLOWED_ROOTS'].flatMap((name) => {
    const value = env[name]
    return value === undefined || value === '' ? [] : [[name, value] as const]
  })
  return { command, args: [main, 'mcp'], env: { THROUGHLINE_HOME: home, ...Object.fromEntries(kept) } }
}

/** Whether an entry starts a `throughline mcp` that was connected here: of this place or another. */
export function isOurEntry(args: readonly unknown[]): boolean {
  const [main, command] = args
  return (
    args.length === 2 && command === 'mcp' && typeof main === 'string' && /[/\\]throughline\.js$/.test(main)
  )
}
