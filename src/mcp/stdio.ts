import type { Readable, Writable } from 'node:stream'
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio'
import { createMcpServer, type Lend, type McpOptions } from './server.ts'

export interface StdioOptions extends McpOptions {
  readonly stdin: Readable
  /** Nothing but the protocol is written to it. */
  readonly stdout: Writable
}

/** Serves one client over a pair of streams. Resolves when it is gone: its end of either is closed. */
export async function serveMcp(lend: Lend, options: StdioOptions): Promise<void> {
  const { stdin, stdout } = options
  const gone = new Promise<void>((resolve) => {
    for (const event of ['end', 'close', 'error']) stdin.once(event, () => resolve())
    for (const event of ['close', 'error']) stdout.once(event, () => resolve())
  })
  const handle = serveStdio(() => createMcpServer(lend, options), {
    transport: new StdioServerTransport(stdin, stdout),
    ...(options.onError === undefined ? {} : { onerror: options.onError }),
  })
  await gone
  await handle.close()
}
