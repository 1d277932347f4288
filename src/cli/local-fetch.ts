import type { Fetch, FetchResponse } from '#client'
import { request as requestPlain, Agent, type IncomingMessage } from 'node:http'

/**
 * A `fetch` for the daemon on this machine. Node's own takes longer to load than the daemon to answer. It names the
 * machine itself, whatever the daemon listens on, and asks for no certificate: what answers has to prove more.
 */
export async function createLocalFetch(daemon: {
  readonly port: number
  readonly isTls: boolean
}): Promise<Fetch> {
  const secure = daemon.isTls ? await import('node:https') : undefined
  const agent = secure
    ? new secure.Agent({ keepAlive: true, rejectUnauthorized: false })
    : new Agent({ keepAlive: true })
  const ask = secure?.request ?? requestPlain
  return async (url, { method, headers, body, signal }) =>
    await new Promise<FetchResponse>((resolve, reject) => {
      const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
      const asked = ask(url, {
        method,
        agent,
        headers: { ...headers, ...length, host: `127.0.0.1:${daemon.port}` },
        ...(signal === undefined ? {} : { signal }),
      })
      asked.once('error', reject)
      asked.once('response', (response) => resolve(toFetched(response)))
      asked.end(body)
    })
}

function toFetched(response: IncomingMessage): FetchResponse {
  const status = response.statusCode ?? 0
  return {
    status,
    ok: status >= 200 && status < 300,
    async text() {
      const pieces: Uint8Array[] = []
      for await (const piece of response) if (piece instanceof Uint8Array) pieces.push(piece)
      return Buffer.concat(pieces).toString('utf8')
    },
    body: {
      getReader() {
        const pieces = response[Symbol.asyncIterator]()
        return {
          async read() {
            const { done, value } = await pieces.next()
            return { done: done === true, value: value instanceof Uint8Array ? value : undefined }
          },
          async cancel() {
            response.destroy()
          },
        }
      },
    },
  }
}
