/** Bytes in any form in which they come from a network. */
export type ByteSource = Response | ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>

/** What is told of bytes that are passed on. Neither may throw; `over` may be told more than once. */
export interface BytesHeard {
  bytes(chunk: Uint8Array): void
  /** They ended, broke off, or nobody wants them any more. */
  over(): void
}

/** A stream of the same bytes, chunk by chunk, as they are asked for: nothing is read ahead and nothing is held. */
export function passStream(
  source: ReadableStream<Uint8Array>,
  heard: BytesHeard,
): ReadableStream<Uint8Array> {
  const reader = source.getReader()
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        // Nobody may be reading when the connection breaks or is given up.
        reader.closed.catch((error: unknown) => {
          heard.over()
          controller.error(error)
        })
      },
      async pull(controller) {
        try {
          const next = await reader.read()
          if (next.done) {
            heard.over()
            return controller.close()
          }
          heard.bytes(next.value)
          controller.enqueue(next.value)
        } catch (error) {
          heard.over()
          controller.error(error)
        }
      },
      async cancel(reason) {
        heard.over()
        await reader.cancel(reason)
      },
    },
    { highWaterMark: 0 },
  )
}

/** The same bytes, one chunk after the other. */
export async function* passChunks(
  source: AsyncIterable<Uint8Array>,
  heard: BytesHeard,
): AsyncGenerator<Uint8Array, void, undefined> {
  try {
    for await (const chunk of source) {
      heard.bytes(chunk)
      yield chunk
    }
  } finally {
    heard.over()
  }
}

/** A response with the same bytes, and everything else as it was. */
export function passResponse(response: Response, heard: BytesHeard): Response {
  if (response.body === null) {
    heard.over()
    return response
  }
  const { status, statusText, headers, url, redirected, type } = response
  const passed = new Response(passStream(response.body, heard), { status, statusText, headers })
  // What `fetch` alone knows, and no constructor takes.
  for (const [name, value] of Object.entries({ url, redirected, type }))
    Object.defineProperty(passed, name, { value, configurable: true })
  return passed
}
