import { request } from 'node:http'
import { WebSocket } from 'ws'
import { parseJson, string } from '#base'
import { PROTOCOL } from '#wire'
import { LiveTally } from './live-tally.ts'
import { createArrivals } from './running-arrivals.ts'

interface DevicesOptions {
  readonly port: number
  /** Empty: the server is the naive one, which asks for nothing. */
  readonly token: string
  readonly sessionId: string
  readonly devices: number
  /** Marks with smaller numbers are from before. */
  readonly from: number
  /** What is listened to: what is written into the transcript, or what a live session says. */
  readonly topic: 'session' | 'live'
}

interface Tally {
  take(device: number, bytes: Buffer): void
  report(): object
}

const AT_ONCE = 20

/** Opens so many sockets, each listening to the session. Resolves when all have caught up. */
export async function openDevices(options: DevicesOptions): Promise<{ report(): object }> {
  const tally: Tally =
    options.topic === 'live' ? createArrivals() : new LiveTally(options.devices, options.from)
  let lost = 0
  let next = 0
  const opener = async (): Promise<void> => {
    while (next < options.devices) {
      await openDevice(options, next++, { tally, onLost: () => (lost += 1) })
    }
  }
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, options.devices) }, opener))
  return { report: () => ({ ...tally.report(), lost }) }
}

async function openDevice(
  options: DevicesOptions,
  device: number,
  { tally, onLost }: { readonly tally: Tally; readonly onLost: () => void },
): Promise<void> {
  const { port, token, sessionId } = options
  const protocols =
    token === '' ? [] : [`throughline.v${PROTOCOL}`, `throughline.${await getTicket(port, token)}`]
  const socket = new WebSocket(`ws://127.0.0.1:${port}/api/live`, protocols, { perMessageDeflate: false })
  socket.once('close', onLost)
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject)
    socket.once('open', () => {
      const topic =
        options.topic === 'live'
          ? { kind: 'live', id: sessionId }
          : { kind: 'session', id: sessionId, last: 1, raw: false }
      if (token === '') resolve()
      else socket.send(JSON.stringify({ kind: 'subscribe', subscription: 1, topic }))
    })
    let isReady = false
    socket.on('message', (data: Buffer) => {
      tally.take(device, data)
      if (isReady || !data.includes('"caught-up"')) return
      isReady = true
      resolve()
    })
  })
  socket.on('error', () => {})
}

async function getTicket(port: number, token: string): Promise<string> {
  return await new Promise((resolve, reject) => {
    const headers = { host: `127.0.0.1:${port}`, authorization: `Bearer ${token}` }
    const asked = request(
      { host: '127.0.0.1', port, path: '/api/tickets', method: 'POST', headers },
      (response) => {
        const pieces: Buffer[] = []
        response.on('data', (piece: Buffer) => pieces.push(piece))
        response.once('end', () => {
          const text = Buffer.concat(pieces).toString('utf8')
          const ticket = string(parseJson(text), 'ticket')
          if (ticket === undefined)
            reject(new Error(`no ticket: ${response.statusCode} ${text.slice(0, 200)}`))
          else resolve(ticket)
        })
      },
    )
    asked.once('error', reject)
    asked.end()
  })
}
