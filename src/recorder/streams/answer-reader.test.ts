import { brotliCompressSync, gzipSync } from 'node:zlib'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { field, string } from '#base'
import {
  anyChunks,
  anyEventStyle,
  anySaid,
  inPieces,
  runs,
  SAID_IN_GEMINI,
  SAID_IN_MESSAGES,
  SAID_SHAPES,
  toEventBytes,
  type SaidPart,
  type SaidShape,
} from '#testing'
import type { Answer, Api } from './answer.ts'
import { createAnswerListener } from './answer-listener.ts'
import { createAnswerReader } from './answer-reader.ts'

function read(api: Api, chunks: readonly Uint8Array[], contentType?: string): Answer | undefined {
  const reader = createAnswerReader(api, { contentType })
  for (const chunk of chunks) reader.add(chunk)
  return reader.end()
}

interface Heard {
  readonly text: string
  readonly thinking: string
  readonly calls: readonly (readonly [id: string, name: string, input: unknown])[]
}

/** What was said, whatever the interface. */
function heardIn(answer: Answer | undefined): Heard {
  const content = answer?.message.content ?? []
  const blocks = typeof content === 'string' ? [] : content
  const all = (type: string): readonly object[] => blocks.filter((block) => string(block, 'type') === type)
  return {
    text: all('text')
      .map((block) => string(block, 'text'))
      .join(''),
    thinking: all('thinking')
      .map((block) => string(block, 'thinking'))
      .join(''),
    calls: all('tool_use').map((block) => [
      string(block, 'id') ?? '',
      string(block, 'name') ?? '',
      field(block, 'input'),
    ]),
  }
}

function saidIn(said: readonly SaidPart[], { api }: SaidShape): Heard {
  const all = (kind: SaidPart['kind']): readonly SaidPart[] => said.filter((part) => part.kind === kind)
  return {
    text: all('text').reduce((text, part) => text + (part.kind === 'text' ? part.text : ''), ''),
    thinking: all('thinking').reduce((text, part) => text + (part.kind === 'thinking' ? part.text : ''), ''),
    calls: said.flatMap((part) =>
      part.kind === 'call'
        ? [
            [
              api === 'gemini' ? expect.stringMatching(/^call_made_/) : part.id,
              part.name,
              part.input,
            ] as const,
          ]
        : [],
    ),
  }
}

const SMALL: readonly SaidPart[] = [
  { kind: 'thinking', text: 'Höm 🙂', signature: 'c2ln' },
  { kind: 'text', text: 'Grüße 👩‍👩‍👧' },
  { kind: 'call', id: 'call_1', name: 'Bash', input: { command: 'echo "ü"' } },
]

/** The places where a stream cannot be cut in two without giving another answer. */
function wrongCuts(api: Api, bytes: Uint8Array, whole: Answer | undefined): readonly number[] {
  const expected = JSON.stringify(whole)
  return [...bytes.keys()].filter(
    (at) => JSON.stringify(read(api, [bytes.subarray(0, at), bytes.subarray(at)])) !== expected,
  )
}

describe.each(SAID_SHAPES.map((shape) => [shape.api, shape] as const))('%s', (api, shape) => {
  const pieces = fc.integer({ min: 1, max: 9 }).map(inPieces)

  test('[STR2] any chunks of any stream, however it is written, give the same answer', () => {
    const stream = fc.tuple(anySaid(), pieces, anyEventStyle()).chain(([said, cut, style]) => {
      const bytes = toEventBytes(shape.toEvents(said, cut), style)
      return fc.tuple(fc.constant(said), fc.constant(cut), anyChunks(bytes))
    })
    fc.assert(
      fc.property(stream, ([said, cut, chunks]) => {
        const plain = read(api, [toEventBytes(shape.toEvents(said, cut))])
        expect(heardIn(plain)).toEqual(saidIn(said, shape))
        expect(plain?.outcome).toBe('whole')
        expect(read(api, chunks)).toEqual(plain)
        expect(read(api, chunks, 'text/event-stream; charset=utf-8')).toEqual(plain)
      }),
      runs(60),
    )
  })

  test('[STR2] every byte boundary of a stream gives the same answer', () => {
    for (const end of ['\n', '\r\n'] as const) {
      const bytes = toEventBytes(shape.toEvents(SMALL, inPieces(8)), { end })
      const whole = read(api, [bytes])
      expect(heardIn(whole)).toEqual(saidIn(SMALL, shape))
      const singles = [...bytes].map((byte) => Uint8Array.of(byte))
      expect(read(api, singles)).toEqual(whole)
      expect(wrongCuts(api, bytes, whole)).toEqual([])
    }
  })

  test('[STR3] a packed stream gives the same answer, and a cut one what it can', async () => {
    await fc.assert(
      fc.asyncProperty(anySaid(), pieces, fc.nat(100), async (said, cut, percent) => {
        const bytes = toEventBytes(shape.toEvents(said, cut))
        const whole = read(api, [bytes])
        for (const [contentEncoding, packed] of [
          ['gzip', gzipSync(bytes)],
          ['br', brotliCompressSync(bytes)],
        ] as const) {
          const listener = createAnswerListener(api, { contentEncoding })
          listener.add(packed)
          expect(await listener.end()).toEqual(whole)
          const part = createAnswerListener(api, { contentEncoding })
          part.add(packed.subarray(0, (packed.length * percent) / 100))
          const heard = await part.end()
          expect(heardIn(whole).text.startsWith(heardIn(heard).text)).toBe(true)
        }
      }),
      runs(15),
    )
  })

  /** Whether a stream that was cut there gives a beginning of the whole, and says so. */
  function isBeginning(bytes: Uint8Array, at: number, whole: Heard): boolean {
    const answer = read(api, [bytes.subarray(0, at)])
    const heard = heardIn(answer)
    const isPart =
      whole.text.startsWith(heard.text) &&
      whole.thinking.startsWith(heard.thinking) &&
      heard.calls.every(([, name], index) => whole.calls[index]?.[1] === name)
    if (answer === undefined || answer.outcome === 'whole') return isPart
    // Messages says why it stopped before it says that it is over.
    return isPart && answer.outcome === 'cut' && (api === 'messages' || answer.message.stop_reason === null)
  }

  test('[STR8] a stream that is cut at any byte gives a beginning of the answer, and says so', () => {
    const small = toEventBytes(shape.toEvents(SMALL, inPieces(8)))
    const whole = heardIn(read(api, [small]))
    expect([...small.keys()].filter((at) => !isBeginning(small, at, whole))).toEqual([])
    fc.assert(
      fc.property(anySaid(), pieces, fc.array(fc.nat(999), { maxLength: 20 }), (said, cut, places) => {
        const bytes = toEventBytes(shape.toEvents(said, cut))
        const all = heardIn(read(api, [bytes]))
        const cuts = places.map((place) => Math.floor((bytes.length * place) / 1000))
        expect(cuts.filter((at) => !isBeginning(bytes, at, all))).toEqual([])
      }),
      runs(25),
    )
  })

  test('[STR8] an error in the middle of a stream, behind any event, is told with what came before it', () => {
    const failure = { type: 'overloaded_error', message: 'Overloaded, try again' }
    const error =
      api === 'messages' || api === 'responses' ? { type: 'error', error: failure } : { error: failure }
    fc.assert(
      fc.property(anySaid(), pieces, (said, cut) => {
        const events = shape.toEvents(said, cut)
        const whole = heardIn(read(api, [toEventBytes(events)]))
        for (let at = 0; at < events.length - 1; at += 1) {
          const answer = read(api, [toEventBytes([...events.slice(0, at), { data: error }])])
          if (at === 0) expect(answer).toBeUndefined()
          else
            expect(answer).toMatchObject({
              outcome: 'failed',
              failure: 'overloaded_error: Overloaded, try again',
            })
          expect(whole.text.startsWith(heardIn(answer).text)).toBe(true)
        }
      }),
      runs(10),
    )
  })

  test('[STR14] a response in one piece gives what the stream gives', () => {
    fc.assert(
      fc.property(anySaid(), (said) => {
        const streamed = read(api, [toEventBytes(shape.toEvents(said, inPieces(5)))])
        const bytes = new TextEncoder().encode(JSON.stringify(shape.toBody(said), undefined, 2))
        const whole = read(api, [bytes], 'application/json')
        expect(heardIn(whole)).toEqual(saidIn(said, shape))
        expect(whole?.outcome).toBe('whole')
        const { id, model, stop_reason, usage } = streamed?.message ?? { content: [] }
        expect(whole?.message).toMatchObject({ id, model, stop_reason, usage })
        expect(
          read(
            api,
            [...bytes].map((byte) => Uint8Array.of(byte)),
          ),
        ).toEqual(whole)
      }),
      runs(20),
    )
  })

  test('[STR21] whatever is streamed, nothing is thrown', () => {
    const types = shape
      .toEvents([{ kind: 'text', text: 'x' }], inPieces(1))
      .map(({ data }) => (typeof data === 'string' ? data : (string(data, 'type') ?? '')))
    const wild = fc.record(
      {
        type: fc.constantFrom(...types, 'content_block_delta', 'response.output_text.annotation.added'),
        index: fc.jsonValue(),
        output_index: fc.jsonValue(),
        message: fc.jsonValue(),
        delta: fc.oneof(fc.jsonValue(), fc.record({ tool_calls: fc.jsonValue(), content: fc.jsonValue() })),
        item: fc.jsonValue(),
        response: fc.jsonValue(),
        choices: fc.oneof(
          fc.jsonValue(),
          fc.array(fc.record({ delta: fc.jsonValue(), index: fc.jsonValue() })),
        ),
        candidates: fc.oneof(fc.jsonValue(), fc.array(fc.record({ content: fc.jsonValue() }))),
        usage: fc.jsonValue(),
        error: fc.jsonValue(),
      },
      { requiredKeys: ['type'] },
    )
    fc.assert(
      fc.property(fc.array(wild, { maxLength: 8 }), (events) => {
        read(api, [toEventBytes(events.map((data) => ({ data })))])
        for (const event of events) read(api, [new TextEncoder().encode(JSON.stringify(event))])
      }),
      runs(100),
    )
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        read(api, [bytes])
      }),
      runs(100),
    )
  })
})

test('[STR11] a stream of Gemini that is a list gives what its events give, at every byte', () => {
  const said: readonly SaidPart[] = [
    { kind: 'text', text: 'Ein "Text" mit {[ Klammern' },
    { kind: 'call', id: 'c2ln', name: 'ls', input: { path: '/tmp' } },
  ]
  const events = SAID_IN_GEMINI.toEvents(said, inPieces(4))
  const whole = read('gemini', [toEventBytes(events)])
  const bytes = new TextEncoder().encode(
    `[${events.map(({ data }) => JSON.stringify(data)).join(',\r\n')}\r\n]`,
  )
  expect(read('gemini', [bytes], 'application/json')).toEqual(whole)
  expect(wrongCuts('gemini', bytes, whole)).toEqual([])
  const { text } = heardIn(whole)
  const isPart = (at: number): boolean =>
    text.startsWith(heardIn(read('gemini', [bytes.subarray(0, at)])).text)
  expect([...bytes.keys()].filter((at) => !isPart(at))).toEqual([])
})

test('[STR4] only so much of an answer is heard, and then it counts as cut', async () => {
  const bytes = toEventBytes(SAID_IN_MESSAGES.toEvents(SMALL, inPieces(8)))
  const listen = async (atMost: number): Promise<Answer | undefined> => {
    const listener = createAnswerListener('messages', { atMost })
    for (let at = 0; at < bytes.length; at += 100) listener.add(bytes.subarray(at, at + 100))
    return await listener.end()
  }
  expect((await listen(bytes.length))?.outcome).toBe('whole')
  expect((await listen(bytes.length - 1))?.outcome).toBe('cut')
  expect(heardIn(await listen(bytes.length >> 1)).thinking).not.toBe('')
})
