import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '#testing'
import { createSseFrames, type SseFrame } from './sse-frames.ts'

function framesOf(chunks: readonly Uint8Array[], longest?: number): readonly SseFrame[] {
  const found: SseFrame[] = []
  const frames = createSseFrames((frame) => found.push(frame), longest)
  for (const chunk of chunks) frames.add(chunk)
  frames.end()
  return found
}

function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

/** Every way to cut bytes in two. */
function cuts(bytes: Uint8Array): readonly (readonly Uint8Array[])[] {
  return [...bytes.keys()].map((at) => [bytes.subarray(0, at), bytes.subarray(at)])
}

test('[STR2] fields, comments, several lines of data and every end of line are read as the standard says', () => {
  const stream = [
    ': hello',
    'event: first',
    'id: 1',
    'data: one',
    'data:two',
    'data',
    'data:  three',
    'unknown: x',
    '',
    ':keep-alive',
    '',
    'event: without data',
    '',
    'data: {"emoji":"🙂 ü\u2028"}',
    '',
    '',
  ]
  for (const end of ['\n', '\r\n', '\r']) {
    const expected = [
      { event: 'first', data: 'one\ntwo\n\n three', id: '1' },
      { event: undefined, data: '{"emoji":"🙂 ü\u2028"}', id: '1' },
    ]
    for (const mark of ['', '\u{feff}']) {
      const bytes = bytesOf(mark + stream.join(end))
      expect(framesOf([bytes])).toEqual(expected)
      for (const chunks of cuts(bytes)) expect(framesOf(chunks)).toEqual(expected)
      expect(framesOf([...bytes].map((byte) => Uint8Array.of(byte)))).toEqual(expected)
    }
  }
})

test('[STR2] the last event counts without its empty line and without its end of line', () => {
  for (const end of ['', '\n', '\r', '\r\n', '\n\n'])
    expect(framesOf([bytesOf(`data: a\n\ndata: b${end}`)]).map(({ data }) => data)).toEqual(['a', 'b'])
})

test('[STR2] any chunks of any text give the events of the whole', () => {
  const line = fc.constantFrom('data: x', 'data:ü🙂', 'data', 'event: e', ':c', 'id: 7', 'nonsense', '')
  const end = fc.constantFrom('\n', '\r\n', '\r')
  fc.assert(
    fc.property(
      fc.array(fc.tuple(line, end), { maxLength: 12 }),
      fc.array(fc.nat(120), { maxLength: 8 }),
      (lines, places) => {
        const bytes = bytesOf(lines.flat().join(''))
        const at = [
          0,
          ...places.filter((place) => place < bytes.length).toSorted((a, b) => a - b),
          bytes.length,
        ]
        const chunks = at.slice(1).map((to, index) => bytes.subarray(at[index], to))
        expect(framesOf(chunks)).toEqual(framesOf([bytes]))
      },
    ),
    runs(200),
  )
})

test('[STR4] an event that is too long to be held is left out, and those around it are not', () => {
  const frames: string[] = []
  const reader = createSseFrames(({ data }) => frames.push(data), 1000)
  reader.add(bytesOf('data: before\n\ndata: '))
  for (let piece = 0; piece < 100; piece += 1) reader.add(bytesOf('x'.repeat(100)))
  reader.add(bytesOf('\ndata: more of it\n\ndata: after\n\n'))
  reader.end()
  expect(frames).toEqual(['before', 'after'])
  expect(reader.dropped).toBe(1)
})
