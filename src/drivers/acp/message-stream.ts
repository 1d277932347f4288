import type { Readable, Writable } from 'node:stream'
import type { AnyMessage, Stream } from '@agentclientprotocol/sdk'
import { field, isObject, parseJson, string } from '#base'

/** A message longer than this is nothing that an agent says: it is passed over, and said so. */
const MAX_MESSAGE = 64 * 1024 * 1024
const KEPT_NOISE = 200
const NEWLINE = 0x0a

/** Who is told what comes beside requests and answers. */
export interface StreamListener {
  /** Told at once, in the order in which they come, and before any answer that follows them. */
  readonly onNotification: (method: string, params: unknown) => void
  /** A line that is no message: agents, and what they start, print where they should not. */
  readonly onNoise: (line: string) => void
  /** A line of so many bytes, which is none that can be read. */
  readonly onTooLong: (bytes: number) => void
}

/** The messages on an agent's standard streams, one per line. The agent waits while nobody reads. */
export function toMessageStream(
  input: Readable,
  output: Writable,
  { onNotification, onNoise, onTooLong }: StreamListener,
): Stream {
  let pieces: Buffer[] = []
  let length = 0

  function take(line: Buffer, controller: ReadableStreamDefaultController<AnyMessage>): void {
    const text = line.toString('utf8').trim()
    if (text === '') return
    const message = parseJson(text)
    if (!isMessage(message)) return onNoise(text.slice(0, KEPT_NOISE))
    const method = string(message, 'method')
    // The SDK lets an answer overtake a notification.
    if (method !== undefined && !('id' in message)) onNotification(method, field(message, 'params'))
    else controller.enqueue(message)
  }

  function feed(chunk: Buffer, controller: ReadableStreamDefaultController<AnyMessage>): void {
    let from = 0
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, from)) {
      pieces.push(chunk.subarray(from, at))
      if (length + at - from <= MAX_MESSAGE) take(Buffer.concat(pieces), controller)
      else onTooLong(length + at - from)
      pieces = []
      length = 0
      from = at + 1
    }
    const rest = chunk.subarray(from)
    length += rest.length
    if (length <= MAX_MESSAGE) pieces.push(rest)
    else pieces = []
  }

  const readable = new ReadableStream<AnyMessage>({
    start(controller) {
      let isOver = false
      const end = (): void => {
        if (isOver) return
        isOver = true
        controller.close()
      }
      input.on('data', (chunk: Buffer) => {
        if (isOver) return
        feed(chunk, controller)
        if ((controller.desiredSize ?? 0) <= 0) input.pause()
      })
      input.on('end', end)
      input.on('close', end)
      input.on('error', end)
    },
    pull() {
      input.resume()
    },
    cancel() {
      input.destroy()
    },
  })

  const writable = new WritableStream<AnyMessage>({
    write: (message) =>
      new Promise((resolve) => {
        if (output.destroyed || output.writableEnded) return resolve()
        output.write(`${JSON.stringify(message)}\n`, () => resolve())
      }),
  })
  return { readable, writable }
}

function isMessage(value: unknown): value is AnyMessage {
  return isObject(value) && value['jsonrpc'] === '2.0' && ('method' in value || 'id' in value)
}
