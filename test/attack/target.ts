import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'
import { WebSocket } from 'ws'
import { isObject, parseJson, string } from '#base'
import {
  openServer,
  readSecret,
  toLocalToken,
  type Limits,
  type RunningServer,
  type ServerOptions,
} from '#server'
import { openTempDir } from '#testing'
import type { Throughline } from '#wire'
import { createScript } from './script.ts'

/** A server to attack, with a clock that is set by hand and a log that is read afterwards. */
export interface Target {
  readonly server: RunningServer
  readonly home: string
  readonly port: number
  /** Of the command line on this machine. */
  readonly token: string
  readonly clock: { now: number }
  readonly log: string[]
}

export interface TargetOptions extends Partial<Pick<ServerOptions, 'allowedHosts' | 'onStop'>> {
  readonly throughline?: Throughline
  readonly home?: string
  readonly limits?: Partial<Limits>
  readonly port?: number
}

/** Opens a target that goes with the test. */
export async function openTarget(options: TargetOptions = {}): Promise<Target> {
  const dir = options.home === undefined ? await openTempDir() : undefined
  const home = options.home ?? dir?.path ?? ''
  const clock = { now: Date.UTC(2026, 10, 15, 12) }
  const log: string[] = []
  const server = await openServer({
    throughline: createScript().throughline,
    port: 0,
    ...options,
    home,
    now: () => clock.now,
    version: '0.0.0-test',
    startedAt: new Date(clock.now).toISOString(),
    log: (level, event, fields) => log.push(JSON.stringify({ level, event, ...fields })),
  })
  onTestFinished(async () => {
    await server.close()
    await dir?.remove()
  })
  return { server, home, port: server.port, token: toLocalToken(await readSecret(home)), clock, log }
}

export interface Heard {
  readonly status: number
  readonly head: string
  readonly body: string
  readonly json: unknown
}

/** Sends bytes as they are, and hears everything until the other side closes. */
export async function sendRaw(port: number, text: string | Buffer): Promise<Heard> {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  const pieces: Buffer[] = []
  socket.on('data', (piece: Buffer) => pieces.push(piece))
  socket.on('error', () => {})
  socket.write(text)
  await closeOf(socket)
  return toHeard(Buffer.concat(pieces).toString('utf8'))
}

/** Unlike `once`, an error is only the reason, not a failure. */
export async function closeOf(socket: Socket): Promise<void> {
  await new Promise<void>((resolve) => {
    socket.once('close', () => resolve())
  })
}

function toHeard(answer: string): Heard {
  const end = answer.indexOf('\r\n\r\n')
  const head = end < 0 ? answer : answer.slice(0, end)
  const body = end < 0 ? '' : answer.slice(end + 4)
  return { status: Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? 0), head, body, json: parseJson(body) }
}

export interface AskOptions {
  readonly token?: string
  readonly host?: string
  readonly headers?: readonly string[]
  readonly body?: object | string
}

/** One request over a connection of its own, written by hand. */
export async function ask(
  { port }: { readonly port: number },
  line: string,
  options: AskOptions = {},
): Promise<Heard> {
  const body =
    options.body === undefined || typeof options.body === 'string'
      ? options.body
      : JSON.stringify(options.body)
  const isTyped = options.headers?.some((header) => /^content-type:/i.test(header)) === true
  const headers = [
    `${line} HTTP/1.1`,
    `Host: ${options.host ?? `127.0.0.1:${port}`}`,
    'Connection: close',
    ...(options.token === undefined ? [] : [`Authorization: Bearer ${options.token}`]),
    ...(body === undefined ? [] : [`Content-Length: ${Buffer.byteLength(body)}`]),
    ...(body === undefined || isTyped ? [] : ['Content-Type: application/json']),
    ...(options.headers ?? []),
  ]
  return await sendRaw(port, `${headers.join('\r\n')}\r\n\r\n${body ?? ''}`)
}

/** A device that logs in as a browser does. */
export async function login(target: Target): Promise<{ readonly token: string; readonly id: string }> {
  const code = string((await ask(target, 'POST /api/codes', { token: target.token })).json, 'code')
  const { json } = await ask(target, 'POST /api/login', { body: { code, label: 'test' } })
  const device = isObject(json) ? json['device'] : undefined
  return { token: string(json, 'token') ?? '', id: string(device, 'id') ?? '' }
}

export async function ticketOf(target: Target, token: string = target.token): Promise<string> {
  return string((await ask(target, 'POST /api/tickets', { token })).json, 'ticket') ?? ''
}

export interface Live {
  readonly socket: WebSocket
  readonly frames: unknown[]
  /** Resolves when a frame has come for which this is true. */
  waitFor(wanted: (frame: unknown) => boolean): Promise<unknown>
  send(frame: object): void
  readonly closed: Promise<number>
}

/** A socket of its own, open and greeted. It goes with the test. */
export async function openLive(target: Target, token: string = target.token): Promise<Live> {
  const ticket = await ticketOf(target, token)
  const socket = new WebSocket(`ws://127.0.0.1:${target.port}/api/live`, [
    'throughline.v1',
    `throughline.${ticket}`,
  ])
  onTestFinished(() => socket.terminate())
  const frames: unknown[] = []
  let look: (() => void) | undefined
  socket.on('message', (data: Buffer) => {
    const list = parseJson(data.toString('utf8'))
    if (Array.isArray(list)) frames.push(...list)
    look?.()
  })
  socket.on('error', () => {})
  const closed = new Promise<number>((resolve) => {
    socket.once('close', resolve)
  })
  const waitFor = async (wanted: (frame: unknown) => boolean): Promise<unknown> =>
    await new Promise((resolve, reject) => {
      look = () => {
        const found = frames.find(wanted)
        if (found !== undefined) resolve(found)
      }
      look()
      void closed.then((code) => reject(new Error(`closed with ${code}`)))
    })
  await waitFor((frame) => string(frame, 'kind') === 'hello')
  return { socket, frames, waitFor, send: (frame) => socket.send(JSON.stringify(frame)), closed }
}
