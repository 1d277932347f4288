import type { RawData, WebSocket } from 'ws'
import { parseJson, ThroughlineError } from '#base'
import {
  CLOSE_REASONS,
  findDeviceFrame,
  PROTOCOL,
  type DaemonFrame,
  type DeviceFrame,
  type Subscription,
  type Throughline,
} from '#wire'
import type { Batch } from './batch.ts'
import { toTold } from './errors.ts'
import type { Limits } from './limits.ts'

/** One device on one socket, with all it listens to. */
export interface LiveDevice {
  /** Sends what has come together. Called once per tick. */
  flush(): void
  /** Asks whether it is still there; one that did not answer the last time is dropped. */
  ping(): void
  end(code: number): void
}

/** Answers to a flood are not worth waiting for: so long has a device to take its leave. */
const FAREWELL_MS = 1000
/** What is told in one tick is sent before its end when it gets longer than this. */
const MOST_PER_MESSAGE = 1024 * 1024
/** With more than this waiting, what there was is not read on; what is new comes all the same. */
const UNHURRIED_BYTES = 1024 * 1024
/** A device that comes back takes all its subscriptions up at once. */
const BURST_SECONDS = 10

export function createLiveDevice(options: {
  readonly socket: WebSocket
  readonly throughline: Throughline
  readonly limits: Limits
  readonly version: string
  /** Where this tick's batches begin. */
  readonly start: () => Batch
  /** There is something to flush. */
  readonly onNews: (device: LiveDevice) => void
  readonly onCut: (reason: 'slow' | 'policy') => void
  readonly onFailure: (error: unknown) => void
}): LiveDevice {
  const { socket, limits, throughline } = options
  const subscriptions = new Map<number, Subscription | undefined>()
  let batch: Batch | undefined
  let waiting: (() => void)[] = []
  let isEnding = false
  let isAlive = true
  let credit = limits.framesPerSecond * BURST_SECONDS
  let creditAt = performance.now()

  const device: LiveDevice = { flush, ping, end }

  function grow(next: Batch): void {
    const isNews = batch === undefined
    batch = next
    if (next.size > MOST_PER_MESSAGE) flush()
    else if (isNews) options.onNews(device)
  }

  function say(frame: DaemonFrame): void {
    if (!isEnding) grow((batch ?? options.start()).withFrame(frame))
  }

  function flush(): void {
    const ready = batch
    batch = undefined
    if (ready === undefined || isEnding) return
    socket.send(ready.toMessage(), { binary: false }, letGoOn)
    if (socket.bufferedAmount <= limits.waitingBytes) return
    options.onCut('slow')
    end(CLOSE_REASONS.tooSlow)
  }

  /** Resolves when the device has taken in most of what it was sent. */
  function takenIn(): void | Promise<void> {
    if (isEnding || socket.bufferedAmount + (batch?.size ?? 0) < UNHURRIED_BYTES) return
    return new Promise((resolve) => {
      waiting.push(resolve)
    })
  }

  function letGoOn(): void {
    if (waiting.length === 0 || (!isEnding && socket.bufferedAmount >= UNHURRIED_BYTES)) return
    const all = waiting
    waiting = []
    for (const resolve of all) resolve()
  }

  function end(code: number): void {
    if (isEnding) return
    isEnding = true
    for (const subscription of subscriptions.values()) subscription?.close()
    subscriptions.clear()
    batch = undefined
    letGoOn()
    socket.close(code)
    setTimeout(() => socket.terminate(), FAREWELL_MS).unref()
  }

  function ping(): void {
    if (!isAlive) {
      socket.terminate()
      return
    }
    isAlive = false
    socket.ping()
  }

  function isTooFast(): boolean {
    const time = performance.now()
    const { framesPerSecond } = limits
    credit = Math.min(framesPerSecond * BURST_SECONDS, credit + ((time - creditAt) / 1000) * framesPerSecond)
    creditAt = time
    return --credit < 0
  }

  function refuse(): void {
    options.onCut('policy')
    end(CLOSE_REASONS.policy)
  }

  function take(frame: DeviceFrame): void {
    switch (frame.kind) {
      case 'ping':
        say({ kind: 'pong' })
        return
      case 'unsubscribe':
        subscriptions.get(frame.subscription)?.close()
        subscriptions.delete(frame.subscription)
        return
      case 'subscribe':
        if (subscriptions.has(frame.subscription) || subscriptions.size >= limits.subscriptions) refuse()
        else subscribe(frame)
    }
  }

  function subscribe({ subscription, topic, cursor }: Extract<DeviceFrame, { kind: 'subscribe' }>): void {
    const isOn = (): boolean => !isEnding && subscriptions.has(subscription)
    const fail = (error: unknown): void => {
      if (!isOn()) return
      subscriptions.get(subscription)?.close()
      subscriptions.delete(subscription)
      const { body, isKnown } = toTold(error)
      if (!isKnown) options.onFailure(error)
      say({ kind: 'failed', subscription, error: body })
    }
    // Events may come before `subscribe` has returned.
    subscriptions.set(subscription, undefined)
    try {
      const made = throughline.subscribe(topic, {
        ...(cursor === undefined ? {} : { cursor }),
        onEvent(event) {
          if (!isOn()) return
          grow((batch ?? options.start()).withEvent(subscription, event))
          return takenIn()
        },
        onError: fail,
      })
      if (isOn()) subscriptions.set(subscription, made)
      else made.close()
    } catch (error) {
      fail(error)
    }
  }

  socket.on('message', (data: RawData, isBinary: boolean) => {
    if (isEnding) return
    isAlive = true
    const frame = isBinary || isTooFast() ? undefined : findDeviceFrame(parseJson(textOf(data)))
    if (frame === undefined) refuse()
    else take(frame)
  })
  socket.on('ping', () => {
    if (!isEnding && isTooFast()) refuse()
  })
  socket.on('pong', () => {
    isAlive = true
    if (!isEnding && isTooFast()) refuse()
  })
  socket.on('close', () => {
    isEnding = true
    batch = undefined
    letGoOn()
    for (const subscription of subscriptions.values()) subscription?.close()
    subscriptions.clear()
  })
  // A frame that is too long or malformed: `ws` has already closed with the right number.
  socket.on('error', () => {})
  say({ kind: 'hello', protocol: PROTOCOL, version: options.version })
  return device
}

function textOf(data: RawData): string {
  if (Buffer.isBuffer(data)) return data.toString('utf8')
  throw new ThroughlineError('internal', 'a message came in pieces', { hint: 'See `throughline logs`.' })
}
