import { createMcpHandler } from '@modelcontextprotocol/server'
import type { JsonObject } from '#base'
import { createMcpServer, type Lend, type McpOptions } from './server.ts'

/** One answer, whole. */
export interface McpAnswer {
  readonly status: number
  readonly type: string
  readonly text: string
}

/** The protocol over HTTP without sessions: every request stands alone. Who may ask is decided before. */
export interface McpHttp {
  answer(request: McpHttpRequest): Promise<McpAnswer>
}

export interface McpHttpRequest {
  readonly body: JsonObject
  /** What a header of the request says. */
  readonly header: (name: string) => string | undefined
  readonly signal: AbortSignal
}

/** Headers that the protocol itself reads. Nothing else of a request reaches it, least of all a token. */
const PASSED = ['accept', 'mcp-protocol-version', 'mcp-method', 'mcp-name']

/** Serves requests that were let in already. */
export function createMcpHttp(lend: Lend, options: McpOptions): McpHttp {
  // What a client does wrong is told to the client, and is no failure of ours. Streams that never end are not offered.
  const handler = createMcpHandler(() => createMcpServer(lend, options), { maxSubscriptions: 0 })
  return {
    async answer({ body, header, signal }) {
      const passed = PASSED.flatMap((name) => {
        const value = header(name)
        return value === undefined ? [] : [[name, value] as const]
      })
      const request = new Request('http://localhost/mcp', {
        method: 'POST',
        headers: {
          accept: 'application/json, text/event-stream',
          ...Object.fromEntries(passed),
          'content-type': 'application/json',
        },
        body: JSON.stringify(body),
        signal,
      })
      const response = await handler.fetch(request, { parsedBody: body })
      const type = response.headers.get('content-type') ?? 'application/json'
      return { status: response.status, type, text: await response.text() }
    },
  }
}
