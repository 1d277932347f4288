import type { McpHttp } from '#mcp'
import type { Answer } from './answer.ts'
import type { Handler, Surroundings } from './handlers.ts'

/** The protocol of agents. Who asks was let in already, as everybody who asks for data. */
export function createMcpRoute({
  throughline,
  version,
  onFailure,
}: Pick<Surroundings, 'throughline' | 'version' | 'onFailure'>): Handler {
  let opened: Promise<McpHttp> | undefined

  /** A daemon has to be there at once, and most are never asked this. */
  async function open(): Promise<McpHttp> {
    const [{ createMcpHttp }, { maskSecrets }] = await Promise.all([import('#mcp'), import('#app')])
    return createMcpHttp((work) => work(throughline), { version, redact: maskSecrets, onError: onFailure })
  }

  return async ({ body, header, onGone }): Promise<Answer> => {
    const http = await (opened ??= open())
    const gone = new AbortController()
    onGone(() => gone.abort())
    const { status, type, text } = await http.answer({ body, header, signal: gone.signal })
    return { kind: 'whole', status, type, body: text }
  }
}
