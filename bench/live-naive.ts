import { WebSocketServer, type WebSocket } from 'ws'
import { keepPace, type Pace } from './live-appender.ts'
import { sharedNow, toLiveLine } from './live-line.ts'

/** What one writes first: every event to every device at once, made into text once. */
export async function serveNaively(
  options: Pace & {
    readonly port: number
    /** It begins when so many have come. */
    readonly devices: number
    readonly bytes: number
    readonly onDone: () => void
  },
): Promise<{ report(): object }> {
  const server = new WebSocketServer({ host: '127.0.0.1', port: options.port, perMessageDeflate: false })
  const sockets = new Set<WebSocket>()
  let sent = 0
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
    keepPace(options, (n) => {
      const message = toLiveLine('', { n, bytes: options.bytes, at: sharedNow() })
      for (const socket of sockets) socket.send(message)
      sent += 1
      if (sent === options.count) options.onDone()
    })
  }

  return { report: () => ({ sent }) }
}
