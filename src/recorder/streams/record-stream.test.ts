import { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { list, object, string } from '#base'
import {
  anyChunks,
  anySaid,
  checkWithEntire,
  inPieces,
  runs,
  SAID_IN_MESSAGES,
  SAID_SHAPES,
  toEventBytes,
  type SaidPart,
} from '#testing'
import { linesOf, openPlace } from '../fixtures/recording-place.ts'
import type { Api } from './answer.ts'
import {
  recordAnthropicStream,
  recordChatStream,
  recordGeminiStream,
  recordResponsesStream,
  type StreamRecorder,
} from './record-stream.ts'

const RECORDERS: Readonly<Record<Api, StreamRecorder>> = {
  messages: recordAnthropicStream,
  responses: recordResponsesStream,
  chat: recordChatStream,
  gemini: recordGeminiStream,
}

const SAID: readonly SaidPart[] = [
  { kind: 'thinking', text: 'I should look.', signature: 'c2ln' },
  { kind: 'text', text: 'Let me look.' },
  { kind: 'call', id: 'call_1', name: 'Read', input: { file_path: 'a.txt' } },
]

/** A recording that takes nothing down, or refuses to. */
function ear(refusal?: Error): {
  readonly heard: object[]
  readonly assistant: (message: object) => Promise<never>
} {
  const heard: object[] = []
  return {
    heard,
    assistant: (message) => {
      heard.push(message)
      return refusal ? Promise.reject(refusal) : new Promise(() => {})
    },
  }
}

function streamOf(
  chunks: readonly Uint8Array[],
  end: 'close' | 'break' | 'stay' = 'close',
): ReadableStream<Uint8Array> {
  let at = 0
  return new ReadableStream(
    {
      pull(controller) {
        const chunk = chunks[at++]
        if (chunk) return controller.enqueue(chunk)
        if (end === 'close') controller.close()
        if (end === 'break') controller.error(new Error('connection reset'))
      },
    },
    { highWaterMark: 0 },
  )
}

function toHex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}

async function bytesIn(
  source: AsyncIterable<Uint8Array>,
): Promise<{ readonly chunks: readonly Uint8Array[]; readonly error: unknown }> {
  const chunks: Uint8Array[] = []
  try {
    for await (const chunk of source) chunks.push(chunk)
    return { chunks, error: undefined }
  } catch (error) {
    return { chunks, error }
  }
}

describe.each(SAID_SHAPES.map((shape) => [shape.api, shape] as const))('%s', (api, shape) => {
  test('[STR1] the bytes that come out are those that went in, chunk by chunk', async () => {
    const cut = fc.tuple(anySaid(), fc.boolean()).chain(([said, isPacked]) => {
      const plain = toEventBytes(shape.toEvents(said, inPieces(4)))
      const bytes = isPacked ? gzipSync(plain) : plain
      return fc.tuple(fc.constant(isPacked), anyChunks(bytes))
    })
    await fc.assert(
      fc.asyncProperty(cut, fc.constantFrom('close', 'break'), async ([isPacked, chunks], end) => {
        const facts = isPacked ? { contentEncoding: 'gzip' } : {}
        const { stream } = RECORDERS[api](streamOf(chunks, end), ear(), facts)
        const passed = await bytesIn(stream)
        expect(passed.chunks.map(toHex)).toEqual(chunks.map(toHex))
        expect(passed.error !== undefined).toBe(end === 'break')
        const iterated = RECORDERS[api](
          Readable.from(chunks.filter(({ length }) => length > 0)),
          ear(),
          facts,
        )
        expect(Buffer.concat((await bytesIn(iterated.stream)).chunks).equals(Buffer.concat(chunks))).toBe(
          true,
        )
      }),
      runs(20),
    )
  })

  test('[STR19] [D2.1] an answer is on disk once it was read, with its figures, and Entire counts it', async () => {
    const place = await openPlace()
    const recording = await place.record()
    await recording.user('Look at a.txt')
    const response = new Response(streamOf([toEventBytes(shape.toEvents(SAID, inPieces(5)))]), {
      headers: { 'content-type': 'text/event-stream', 'x-request-id': 'req_1' },
    })
    const { stream, recorded } = RECORDERS[api](response, recording)
    await stream.text()
    const turn = await recorded
    const [, line] = await linesOf(recording.path)
    expect(line).toMatchObject({ type: 'assistant', uuid: turn?.uuid, requestId: 'req_1' })
    expect(line).not.toHaveProperty('outcome')
    const content = list(object(line, 'message'), 'content')
    expect(content.map((block) => string(block, 'type'))).toEqual(['thinking', 'text', 'tool_use'])
    const report = await checkWithEntire(recording.path)
    expect(report.errors).toEqual({})
    expect(report.tokens).toEqual({
      input: api === 'messages' ? 12 : 212,
      output: 42,
      cacheRead: 1000,
      cacheCreation: api === 'messages' ? 200 : 0,
      calls: 1,
    })
    await recording.end()
  })

  test('[STR8] [STR19] what was cut, broken off or cancelled is on disk as far as it came, and says so', async () => {
    const bytes = toEventBytes(shape.toEvents(SAID, inPieces(2)))
    const part = bytes.subarray(0, bytes.length - 500)
    for (const how of ['close', 'break', 'cancel'] as const) {
      const place = await openPlace()
      const recording = await place.record()
      await recording.user('Look')
      const source = streamOf([part], how === 'cancel' ? 'stay' : how)
      const { stream, recorded } = RECORDERS[api](source, recording)
      if (how === 'cancel') {
        const reader = stream.getReader()
        await reader.read()
        await reader.cancel('enough')
      } else await bytesIn(stream)
      await recorded
      const [, line] = await linesOf(recording.path)
      expect(line).toMatchObject({ outcome: 'cut', message: { stop_reason: null } })
      expect(JSON.stringify(line)).toContain('I should look.')
      await recording.end()
    }
  })
})

test('[STR1] a response keeps its status, its headers and its address', async () => {
  const response = new Response(streamOf([toEventBytes(SAID_IN_MESSAGES.toEvents(SAID, inPieces(5)))]), {
    status: 201,
    statusText: 'Made',
    headers: { 'x-a': 'b' },
  })
  Object.defineProperty(response, 'url', { value: 'https://example.org/v1/messages' })
  const { stream } = recordAnthropicStream(response, ear())
  expect([stream.status, stream.statusText, stream.headers.get('x-a'), stream.url]).toEqual([
    201,
    'Made',
    'b',
    'https://example.org/v1/messages',
  ])
  const { recorded, stream: empty } = recordAnthropicStream(new Response(null, { status: 204 }), ear())
  expect(empty.status).toBe(204)
  expect(await recorded).toBeUndefined()
})

test('[STR1] nothing is read before it is asked for, and each chunk is passed on when it is there', async () => {
  const chunks = [...toEventBytes(SAID_IN_MESSAGES.toEvents(SAID, inPieces(5)))].map((byte) =>
    Uint8Array.of(byte),
  )
  let pulled = 0
  const source = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const chunk = chunks[pulled++]
        if (chunk) controller.enqueue(chunk)
      },
    },
    { highWaterMark: 0 },
  )
  const { stream } = recordAnthropicStream(source, ear())
  await setImmediate()
  expect(pulled).toBe(0)
  const reader = stream.getReader()
  for (let at = 1; at <= 50; at += 1) {
    expect((await reader.read()).value).toEqual(chunks[at - 1])
    await setImmediate()
    expect(pulled).toBe(at)
  }
  await reader.cancel()
})

test('[STR19] what is given up while nobody reads is on disk as far as it was read', async () => {
  const bytes = toEventBytes(SAID_IN_MESSAGES.toEvents(SAID, inPieces(5)))
  let breakOff: ((error: unknown) => void) | undefined
  const source = new ReadableStream<Uint8Array>(
    {
      start: (controller) => {
        breakOff = (error) => controller.error(error)
      },
      pull: (controller) => controller.enqueue(bytes.subarray(0, bytes.length / 2)),
    },
    { highWaterMark: 0 },
  )
  const place = await openPlace()
  const recording = await place.record()
  const { stream, recorded } = recordAnthropicStream(source, recording)
  const reader = stream.getReader()
  await reader.read()
  breakOff?.(new Error('aborted'))
  await recorded
  expect(await linesOf(recording.path)).toMatchObject([{ outcome: 'cut' }])
  await expect(reader.read()).rejects.toThrow('aborted')
  await recording.end()
})

test('[STR19] a recording that fails disturbs nobody, and is told', async () => {
  const bytes = toEventBytes(SAID_IN_MESSAGES.toEvents(SAID, inPieces(5)))
  const refusal = new Error('disk full')
  const troubles: unknown[] = []
  const { stream, recorded } = recordAnthropicStream(streamOf([bytes]), ear(refusal), {
    onTrouble: (error) => troubles.push(error),
  })
  expect((await bytesIn(stream)).chunks).toEqual([bytes])
  await expect(recorded).rejects.toBe(refusal)
  expect(troubles).toEqual([refusal])
  // Nobody looks here, and nothing comes of it: an unhandled rejection would fail the run.
  await bytesIn(recordAnthropicStream(streamOf([bytes]), ear(refusal)).stream)
})

test('[STR8] a stream in which no message begins leaves nothing', async () => {
  const { heard, assistant } = ear()
  const { stream, recorded } = recordAnthropicStream(
    streamOf([new TextEncoder().encode('event: ping\n\n')]),
    { assistant },
  )
  await bytesIn(stream)
  expect(await recorded).toBeUndefined()
  expect(heard).toEqual([])
})

test('[STR8] what the provider says of its failure stands on the line', async () => {
  const place = await openPlace()
  const recording = await place.record()
  const events = SAID_IN_MESSAGES.toEvents(SAID, inPieces(50)).slice(0, 6)
  const failure = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }
  const source = streamOf([toEventBytes([...events, { event: 'error', data: failure }])])
  const { stream, recorded } = recordAnthropicStream(source, recording, { requestId: 'req_7' })
  await bytesIn(stream)
  await recorded
  const [line] = await linesOf(recording.path)
  expect(line).toMatchObject({
    outcome: 'failed',
    failure: 'overloaded_error: Overloaded',
    requestId: 'req_7',
  })
  await recording.end()
})
