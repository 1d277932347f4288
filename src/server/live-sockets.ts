import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { WebSocket, WebSocketServer } from 'ws'
import { CLOSE_REASONS, PROTOCOL, type Throughline } from '#wire'
import { peerOf, type Access, type Caller } from './access.ts'
import { createBatch, type Batch } from './batch.ts'
import { Refusal } from './errors.ts'
import type { Limits } from './limits.ts'
import { createLiveDevice, type LiveDevice } from './live-device.ts'
import type { Log } from './log.ts'
import { createTicker } from './ticker.ts'

/** Every socket of `WS /api/live`. */
export interface LiveSockets {
  readonly size: number
  /** Makes a socket of an upgrade that passed the guard, or throws what is to be answered. */
  take(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void>
  /** Closes every socket of a device that was revoked. */
  revoke(deviceId: string): void
  close(): void
}

const PREFIX = 'throughline.'

export function createLiveSockets(options: {
  readonly throughline: Throughline
  readonly access: Access
  readonly limits: Limits
  readonly version: string
  readonly log: Log
  readonly onFailure: (error: unknown) => void
}): LiveSockets {
  const { limits, log } = options
  const spoken = `${PREFIX}v${PROTOCOL}`
  const devices = new Map<LiveDevice, Caller>()
  let accepting: WebSocketServer | undefined
  let pinger: NodeJS.Timeout | undefined
  let start: Batch = createBatch()
  let isClosed = false

  const ticker = createTicker<LiveDevice>({
    tickMs: limits.tickMs,
    flush(all) {
      start = createBatch()
      for (const device of all) device.flush()
    },
  })

  /** Loaded with the first socket: it takes as long as everything else a start does. */
  async function acceptor(): Promise<WebSocketServer> {
    if (accepting !== undefined) return accepting
    const { WebSocketServer } = await import('ws')
    accepting ??= new WebSocketServer({
      noServer: true,
      clientTracking: false,
      maxPayload: limits.frameBytes,
      perMessageDeflate: false,
      handleProtocols: () => spoken,
    })
    return accepting
  }

  function open(socket: WebSocket, caller: Caller): void {
    const device = createLiveDevice({
      socket,
      throughline: options.throughline,
      limits,
      version: options.version,
      start: () => start,
      onNews: (one) => ticker.add(one),
      onCut: (reason) => log('warn', 'device.cut-off', { reason, device: nameOf(caller) }),
      onFailure: options.onFailure,
    })
    devices.set(device, caller)
    pinger ??= setInterval(() => {
      for (const [one, whose] of devices) {
        if (options.access.isStillAllowed(whose)) one.ping()
        else one.end(CLOSE_REASONS.revoked)
      }
    }, limits.pingMs).unref()
    log('info', 'device.connected', { device: nameOf(caller) })
    socket.once('close', (code) => {
      devices.delete(device)
      log('info', 'device.left', { device: nameOf(caller), code })
    })
  }

  return {
    get size() {
      return devices.size
    },
    async take(request, socket, head) {
      if (request.url !== '/api/live') throw notThere()
      const protocols = (request.headers['sec-websocket-protocol'] ?? '').split(/\s*,\s*/)
      const ticket = protocols.find((name) => name !== spoken && name.startsWith(PREFIX))
      if (!protocols.includes(spoken)) throw otherProtocol()
      const caller = await options.access.redeemTicket(ticket?.slice(PREFIX.length), peerOf(request))
      const server = await acceptor()
      // Asked after the last wait: from here on nothing comes in between.
      if (devices.size >= limits.sockets || isClosed) throw full()
      options.access.checkStillAllowed(caller)
      limitBytes(socket, limits.socketBytesPerSecond)
      server.handleUpgrade(request, socket, head, (made) => open(made, caller))
    },
    revoke(deviceId) {
      for (const [device, caller] of devices) {
        if (caller.kind === 'device' && caller.device.id === deviceId) device.end(CLOSE_REASONS.revoked)
      }
    },
    close() {
      isClosed = true
      clearInterval(pinger)
      ticker.close()
      for (const device of devices.keys()) device.end(CLOSE_REASONS.goingAway)
    },
  }
}

/** Fragments of a message that never ends are not counted as messages; their bytes are. */
function limitBytes(socket: Duplex, perSecond: number): void {
  let since = performance.now()
  let bytes = 0
  socket.on('data', (piece: Buffer) => {
    const time = performance.now()
    if (time - since > 1000) {
      since = time
      bytes = 0
    }
    bytes += piece.length
    if (bytes > perSecond) socket.destroy()
  })
}

function nameOf(caller: Caller): string {
  return caller.kind === 'local' ? 'local' : caller.device.id
}

function notThere(): Refusal {
  return new Refusal(404, 'request-invalid', {
    message: 'there is no socket at this path',
    hint: 'The socket is at /api/live.',
  })
}

function otherProtocol(): Refusal {
  return new Refusal(400, 'request-invalid', {
    message: 'the client speaks another protocol',
    hint: `Ask for the subprotocol ${PREFIX}v${PROTOCOL}, with the same version on both sides.`,
  })
}

function full(): Refusal {
  return new Refusal(503, 'too-many-requests', {
    message: 'too many devices are connected',
    hint: 'Close some of them, then try again.',
  })
}
