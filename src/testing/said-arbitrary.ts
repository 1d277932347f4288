import * as fc from 'fast-check'
import { parseJson } from '#base'
import { SAID_IN_GEMINI } from './said-gemini.ts'
import { SAID_IN_MESSAGES } from './said-messages.ts'
import { SAID_IN_CHAT, SAID_IN_RESPONSES } from './said-openai.ts'
import type { EventStyle, SaidPart, SaidShape } from './said.ts'

export const SAID_SHAPES: readonly SaidShape[] = [
  SAID_IN_MESSAGES,
  SAID_IN_RESPONSES,
  SAID_IN_CHAT,
  SAID_IN_GEMINI,
]

/** Anything that a model may say: words, thoughts and calls in any order. */
export function anySaid(): fc.Arbitrary<readonly SaidPart[]> {
  const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 30 })
  const input = fc
    .dictionary(fc.string({ maxLength: 8 }), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 4 })
    // As it is after it went over a network: without a negative zero.
    .map((value) => parseJson(JSON.stringify(value)) ?? {})
  const part: fc.Arbitrary<SaidPart> = fc.oneof(
    fc.record({ kind: fc.constant('text' as const), text }),
    fc.record({
      kind: fc.constant('thinking' as const),
      text,
      signature: fc.base64String({ maxLength: 16 }),
    }),
    fc.record({
      kind: fc.constant('call' as const),
      id: fc.constant(''),
      name: fc.constantFrom('Bash', 'read_file', 'ls'),
      input,
    }),
  )
  return fc
    .array(part, { minLength: 1, maxLength: 5 })
    .map((parts) =>
      parts.map((each, at) => (each.kind === 'call' ? { ...each, id: `call_${String(at)}` } : each)),
    )
}

/** Any way to write down events that means the same. */
export function anyEventStyle(): fc.Arbitrary<EventStyle> {
  return fc.record({
    end: fc.constantFrom('\n' as const, '\r\n' as const, '\r' as const),
    between: fc.constantFrom(
      '',
      ': keep-alive\n\n',
      ':\r\n',
      'event: ping\ndata: {"type": "ping"}\n\n',
      '\n\n',
    ),
    hasMark: fc.boolean(),
  })
}

/** Cuts bytes at any places. */
export function anyChunks(bytes: Uint8Array): fc.Arbitrary<readonly Uint8Array[]> {
  return fc.array(fc.nat(Math.max(0, bytes.length - 1)), { maxLength: 12 }).map((places) => {
    const at = [0, ...places.toSorted((a, b) => a - b), bytes.length]
    return at.slice(1).map((to, index) => bytes.subarray(at[index], to))
  })
}
