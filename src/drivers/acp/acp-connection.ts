import type { ClientConnection } from '@agentclientprotocol/sdk'
import { AGENT_GONE } from '../asking.ts'
import { loadSdk } from './acp-errors.ts'
import type { AcpProcess } from './acp-process.ts'
import { toMessageStream } from './message-stream.ts'
import type { Outcome } from './permission.ts'

/** A conversation with the agent's process, in the protocol's own methods. */
export interface AcpConnection {
  /** Rejects when the agent refuses, and when the connection is lost. */
  request(method: string, params: object): Promise<unknown>
  notify(method: string, params: object): Promise<void>
  /** Resolves when it is lost or was closed. */
  readonly closed: Promise<void>
  isClosed(): boolean
  close(): void
}

/** What the agent says without being asked. */
export interface AcpListener {
  readonly onUpdate: (params: unknown) => void
  /** Whatever else comes in: notifications nobody knows, lines that are no messages. */
  readonly onUnknown: (value: unknown) => void
  /** It sent a message of so many bytes, which is too long to be read. */
  readonly onTooLong: (bytes: number) => void
  /** `signal`: the agent took the request back. */
  readonly onPermission: (params: unknown, signal: AbortSignal) => Promise<Outcome>
}

/** Connects. Nothing of ours is offered to the agent but that a person can be asked: no files, no terminals. */
export async function connectAcp(
  { child }: AcpProcess,
  { onUpdate, onUnknown, onTooLong, onPermission }: AcpListener,
): Promise<AcpConnection> {
  const { client, methods, RequestError } = await loadSdk()
  const app = client({ name: 'throughline' }).onRequest('*', async ({ method, params, signal }) => {
    if (method === methods.client.session.requestPermission)
      return { outcome: await onPermission(params, withReason(signal)) }
    throw RequestError.methodNotFound(method)
  })
  const connection: ClientConnection = app.connect(
    toMessageStream(child.stdout, child.stdin, {
      onNotification(method, params) {
        if (method === methods.client.session.update) onUpdate(params)
        else onUnknown({ method, params })
      },
      onNoise: (line) => onUnknown({ printed: line }),
      onTooLong,
    }),
  )

  /** The SDK takes back what is asked when the agent is gone, and does not say so. */
  function withReason(signal: AbortSignal): AbortSignal {
    const asked = new AbortController()
    const withdraw = (): void => asked.abort(connection.signal.aborted ? AGENT_GONE : undefined)
    if (signal.aborted) withdraw()
    else signal.addEventListener('abort', withdraw, { once: true })
    return asked.signal
  }

  return {
    request: (method, params) => connection.agent.request<unknown, object>(method, params),
    notify: (method, params) => connection.agent.notify<object>(method, params),
    closed: connection.closed,
    isClosed: () => connection.signal.aborted,
    close: () => connection.close(),
  }
}
