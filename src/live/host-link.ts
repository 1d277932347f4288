import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { ThroughlineError } from '#base'
import type { SessionCursor } from '#model'
import { within } from './clock.ts'
import type { Clock } from './clock.ts'
import { findHello, findHostWord, HOST_PROTOCOL } from './host-protocol.ts'
import type { HostCommand, HostHello, HostWord } from './host-protocol.ts'
import { createLineSocket } from './line-socket.ts'
import { withAddress } from './socket-address.ts'

/** A host that lives says who it is at once; one that does not is stopped. */
const HELLO_MS = 2_000
/** Longer than the end of a session takes. */
const PATIENCE_MS = 30_000

/** One connection to a host. */
export interface HostLink {
  readonly hello: HostHello
  /** Gives the host's answer. Rejects with what it says, or with `host-unreachable`: then it may have heard it or not. */
  call(command: HostCommand): Promise<unknown>
  close(): void
  readonly closed: Promise<void>
}

export interface HostLinkOptions {
  readonly socket: string
  /** How far this side has seen. */
  readonly after?: SessionCursor | undefined
  readonly clock: Clock
  readonly onNews: (news: Exclude<HostWord, { readonly re: number }>) => void
}

/** Connects to a host and listens to it. Rejects with `host-unreachable` where none answers that is understood. */
export async function openHostLink({
  socket: path,
  after,
  clock,
  onNews,
}: HostLinkOptions): Promise<HostLink> {
  const socket = await withAddress(path, connectTo)
  const waiting = new Map<number, { resolve: (value: unknown) => void; reject: (error: unknown) => void }>()
  let last = 0
  const lines = createLineSocket(socket, (value) => {
    const word = findHostWord(value)
    if (!word) return
    if (!('re' in word)) {
      onNews(word)
      return
    }
    const asked = waiting.get(word.re)
    if ('error' in word) asked?.reject(word.error)
    else asked?.resolve(word.value)
  })
  const closed = giveUp()

  async function giveUp(): Promise<void> {
    await lines.closed
    for (const { reject } of waiting.values()) reject(unreachable())
  }

  async function call(command: HostCommand): Promise<unknown> {
    if (socket.destroyed) throw unreachable()
    const id = ++last
    const answered = new Promise<unknown>((resolve, reject) => {
      waiting.set(id, { resolve, reject })
      lines.send(JSON.stringify({ ...command, id }))
    })
    const stop = clock.after(PATIENCE_MS, () => waiting.get(id)?.reject(unreachable()))
    return await answered.finally(() => {
      stop()
      waiting.delete(id)
    })
  }

  try {
    const hello = findHello(
      await within(call({ do: 'hello', protocol: HOST_PROTOCOL }), { ms: HELLO_MS, clock }),
    )
    if (hello?.protocol !== HOST_PROTOCOL) throw unreachable()
    await call({ do: 'listen', after })
    return { hello, call, close: () => lines.destroy(), closed }
  } catch (error) {
    lines.destroy()
    throw error
  }
}

async function connectTo(address: string): Promise<Socket> {
  return await new Promise<Socket>((resolve, reject) => {
    const socket = connect(address)
    socket.once('connect', () => resolve(socket))
    socket.once('error', (cause) => reject(unreachable(cause)))
  })
}

function unreachable(cause?: unknown): ThroughlineError {
  return new ThroughlineError('host-unreachable', 'the process that holds this session does not answer', {
    hint: 'Try again: what was sent twice under one id counts once.',
    cause,
  })
}
