import { isObject, number, parseJson, string, ThroughlineError, type JsonObject } from '#base'
import {
  CLOSE_REASONS,
  fromWireReading,
  PROTOCOL,
  type BytesCodec,
  type DeviceFrame,
  type LiveEvent,
  type SubscribeOptions,
  type Subscription,
  type Topic,
} from '#wire'
import { notAllowed, toError } from './rest.ts'

/** What is used of a WebSocket: the browser's, or that of `ws`. */
export interface Socket {
  send(data: string): void
  close(code?: number): void
  addEventListener(kind: 'open' | 'error', listener: () => void): void
  addEventListener(kind: 'message', listener: (event: { readonly data: unknown }) => void): void
  addEventListener(kind: 'close', listener: (event: { readonly code: number }) => void): void
}

export type SocketConstructor = new (url: string, protocols: string[]) => Socket

/** One socket for all subscriptions: opened with the first one, closed with the last. */
export interface LiveSocket {
  subscribe(topic: Topic, options: SubscribeOptions): Subscription
  /** Ends every subscription without a word. */
  close(): void
}

interface Listener {
  readonly topic: Topic
  readonly options: SubscribeOptions
  cursor: string | undefined
}

const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 15_000
/** A connection that says nothing for two of these, though it is asked, is dead. */
const PING_MS = 20_000
/** Refused so often in a row, the same again will be refused again. */
const MOST_REFUSALS = 3
const REFUSED: readonly number[] = [CLOSE_REASONS.policy, CLOSE_REASONS.tooBig]

/**
 * Keeps a socket open as long as somebody listens. A connection that breaks is taken up again after a pause that grows
 * and differs between devices, and every subscription goes on from the last cursor that was taken in.
 */
export function createLiveSocket(options: {
  readonly url: string
  /** A ticket is good for one socket: it stands where intermediaries may log it. */
  readonly getTicket: () => Promise<string>
  readonly WebSocket: SocketConstructor | undefined
  readonly codec: BytesCodec
  readonly firstPauseMs?: number | undefined
  /** The socket opened, or broke and is being opened again. */
  readonly onConnection?: ((state: 'open' | 'broken') => void) | undefined
  /** So long may a ticket and the opening take together: a network that is half open never says no. */
  readonly patienceMs: number
}): LiveSocket {
  const { WebSocket } = options
  const address = `${options.url.replace(/^http/, 'ws')}/api/live`
  const listeners = new Map<number, Listener>()
  let last = 0
  let socket: Socket | undefined
  let isOpen = false
  let isOpening = false
  let heard = true
  let failures = 0
  let refusals = 0
  /** The number of the attempt that counts: what comes of an earlier one comes too late. */
  let attempt = 0
  let patience: ReturnType<typeof setTimeout> | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  let pinger: ReturnType<typeof setInterval> | undefined

  function open(): void {
    if (socket !== undefined || isOpening || timer !== undefined) return
    isOpening = true
    const mine = ++attempt
    patience = setTimeout(giveUp, options.patienceMs)
    knock(mine).catch((error: unknown) => {
      if (mine !== attempt) return
      drop()
      const isRefused = error instanceof ThroughlineError && error.code === 'not-allowed'
      if (isRefused) endAll(error)
      else retry()
    })
  }

  async function knock(mine: number): Promise<void> {
    const ticket = await options.getTicket()
    if (mine !== attempt || WebSocket === undefined) return
    attach(new WebSocket(address, protocolsOf(ticket)))
  }

  function attach(made: Socket): void {
    socket = made
    isOpening = false
    made.addEventListener('open', () => {
      if (socket !== made) return
      clearTimeout(patience)
      isOpen = true
      heard = true
      pinger = setInterval(ping, PING_MS)
      options.onConnection?.('open')
      for (const [subscription, listener] of listeners) tell(subscription, listener)
    })
    made.addEventListener('message', ({ data }) => {
      if (socket !== made) return
      heard = true
      const frames = typeof data === 'string' ? parseJson(data) : undefined
      if (Array.isArray(frames)) for (const frame of frames) if (isObject(frame)) take(frame)
    })
    made.addEventListener('error', () => {})
    made.addEventListener('close', ({ code }) => {
      if (socket !== made) return
      drop()
      refusals += REFUSED.includes(code) ? 1 : 0
      if (code === CLOSE_REASONS.revoked) endAll(notAllowed())
      else if (refusals >= MOST_REFUSALS) endAll(refused())
      else retry()
    })
  }

  function take(frame: JsonObject): void {
    switch (frame['kind']) {
      case 'hello':
        if (number(frame, 'protocol') !== PROTOCOL) endAll(toError(undefined))
        return
      case 'pong':
        failures = 0
        // Events come also before the part that is refused; a connection that lasts is not refused.
        refusals = 0
        return
      case 'event': {
        failures = 0
        const event = frame['event']
        const listener = listeners.get(number(frame, 'subscription') ?? 0)
        if (listener === undefined || !isWireEvent(event)) return
        deliver(listener, event)
        return
      }
      case 'failed': {
        const subscription = number(frame, 'subscription') ?? 0
        const listener = listeners.get(subscription)
        forget(subscription)
        listener?.options.onError?.(toError(frame['error']))
        return
      }
      // A newer daemon of the same protocol may say more than is understood here.
      default:
    }
  }

  function deliver(listener: Listener, event: LiveEvent): void {
    listener.cursor = event.cursor
    try {
      const told = listener.options.onEvent(
        event.kind === 'entry.added'
          ? { ...event, readings: event.readings.map((one: unknown) => fromWireReading(one, options.codec)) }
          : event,
      )
      if (told instanceof Promise) told.catch(throwOutside)
    } catch (error) {
      throwOutside(error)
    }
  }

  function say(frame: DeviceFrame): void {
    if (isOpen) socket?.send(JSON.stringify(frame))
  }

  function tell(subscription: number, { topic, cursor }: Listener): void {
    say({ kind: 'subscribe', subscription, topic, ...(cursor === undefined ? {} : { cursor }) })
  }

  function ping(): void {
    if (heard) {
      heard = false
      say({ kind: 'ping' })
      return
    }
    giveUp()
  }

  function giveUp(): void {
    // Closing it would wait for an answer that does not come.
    const dead = socket
    drop()
    dead?.close()
    retry()
  }

  /** Nothing that is open, or on its way to be, counts any more. */
  function drop(): void {
    clearInterval(pinger)
    clearTimeout(patience)
    attempt++
    socket = undefined
    isOpen = false
    isOpening = false
  }

  function retry(): void {
    if (listeners.size === 0) return
    options.onConnection?.('broken')
    const longest = Math.min(LONGEST_PAUSE_MS, (options.firstPauseMs ?? FIRST_PAUSE_MS) * 2 ** failures++)
    timer = setTimeout(
      () => {
        timer = undefined
        if (listeners.size > 0) open()
      },
      longest * (0.5 + Math.random() / 2),
    )
  }

  function endAll(error: ThroughlineError): void {
    const ended = [...listeners.values()]
    listeners.clear()
    refusals = 0
    rest()
    for (const listener of ended) listener.options.onError?.(error)
  }

  function forget(subscription: number): void {
    listeners.delete(subscription)
    if (listeners.size === 0) rest()
  }

  function rest(): void {
    clearTimeout(timer)
    timer = undefined
    const done = socket
    drop()
    done?.close(1000)
  }

  return {
    subscribe(topic, given) {
      if (WebSocket === undefined) throw noSocket()
      const subscription = ++last
      const listener: Listener = { topic, options: given, cursor: given.cursor }
      listeners.set(subscription, listener)
      if (isOpen) tell(subscription, listener)
      else open()
      return {
        get cursor() {
          return listener.cursor
        },
        close() {
          if (listeners.get(subscription) !== listener) return
          say({ kind: 'unsubscribe', subscription })
          forget(subscription)
        },
      }
    },
    close() {
      listeners.clear()
      rest()
    },
  }
}

/** A listener that fails must not cost the others their events. It is heard outside. */
function throwOutside(error: unknown): void {
  queueMicrotask(() => {
    throw error
  })
}

function noSocket(): ThroughlineError {
  return new ThroughlineError('config-invalid', 'there is no WebSocket here', {
    hint: 'Give `connect` the one of the package `ws`, or use Node 22.',
  })
}

function refused(): ThroughlineError {
  return new ThroughlineError(
    'too-many-requests',
    'the daemon refuses what this device asks of the socket, again and again',
    { hint: 'Listen to less at once, then begin again. `throughline logs` says when devices were cut off.' },
  )
}

function protocolsOf(ticket: string): string[] {
  return [`throughline.v${PROTOCOL}`, `throughline.${ticket}`]
}

function isWireEvent(value: unknown): value is LiveEvent {
  return isObject(value) && typeof value['kind'] === 'string' && string(value, 'cursor') !== undefined
}
