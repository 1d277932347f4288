import { WebSocketServer, type WebSocket } from 'ws'
import { keepPace, type Pace } from './live-appender.ts'
import { sharedNow } from './live-line.ts'

/** The least that can be done: words of an agent that are there already, made into text once, and sent to everybody. */
export async function broadcast(
  options: Pace & {
    readonly port: number
    /** It begins when so many have come. */
    readonly devices: number
    readonly onDone: () => void
  },
): Promise<{ report(): object }> {
  const server = new WebSocketServer({ host: '127.0.0.1', port: options.port, perMessageDeflate: false })
  const sockets = new Set<WebSocket>()
  const arrivals: [seq: number, at: number][] = []
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    socket.on('error', () => {})
    if (sockets.size === options.devices) begin()
  })
  await new Promise<void>((resolve) => {
    server.once('listening', resolve)
  })

  function begin(): void {
    keepPace(options, (seq) => {
      arrivals.push([seq, sharedNow()])
      const message = toMessage(seq)
      for (const socket of sockets) socket.send(message)
      if (arrivals.length === options.count) options.onDone()
    })
  }

  return { report: () => ({ arrivals }) }
}

const SESSION = '00000000-0000-4000-8000-000000000000'

/** A word as the daemon sends it. */
function toMessage(seq: number): string {
  const event = {
    kind: 'delta',
    messageId: `msg_${SESSION}`,
    block: 0,
    what: 'text',
    text: `word${seq} `,
    seq,
    at: new Date().toISOString(),
  }
  const told = { kind: 'live.event', session: SESSION, event, cursor: `${SESSION}.${seq}` }
  return JSON.stringify([{ kind: 'event', subscription: 1, event: told }])
}
